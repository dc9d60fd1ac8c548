package domain

import (
	"fmt"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// step is something that can happen to a campaign.
type step struct {
	kind     Kind
	scenario string
	ordinal  int64
	run      int // which CI run measured it
	edited   bool
	failed   bool
}

func (s step) cell() *testCell {
	c := newCell(s.scenario, s.ordinal)
	if s.run > 0 {
		rerunAs(c, fmt.Sprint(s.run))
		c.set("result.accountingIdentity.campaignId", fmt.Sprintf("framework-%d", s.run))
	}
	if s.edited {
		c.set("result.note", "edited")
	}
	if s.failed {
		c.set("result.status", "failed")
	}
	return c
}

func (s step) arrive(l *ledger) *Decision {
	switch s.kind {
	case KindVoid:
		run := "10290811331"
		if s.run > 0 {
			run = fmt.Sprint(s.run)
		}
		return l.void(run + "/1/" + execution(s.scenario, s.ordinal))
	case KindSeal:
		return l.seal()
	default:
		return l.cell(s.cell())
	}
}

func drawStep(t *rapid.T) step {
	return step{
		kind:     rapid.SampledFrom([]Kind{KindCell, KindCell, KindCell, KindCell, KindVoid, KindVoid, KindSeal}).Draw(t, "kind"),
		scenario: rapid.SampledFrom([]string{"greeting", "approval", "nobody"}).Draw(t, "scenario"),
		ordinal:  rapid.Int64Range(1, 2).Draw(t, "ordinal"),
		run:      rapid.IntRange(0, 2).Draw(t, "run"),
		edited:   rapid.IntRange(0, 5).Draw(t, "edited") == 0,
		failed:   rapid.IntRange(0, 3).Draw(t, "failed") == 0,
	}
}

// snapshot prints all that a campaign is but for what refusals leave behind,
// so that two can be compared: their counts, and other decisions' indexes.
func snapshot(t testing.TB, c *Campaign) string {
	t.Helper()
	raw, err := json.Marshal(struct {
		Tally    Tally
		Verdict  Verdict
		Accepted uint64
		Sealed   *Seal
	}{withoutRefusals(c.Tally()), undisclosed(c.Verdict()), c.accepted, sealWithoutRefusals(c.seal)})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func withoutRefusals(tally Tally) Tally {
	tally.Refused, tally.RefusedFailed = 0, 0
	tally.Voids = slices.Clone(tally.Voids)
	for i := range tally.Voids {
		tally.Voids[i].Index = 0
	}
	return tally
}

func undisclosed(v Verdict) Verdict {
	v.Reasons = slices.DeleteFunc(slices.Clone(v.Reasons), func(r VerdictReason) bool { return r.Code == CodeFailedCellRefused })
	return v
}

func sealWithoutRefusals(seal *Seal) *Seal {
	if seal == nil {
		return nil
	}
	return &Seal{Actor: seal.Actor, Verdict: undisclosed(seal.Verdict), Tally: withoutRefusals(seal.Tally)}
}

// sameState compares two campaigns whole, unexported fields included.
func sameState(a, b *Campaign) string {
	return cmp.Diff(a, b, cmp.AllowUnexported(Campaign{}, Import{}, Intent{}, selected{}, counts{}, boundCheckpoint{}, refusals{}, campaignChain{}, definitionsSeen{}, usageAccounts{}, verdictBasis{}),
		cmp.Comparer(func(x, y Account) bool { return cmp.Equal(x.Spend(), y.Spend()) }), cmpopts.EquateEmpty())
}

func TestPropertyRedeliveryChangesNothing(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := openLedger(t)
		steps := rapid.SliceOfN(rapid.Custom(drawStep), 1, 20).Draw(r, "steps")
		for _, s := range steps {
			s.arrive(l)
			before := snapshot(t, l.state())
			if d := s.arrive(l); d.Outcome == Accepted {
				r.Fatalf("%+v was accepted twice", s)
			}
			if after := snapshot(t, l.state()); after != before {
				r.Fatalf("%+v again changes\n%s\nto %s", s, before, after)
			}
		}
	})
}

func TestPropertyARefusedStepChangesNothing(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		with, without := openLedger(t), openLedger(t)
		for _, s := range rapid.SliceOfN(rapid.Custom(drawStep), 1, 25).Draw(r, "steps") {
			if s.arrive(with).Outcome == Accepted {
				s.arrive(without)
			}
		}
		// Indexes differ, since refusals are decisions too; all else does not.
		if a, b := snapshot(t, with.state()), snapshot(t, without.state()); a != b {
			r.Fatalf("with refusals\n%s\nwithout\n%s", a, b)
		}
	})
}

func TestPropertyImportsCommuteUnlessTheyConflict(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var cells []step
		for _, scenario := range []string{"greeting", "approval"} {
			for _, ordinal := range []int64{1, 2} {
				if rapid.Bool().Draw(r, "there") {
					cells = append(cells, step{kind: KindCell, scenario: scenario, ordinal: ordinal,
						run: rapid.IntRange(0, 2).Draw(r, "run"), failed: rapid.Bool().Draw(r, "failed")})
				}
			}
		}
		forward, shuffled := openLedger(t), openLedger(t)
		for _, s := range cells {
			forward.want(s.arrive(forward), Accepted, "")
		}
		for _, s := range rapid.Permutation(cells).Draw(r, "order") {
			shuffled.want(s.arrive(shuffled), Accepted, "")
		}
		if a, b := snapshot(t, forward.state()), snapshot(t, shuffled.state()); a != b {
			r.Fatalf("in order\n%s\nout of order\n%s", a, b)
		}
	})
}

func TestPropertyFoldEqualsLiveState(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := openLedger(t)
		for _, s := range rapid.SliceOfN(rapid.Custom(drawStep), 0, 25).Draw(r, "steps") {
			s.arrive(l)
		}
		var folded *Campaign
		for _, d := range l.decisions {
			if d.Outcome != Accepted {
				continue
			}
			var err error
			if folded, err = FoldAccepted(folded, d); err != nil {
				r.Fatal(err)
			}
		}
		last := l.decisions[len(l.decisions)-1]
		if err := folded.Resume(last, recordHash(last)); err != nil {
			r.Fatal(err)
		}
		if difference := sameState(l.state(), folded); difference != "" {
			r.Fatal(difference)
		}
	})
}

func TestPropertyDecidingChangesNoState(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := openLedger(t)
		for _, s := range rapid.SliceOfN(rapid.Custom(drawStep), 1, 10).Draw(r, "steps") {
			before := snapshot(t, l.state())
			if _, err := Decide(RuleVersion, l.state(), &Arrival{Seq: 99, Kind: KindCell, Campaign: testCampaign, Cell: s.cell().evidence(t)}); err != nil {
				r.Fatal(err)
			}
			if after := snapshot(t, l.state()); after != before {
				r.Fatalf("deciding %+v changes\n%s\nto %s", s, before, after)
			}
			s.arrive(l)
		}
	})
}
