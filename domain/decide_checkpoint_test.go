package domain

import (
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/checkpoint/checkpointtest"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// readOf is a read of the run's checkpoint at a stage.
func readOf(run *checkpointtest.Run, at checkpointtest.Stage) *CheckpointRead {
	read := run.Read(at)
	return &CheckpointRead{Publication: run.Publication(), ExecutionWorkspaceID: run.Workspace(), Checkpoint: read.Slice, Observed: read.Observed}
}

// Reads of one run, by what they show.
func boundRead() *CheckpointRead {
	return readOf(checkpointtest.NewRun("one"), checkpointtest.Delivered)
}
func pendingRead() *CheckpointRead {
	return readOf(checkpointtest.NewRun("one"), checkpointtest.Called)
}

// contradictedRead shows that the result went to another agent.
func contradictedRead() *CheckpointRead {
	run := checkpointtest.NewRun("one")
	run.DeliveredTo = "agent-of-another"
	return readOf(run, checkpointtest.Delivered)
}

// conflictingRead binds by itself, to another authority than boundRead.
func conflictingRead() *CheckpointRead {
	run := checkpointtest.NewRun("one")
	run.Title = "Edited afterwards"
	return readOf(run, checkpointtest.Delivered)
}

// outgrownRead is of a checkpoint with more records than there may be.
func outgrownRead() *CheckpointRead {
	read := boundRead()
	read.Observed.Records = checkpoint.MaxRecords + 1
	return read
}

func (l *ledger) checkpoint(read *CheckpointRead) *Decision {
	return l.decide(&Arrival{Kind: KindCheckpoint, Checkpoint: read})
}

// answered is a read and the answer that it must get.
type answered struct {
	read    func() *CheckpointRead
	outcome Outcome
	reason  Reason
	repeats int // place in the row of the decision that a duplicate repeats
}

func accepts(read func() *CheckpointRead) answered {
	return answered{read: read, outcome: Accepted}
}
func waits(read func() *CheckpointRead) answered { return answered{read: read, outcome: Pending} }
func repeats(place int, read func() *CheckpointRead) answered {
	return answered{read: read, outcome: Duplicate, repeats: place}
}
func refuses(reason Reason, read func() *CheckpointRead) answered {
	return answered{read: read, outcome: Rejected, reason: reason}
}

// TestCheckpointDecisions is the table of what a read comes to, by what was
// decided on the same request before.
func TestCheckpointDecisions(t *testing.T) {
	for _, row := range []struct {
		name  string
		reads []answered
	}{
		{"binds", []answered{accepts(boundRead)}},
		{"binds after pending", []answered{waits(pendingRead), accepts(boundRead)}},
		{"binds after pending twice", []answered{waits(pendingRead), waits(pendingRead), accepts(boundRead)}},
		{"binds after rejected", []answered{refuses(ReasonCheckpointContradicted, contradictedRead), accepts(boundRead)}},
		{"binds after a limit", []answered{refuses(ReasonCheckpointLimit, outgrownRead), accepts(boundRead)}},
		{"binds again, same authority", []answered{accepts(boundRead), repeats(0, boundRead), repeats(0, boundRead)}},
		{"binds again after pending", []answered{waits(pendingRead), accepts(boundRead), repeats(1, boundRead)}},
		{"binds again, another authority", []answered{accepts(boundRead), refuses(ReasonCheckpointConflict, conflictingRead), repeats(0, boundRead)}},
		{"the other authority first", []answered{accepts(conflictingRead), refuses(ReasonCheckpointConflict, boundRead), repeats(0, conflictingRead)}},
		{"pending, not bound yet", []answered{waits(pendingRead), waits(pendingRead)}},
		{"pending after rejected", []answered{refuses(ReasonCheckpointContradicted, contradictedRead), waits(pendingRead)}},
		{"pending after bound", []answered{accepts(boundRead), repeats(0, pendingRead)}},
		{"contradicted before bound", []answered{refuses(ReasonCheckpointContradicted, contradictedRead), refuses(ReasonCheckpointContradicted, contradictedRead)}},
		{"contradicted after pending", []answered{waits(pendingRead), refuses(ReasonCheckpointContradicted, contradictedRead)}},
		{"contradicted after bound stays bound", []answered{accepts(boundRead), refuses(ReasonCheckpointContradicted, contradictedRead), repeats(0, boundRead), repeats(0, pendingRead)}},
		{"a limit after bound stays bound", []answered{accepts(boundRead), refuses(ReasonCheckpointLimit, outgrownRead), repeats(0, boundRead)}},
	} {
		t.Run(row.name, func(t *testing.T) { checkReads(t, openLedger(t), row.reads) })
		t.Run(row.name+", after the seal", func(t *testing.T) {
			l := openLedger(t)
			l.want(l.seal(), Accepted, "")
			checkReads(t, l, row.reads)
		})
		t.Run(row.name+", the seal between", func(t *testing.T) {
			l := openLedger(t)
			first := checkReads(t, l, row.reads[:1])
			l.want(l.seal(), Accepted, "")
			checkReads(t, l, row.reads[1:], first...)
		})
	}
}

// checkReads publishes reads and holds each decision to what it must be.
func checkReads(t *testing.T, l *ledger, reads []answered, earlier ...*Decision) []*Decision {
	t.Helper()
	all := earlier
	for i, r := range reads {
		before := l.state().Accepted()
		read := r.read()
		d := l.want(l.checkpoint(read), r.outcome, r.reason)
		all = append(all, d)
		checkCheckpointData(t, d, read)
		counted := before
		if r.outcome == Accepted {
			counted++
		}
		if d.Accepted == nil || *d.Accepted != counted || l.state().Accepted() != counted {
			t.Errorf("read %d: decision number %d of %d before", i, valueOf(d.Accepted), before)
		}
		switch {
		case r.outcome == Duplicate && (d.Repeats == nil || *d.Repeats != all[r.repeats].Index):
			t.Errorf("read %d repeats %v, want decision %d", i, d.Repeats, all[r.repeats].Index)
		case r.outcome != Duplicate && d.Repeats != nil:
			t.Errorf("read %d is %s and repeats %d", i, r.outcome, *d.Repeats)
		}
	}
	return all
}

// checkCheckpointData holds a decision to what folds need of it.
func checkCheckpointData(t *testing.T, d *Decision, read *CheckpointRead) {
	t.Helper()
	run := checkpointtest.NewRun("one")
	key := CheckpointKey{RunID: run.RunID, TurnID: run.ProviderTurnID, RequestID: run.RequestID}
	switch data := d.Data.(type) {
	case *CheckpointBound:
		if d.Outcome != Accepted || data.Key != key || data.Observed != read.Observed || data.Authority == nil || d.Detail != "" || d.Field != "" {
			t.Errorf("bound: %+v, %+v", d, data)
		}
	case *CheckpointReference:
		if d.Outcome == Accepted || data.Key != key || data.Observed != read.Observed || d.Detail == "" {
			t.Errorf("%s: %+v, %+v", d.Outcome, d, data)
		}
	default:
		t.Errorf("%s has the data %T", d.Outcome, d.Data)
	}
}

func TestCheckpointOfAnUnknownCampaign(t *testing.T) {
	l := newLedger(t)
	for _, read := range []*CheckpointRead{boundRead(), pendingRead(), contradictedRead(), outgrownRead()} {
		if d := l.want(l.checkpoint(read), Rejected, ReasonCampaignUnknown); d.Data != nil || d.Accepted != nil {
			t.Errorf("an unknown campaign has state: %+v", d)
		}
	}
	l.want(l.opening(testOpening("greeting")), Accepted, "")
	l.want(l.checkpoint(boundRead()), Accepted, "") // the same fact, after opening
}

// Other requests, turns, runs and campaigns are other reads.
func TestCheckpointsApart(t *testing.T) {
	l := openLedger(t)
	l.want(l.checkpoint(boundRead()), Accepted, "")
	for name, change := range map[string]func(*checkpointtest.Run){
		"request": func(r *checkpointtest.Run) { r.RequestID = "req-other" },
		"turn":    func(r *checkpointtest.Run) { r.ProviderTurnID = "provider-turn-other" },
		"run":     func(r *checkpointtest.Run) { r.RunID = "run-other" },
	} {
		run := checkpointtest.NewRun("one")
		change(run)
		if d := l.checkpoint(readOf(run, checkpointtest.Called)); d.Outcome != Pending {
			t.Errorf("another %s: %s %s %s", name, d.Outcome, d.Reason, d.Detail)
		}
		if d := l.checkpoint(readOf(run, checkpointtest.Delivered)); d.Outcome != Accepted {
			t.Errorf("another %s: %s %s %s", name, d.Outcome, d.Reason, d.Detail)
		}
	}
	other := &Arrival{Campaign: "another-review", Kind: KindCampaign, Opening: testOpening("greeting")}
	l.want(l.decide(other), Accepted, "")
	l.want(l.decide(&Arrival{Campaign: "another-review", Kind: KindCheckpoint, Checkpoint: boundRead()}), Accepted, "")
}

func TestCheckpointObservedAtItsLimits(t *testing.T) {
	for _, test := range []struct {
		name    string
		observe func(*checkpoint.Observed)
		outcome Outcome
		reason  Reason
		field   string
	}{
		{"most records", func(o *checkpoint.Observed) { o.Records = checkpoint.MaxRecords }, Accepted, "", ""},
		{"a record more", func(o *checkpoint.Observed) { o.Records = checkpoint.MaxRecords + 1 }, Rejected, ReasonCheckpointLimit, "/observed/records"},
		{"most bytes", func(o *checkpoint.Observed) { o.Bytes = checkpoint.MaxBytes }, Accepted, "", ""},
		{"a byte more", func(o *checkpoint.Observed) { o.Bytes = checkpoint.MaxBytes + 1 }, Rejected, ReasonCheckpointLimit, "/observed/bytes"},
		{"both", func(o *checkpoint.Observed) { o.Records, o.Bytes = checkpoint.MaxRecords+1, checkpoint.MaxBytes+1 }, Rejected, ReasonCheckpointLimit, "/observed/records"},
		{"as many as the slice", func(o *checkpoint.Observed) { o.Records = int64(len(boundRead().Checkpoint.Records)) }, Accepted, "", ""},
		{"fewer than the slice", func(o *checkpoint.Observed) { o.Records = int64(len(boundRead().Checkpoint.Records)) - 1 }, Rejected, ReasonCheckpointMalformed, "/observed/records"},
		{"none at all", func(o *checkpoint.Observed) { o.Records = 0 }, Rejected, ReasonCheckpointMalformed, "/observed/records"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, read := openLedger(t), boundRead()
			test.observe(&read.Observed)
			d := l.want(l.checkpoint(read), test.outcome, test.reason)
			if d.Field != test.field {
				t.Errorf("field %q, want %q", d.Field, test.field)
			}
			checkCheckpointData(t, d, read)
		})
	}
}

// A slice is projected under the limits of a checkpoint, whatever is said of
// the whole.
func TestCheckpointSliceBeyondTheLimits(t *testing.T) {
	read := boundRead()
	read.Checkpoint.Records = append(read.Checkpoint.Records,
		checkpoint.Record{Key: "event:99", Text: strings.Repeat(" ", checkpoint.MaxBytes)})
	l := openLedger(t)
	if d := l.want(l.checkpoint(read), Rejected, ReasonCheckpointLimit); d.Field != "/checkpoint/records" {
		t.Errorf("field %q", d.Field)
	}
}

// The ids that a read is known by are strings of 1 to 240 bytes.
func TestCheckpointIDs(t *testing.T) {
	setters := map[string]func(*checkpointtest.Run, string){
		"runId":     func(r *checkpointtest.Run, id string) { r.RunID = id },
		"turnId":    func(r *checkpointtest.Run, id string) { r.ProviderTurnID = id },
		"requestId": func(r *checkpointtest.Run, id string) { r.RequestID = id },
	}
	for name, set := range setters {
		t.Run(name, func(t *testing.T) {
			longest := checkpointtest.NewRun("one")
			set(longest, strings.Repeat("x", maxCheckpointIDBytes))
			l := openLedger(t)
			l.want(l.checkpoint(readOf(longest, checkpointtest.Delivered)), Accepted, "")
			for what, id := range map[string]strictjson.Value{
				"missing": {}, "null": strictjson.NullValue(), "a number": strictjson.NumberValue(7), "empty": strictjson.TextValue(""),
				"too long":          strictjson.TextValue(strings.Repeat("x", maxCheckpointIDBytes+1)),
				"too long in UTF-8": strictjson.TextValue(strings.Repeat("é", maxCheckpointIDBytes/2) + "x"),
			} {
				read := boundRead()
				read.Publication = withID(read.Publication, name, id)
				read.Observed.Records = checkpoint.MaxRecords + 1 // what names the read comes first
				d := l.checkpoint(read)
				if d.Outcome != Rejected || d.Reason != ReasonCheckpointMalformed || d.Field != "/publication/"+name {
					t.Errorf("%s: %s %s %s", what, d.Outcome, d.Reason, d.Field)
				}
				if data, ok := d.Data.(*CheckpointReference); !ok || data.Key != (CheckpointKey{}) || data.Observed != read.Observed {
					t.Errorf("%s: %+v", what, d.Data)
				}
			}
		})
	}
}

// withID sets a claimed id, or removes it.
func withID(publication checkpoint.Publication, name string, id strictjson.Value) checkpoint.Publication {
	var ids []strictjson.Member
	for n, v := range publication.Members() {
		if n == name {
			v = id
		}
		if v.Defined() {
			ids = append(ids, strictjson.Member{Name: n, Value: v})
		}
	}
	return strictjson.ObjectValue(ids...)
}

// What the authority repeats has a limit too: a record must stay small.
func TestCheckpointWithLongIDs(t *testing.T) {
	run := checkpointtest.NewRun("one")
	run.EnvironmentID = strings.Repeat("e", MaxStringBytes)
	l := openLedger(t)
	l.want(l.checkpoint(readOf(run, checkpointtest.Delivered)), Accepted, "")
	run = checkpointtest.NewRun("two")
	run.EnvironmentID = strings.Repeat("e", MaxStringBytes+1)
	d := l.want(l.checkpoint(readOf(run, checkpointtest.Delivered)), Rejected, ReasonCheckpointLimit)
	if d.Field != "/publication/environmentId" {
		t.Errorf("field %q", d.Field)
	}
}

func TestCheckpointNotReadable(t *testing.T) {
	for name, test := range map[string]struct {
		alter func(*checkpointtest.Run)
		field string
	}{
		"another schema":    {func(r *checkpointtest.Run) { r.Schema = "paperclip.runner.durable.control-plane-state.v2" }, "/checkpoint/records/0/1/schema"},
		"no observer lease": {func(r *checkpointtest.Run) { r.LeaseID = "" }, "/publication/observerLeaseId"},
		"no workspace":      {func(r *checkpointtest.Run) { r.WorkspaceID = "" }, "/checkpoint/records/0/1/identity/environmentLeaseId"},
	} {
		t.Run(name, func(t *testing.T) {
			run := checkpointtest.NewRun("one")
			test.alter(run)
			l := openLedger(t)
			d := l.want(l.checkpoint(readOf(run, checkpointtest.Delivered)), Rejected, ReasonCheckpointMalformed)
			if d.Field != test.field {
				t.Errorf("field %q, want %q", d.Field, test.field)
			}
		})
	}
}

// The ledger binds by the slice alone: every record of it is needed.
func TestCheckpointSliceWithoutARecord(t *testing.T) {
	for i, record := range boundRead().Checkpoint.Records {
		read := boundRead()
		read.Checkpoint.Records = append(read.Checkpoint.Records[:i:i], read.Checkpoint.Records[i+1:]...)
		if d := openLedger(t).checkpoint(read); d.Outcome == Accepted {
			t.Errorf("without %s it is accepted", record.Key)
		}
	}
}

// A ledger cannot hold two bindings of one read, nor one to nothing.
func TestFoldCheckpointAgain(t *testing.T) {
	for name, change := range map[string]func(*CheckpointBound){
		"again":      func(*CheckpointBound) {},
		"to nothing": func(b *CheckpointBound) { b.Key.RequestID, b.Authority = "another", nil },
	} {
		l := openLedger(t)
		d := *l.want(l.checkpoint(boundRead()), Accepted, "")
		data := *d.Data.(*CheckpointBound)
		change(&data)
		d.Data, d.Accepted = &data, pointerTo(*d.Accepted+1)
		if _, err := FoldAccepted(l.state(), &d); !errors.Is(err, ErrLedgerContradicts) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A state folded from the accepted decisions alone answers like the first.
func TestCheckpointsFromAcceptedDecisions(t *testing.T) {
	l := openLedger(t)
	for _, read := range []*CheckpointRead{pendingRead(), contradictedRead(), boundRead(), boundRead(), contradictedRead()} {
		l.checkpoint(read)
	}
	var state *Campaign
	for _, d := range l.decisions {
		if d.Outcome != Accepted {
			continue
		}
		var err error
		if state, err = FoldAccepted(state, d); err != nil {
			t.Fatal(err)
		}
	}
	last := l.decisions[len(l.decisions)-1]
	if err := state.Resume(last, recordHash(last)); err != nil {
		t.Fatal(err)
	}
	for _, read := range []*CheckpointRead{pendingRead(), contradictedRead(), boundRead(), conflictingRead()} {
		a := &Arrival{Seq: 100, Campaign: testCampaign, Kind: KindCheckpoint, Checkpoint: read}
		want, err := Decide(RuleVersion, l.state(), a)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decide(RuleVersion, state, a)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}
