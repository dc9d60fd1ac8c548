package simci

import (
	"fmt"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/checkpoint/checkpointtest"
	"github.com/ledgerd/ledgerd/events"
)

// reading is what an observer finds in a run's checkpoint.
type reading uint8

const (
	noReading    reading = iota
	early                // the answer was not delivered yet
	whole                // it was
	foreignAgent         // it went to another agent
	changedTask          // the records were changed after they were written
	tooMany              // there are more records than a checkpoint may have
	otherSchema          // the header is of a schema that nobody knows
)

// nobody is the slot of a run that no cell names.
const nobody = -1

// runs deals out what is read of a campaign's runs.
type runs struct {
	slots []int32 // whose main runs are imported and count in the end
	dealt int32
}

func (ci *CI) newRuns(campaign int32) *runs {
	var slots []int32
	for slot, trouble := range ci.campaigns[campaign].troubles {
		if recipes[trouble].counts() {
			slots = append(slots, int32(slot))
		}
	}
	shuffle(ci.random(purposeCheckpoint, uint64(campaign)), slots)
	return &runs{slots: slots}
}

// next is the slot whose run is read, and the number of the read. A run that
// is dealt twice has another request.
func (r *runs) next() (slot, number int32) {
	number = r.dealt
	r.dealt++
	if len(r.slots) == 0 {
		return nobody, number
	}
	return r.slots[int(number)%len(r.slots)], number
}

// counts reports whether the main run is imported in the end.
func (r *recipe) counts() bool {
	imported := false
	for _, m := range r.moves {
		if m.of == mainRun && m.outcome == domain.Accepted {
			imported = m.act == publishCell
		}
	}
	return imported
}

// runnerRun is the runner's run that measured a cell.
func (m *measurement) runnerRun() string { return "run-" + m.attemptID[:12] }

// checkpointBody is the body of an arrival with a read of a checkpoint.
func (ci *CI) checkpointBody(s *step) []byte {
	run, stage := ci.observed(s)
	read := run.Read(stage)
	if s.reading == tooMany {
		// Beyond a limit the header is all that a slice has.
		read.Slice.Records = read.Slice.Records[:1]
		read.Observed.Records = checkpoint.MaxRecords + 1
	}
	body, err := events.EncodeCheckpoint(&domain.CheckpointRead{
		Publication: run.Publication(), ExecutionWorkspaceID: run.Workspace(), Checkpoint: read.Slice, Observed: read.Observed,
	})
	if err != nil {
		panic("simci: print a checkpoint: " + err.Error()) // it is small, and every id is there
	}
	return body
}

// observed is the run that a step reads, and how far it had come. All steps of
// a recipe read the same request of the same run.
func (ci *CI) observed(s *step) (*checkpointtest.Run, checkpointtest.Stage) {
	run := checkpointtest.NewRun(fmt.Sprintf("%s/%d", ci.campaigns[s.campaign].id, s.number))
	if s.slot != nobody {
		run.RunID = ci.measurementAt(ci.campaigns[s.campaign].mainRuns[s.slot]).runnerRun()
		run.Title = label(ci.slot(s.slot).scenario)
	}
	switch s.reading {
	case early:
		stages := checkpointtest.Stages()[checkpointtest.Requested:checkpointtest.Delivered]
		r := ci.random(purposeCheckpoint, uint64(s.campaign), uint64(s.number))
		return run, stages[r.below(len(stages))]
	case foreignAgent:
		run.DeliveredTo = "agent-of-another-task"
	case changedTask:
		run.Title += ", edited"
	case otherSchema:
		run.Schema = "paperclip.runner.durable.control-plane-state.v9"
	}
	return run, checkpointtest.Delivered
}

// Checkpoints counts a campaign's checkpoint reads by what they come to. A
// read is known by its run, turn and request.
type Checkpoints struct {
	Bound    int64 // for good, whatever was read later
	Pending  int64
	Rejected int64
}

// expectCheckpoints follows the reads of the plan. What was bound stays bound.
func (ci *CI) expectCheckpoints() {
	type read struct{ campaign, number int32 }
	outcomes := map[read]domain.Outcome{}
	for i := range ci.steps {
		s := &ci.steps[i]
		name := read{s.campaign, s.number}
		if s.act == publishCheckpoint && outcomes[name] != domain.Accepted {
			outcomes[name] = s.outcome
		}
	}
	for name, outcome := range outcomes {
		ci.expected[name.campaign].Checkpoints.count(outcome)
	}
}

func (c *Checkpoints) count(last domain.Outcome) {
	switch last {
	case domain.Accepted:
		c.Bound++
	case domain.Pending:
		c.Pending++
	default:
		c.Rejected++
	}
}
