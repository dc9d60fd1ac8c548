package simci

import (
	"fmt"
	"iter"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/internal/archive"
)

// Arrival is one publication of the plan, with the answer that it must get.
type Arrival struct {
	Index    int // in the plan, from 0; published alone and in order, the decision's index
	Campaign string
	Kind     domain.Kind
	ID       string // a UUIDv7, for ce-id
	Body     []byte
	Trouble  Trouble // what it is a part of
	Want     Want
}

// Want is an arrival's answer.
type Want struct {
	Outcome domain.Outcome
	Reason  domain.Reason // "" unless rejected
	Repeats uint64        // Index of the arrival that a duplicate repeats
}

// Len counts the arrivals of the plan.
func (ci *CI) Len() int { return len(ci.steps) }

// Arrivals are the plan's arrivals in order, made one at a time.
func (ci *CI) Arrivals() iter.Seq[Arrival] {
	return func(yield func(Arrival) bool) {
		for i := range ci.steps {
			if !yield(ci.At(i)) {
				return
			}
		}
	}
}

// At is the arrival with an index below Len. It holds nothing in memory but a
// digest for each artifact, so that several goroutines may share the making.
func (ci *CI) At(i int) Arrival {
	s := &ci.steps[i]
	if s.act != publishCell {
		return ci.arrival(i, ci.plainBody(s))
	}
	m := ci.measurementAt(s.at)
	e := Evidence{Provenance: m.provenance(ci.archiveSHA256(s.at.artifact)), Execution: ci.execution(s.at, m)}
	return ci.arrival(i, s.tamper.apply(&e))
}

// arrival is everything about a step but its body.
func (ci *CI) arrival(i int, body []byte) Arrival {
	s := &ci.steps[i]
	a := Arrival{
		Index:    i,
		Campaign: ci.campaigns[s.campaign].id,
		Kind:     s.act.kind(),
		ID:       ci.arrivalID(i),
		Body:     body,
		Trouble:  s.trouble,
		Want:     Want{Outcome: s.outcome, Reason: s.reason},
	}
	if s.outcome == domain.Duplicate {
		a.Want.Repeats = uint64(s.repeats)
	}
	if s.tamper == misaddress {
		a.Campaign = ci.unopened(s.campaign)
	}
	return a
}

func (what act) kind() domain.Kind {
	switch what {
	case publishCell:
		return domain.KindCell
	case publishVoid, publishUnknownVoid:
		return domain.KindVoid
	case publishSeal:
		return domain.KindSeal
	case publishCheckpoint:
		return domain.KindCheckpoint
	default:
		return domain.KindCampaign
	}
}

// plainBody is the body of an arrival that is no cell.
func (ci *CI) plainBody(s *step) []byte {
	switch s.act {
	case publishVoid:
		return printed(&domain.VoidRequest{ImportKey: ci.measurementAt(s.at).importKey(), Actor: "operator@example.org", Reason: "the machine was shared"})
	case publishUnknownVoid:
		return printed(&domain.VoidRequest{ImportKey: "1/1/never-measured", Actor: "operator@example.org", Reason: "a wrong key"})
	case publishSeal:
		return printed(&domain.SealRequest{Actor: "operator@example.org"})
	case publishCheckpoint:
		return ci.checkpointBody(s)
	default:
		return ci.opening(s.campaign, s.act == publishOtherOpening)
	}
}

func printed(request any) []byte {
	raw, err := json.Marshal(request)
	if err != nil {
		panic("simci: print a request: " + err.Error()) // it has strings only
	}
	return raw
}

// apply prints a cell, after what was done to it on its way.
func (how tamper) apply(e *Evidence) []byte {
	switch how {
	case edit:
		e.Execution.Result = edited(e.Execution.Result)
		return e.Body()
	case cut:
		body := e.Body()
		return body[:len(body)/2]
	default:
		return e.Body()
	}
}

// edited changes the verdict in a result and leaves its digest.
func edited(d archive.Document) archive.Document {
	text := string(d.Raw)
	for _, written := range []string{`"status":`, `"status": `} {
		text = strings.Replace(text, written+`"passed"`, written+`"failed"`, 1)
	}
	d.Raw = []byte(text)
	return d
}

// arrivalID is a UUIDv7 in the order of the plan.
func (ci *CI) arrivalID(i int) string {
	r := ci.random(purposeID, uint64(i))
	stamp := uint64(epoch.UnixMilli()) + uint64(i)
	noise := r.next()
	return fmt.Sprintf("%08x-%04x-7%03x-%x%03x-%s", stamp>>16, stamp&0xffff, noise&0xfff, 8+noise>>12&3, noise>>16&0xfff, r.hex(12))
}
