package projectionstest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ledgerd/ledgerd/domain"
)

// Hostile is text that stores and JSON like to trip over. It holds the mark
// that NUL is stored as.
const Hostile = "a\x00b␀0'\"\\u0000\\ %_ \U0001F4A5 \u2028é\t\n$1 ?"

// Number gives a pointer, as usages hold numbers.
func Number(n float64) *float64 { return &n }

// Cells of the [Story].
var (
	StoryPassed = Cell{Campaign: "alpha", Scenario: ScenarioID(0), Ordinal: 1, Run: 1, Attempt: 1, CostUSD: Number(0.1), Tokens: Number(1000),
		RunIDs: []string{"run-1", "run-2"}, Finished: "2026-01-02T23:59:59.999-01:00"}
	StoryFailed = Cell{Campaign: "alpha", Scenario: ScenarioID(0), Ordinal: 2, Run: 2, Attempt: 2, CostUSD: Number(0.2), Status: "failed",
		CaseID: Hostile, RunIDs: []string{"run-1"}}
	StoryUnclean = Cell{Campaign: "alpha", Scenario: ScenarioID(1), Ordinal: 1, Run: 3, Attempt: 3, Cleanup: "left " + Hostile}
	StoryAgain   = Cell{Campaign: "alpha", Scenario: ScenarioID(0), Ordinal: 2, Run: 4, Attempt: 4, CostUSD: Number(5e-324), Tokens: Number(0)}
	StoryShared  = Cell{Campaign: "beta", Scenario: ScenarioID(0), Ordinal: 1, Run: 1, Attempt: 1, CostUSD: Number(0.1), Tokens: Number(1000),
		Accounting: "framework-alpha", Finished: "0000-01-01T00:00:00Z"}
)

// Story is a small ledger in which everything happens once.
func Story(t testing.TB) *Ledger {
	l := NewLedger(t)
	l.Malformed("", "")                                                                        // 0
	l.Malformed("alpha", domain.KindCell)                                                      // 1: before it is open
	l.Measure(StoryPassed)                                                                     // 2: rejected campaign_unknown
	l.Open(Campaign{ID: "alpha", Label: "the first ␀", Scenarios: 2, BudgetUSD: Number(12.5)}) // 3
	l.Open(Campaign{ID: "beta", Scenarios: 1})                                                 // 4
	l.Measure(StoryPassed)                                                                     // 5
	l.Measure(StoryPassed)                                                                     // 6: duplicate
	l.Measure(StoryFailed)                                                                     // 7
	l.Measure(StoryUnclean)                                                                    // 8
	foreign := StoryUnclean
	foreign.Repository = "someone/else " + Hostile
	l.Measure(foreign)                                // 9: rejected foreign_workflow
	l.Void("alpha", StoryFailed.ImportKey(), Hostile) // 10
	l.Void("alpha", StoryFailed.ImportKey(), "twice") // 11: duplicate
	l.Void("alpha", "none", "nothing")                // 12: rejected import_unknown
	l.Measure(StoryAgain)                             // 13: fills the slot again
	l.Measure(StoryFailed)                            // 14: rejected import_voided
	l.Measure(StoryShared)                            // 15
	one := domain.CheckpointKey{RunID: "run-1", TurnID: "turn " + Hostile, RequestID: "request"}
	two := domain.CheckpointKey{RunID: "run-2", TurnID: "turn", RequestID: "request"}
	three := domain.CheckpointKey{RunID: "run-3", TurnID: "turn", RequestID: "request"}
	l.Checkpoint("alpha", one, domain.Pending, 0)                     // 16
	l.Checkpoint("alpha", one, domain.Accepted, 0)                    // 17
	l.Checkpoint("alpha", one, domain.Duplicate, 17)                  // 18
	l.Checkpoint("alpha", one, domain.Rejected, 0)                    // 19: stays bound
	l.Checkpoint("alpha", two, domain.Pending, 0)                     // 20
	l.Checkpoint("alpha", two, domain.Rejected, 0)                    // 21
	l.Checkpoint("alpha", three, domain.Rejected, 0)                  // 22
	l.Checkpoint("alpha", three, domain.Pending, 0)                   // 23
	l.Checkpoint("alpha", domain.CheckpointKey{}, domain.Rejected, 0) // 24: names no read
	l.Malformed("alpha", domain.KindVoid)                             // 25
	l.Void("beta", StoryShared.ImportKey(), "the machine was wrong")  // 26
	l.Seal("beta")                                                    // 27: incomplete
	l.Seal("beta")                                                    // 28: duplicate
	late := StoryShared
	late.Run, late.Attempt = 9, 9
	l.Measure(late)                            // 29: rejected campaign_sealed
	l.Open(Campaign{ID: "beta", Scenarios: 2}) // 30: rejected campaign_already_open
	l.Open(Campaign{ID: "bad", Scenarios: 0})  // 31: rejected campaign_invalid
	return l
}

// Random is a ledger of n decisions on a few campaigns: every kind and
// outcome, retries, voids, measurements that are shared. The same seed gives
// the same ledger.
func Random(t testing.TB, seed uint64, n int) *Ledger {
	l := NewLedger(t)
	r := &randomizer{Ledger: l, rand: rand.New(rand.NewPCG(seed, 0)), imports: map[string][]string{}, bound: map[boundKey]uint64{}}
	for l.Last() < uint64(n) {
		r.step()
	}
	return l
}

type randomizer struct {
	*Ledger
	rand    *rand.Rand
	open    []Campaign
	imports map[string][]string // keys, by campaign
	bound   map[boundKey]uint64 // index that bound the read
	sent    []Cell
	run     int
}

type boundKey struct {
	campaign string
	key      domain.CheckpointKey
}

// openEvery is about how many decisions a random campaign sees.
const openEvery = 100

func (r *randomizer) step() {
	if len(r.open) == 0 || r.rand.IntN(openEvery) == 0 {
		c := Campaign{ID: fmt.Sprintf("c%d", len(r.open)), Label: "random", Scenarios: 1 + r.rand.IntN(60)}
		r.Open(c)
		r.open = append(r.open, c)
		return
	}
	c := r.open[r.rand.IntN(len(r.open))]
	switch p := r.rand.IntN(100); {
	case p < 70:
		r.cell(c)
	case p < 78:
		r.void(c)
	case p < 90:
		r.checkpoint(c)
	case p < 92:
		r.Malformed(c.ID, domain.KindCell)
	case p < 93:
		r.Malformed("", "")
	case p < 95:
		r.Open(c)
	case p < 97:
		r.Void("nobody", "key", "reason")
	case p == 99 && r.rand.IntN(10) == 0:
		r.Seal(c.ID)
	}
}

func (r *randomizer) cell(c Campaign) {
	r.run++
	cell := Cell{
		Campaign: c.ID, Scenario: ScenarioID(r.rand.IntN(c.Scenarios)), Ordinal: Ordinals[r.rand.IntN(len(Ordinals))],
		Run: r.run, Attempt: r.run, Accounting: "framework",
		Finished: fmt.Sprintf("2026-01-%02dT10:00:00Z", 1+r.rand.IntN(20)),
		RunIDs:   []string{fmt.Sprintf("run-%d", r.rand.IntN(40))},
	}
	switch r.rand.IntN(10) {
	case 0:
		cell.Status = "failed"
	case 1:
		cell.Cleanup = "failed"
	}
	if r.rand.IntN(4) > 0 {
		cell.CostUSD = Number(float64(r.rand.IntN(100000)) / 1e4)
	}
	if r.rand.IntN(3) > 0 {
		cell.Tokens = Number(float64(r.rand.IntN(1e6)))
	}
	if len(r.sent) > 0 {
		switch again := r.sent[r.rand.IntN(len(r.sent))]; r.rand.IntN(10) {
		case 0: // again, the same
			cell = again
		case 1: // in another campaign; shared when both have the slot
			cell, cell.Campaign = again, c.ID
		case 2: // conflicts
			cell.Run = again.Run
		}
	}
	r.sent = append(r.sent, cell)
	if d := r.Measure(cell); d.Outcome == domain.Accepted {
		r.imports[cell.Campaign] = append(r.imports[cell.Campaign], cell.ImportKey())
	}
}

func (r *randomizer) void(c Campaign) {
	if keys := r.imports[c.ID]; len(keys) > 0 {
		r.Void(c.ID, keys[r.rand.IntN(len(keys))], "random")
	}
}

func (r *randomizer) checkpoint(c Campaign) {
	key := domain.CheckpointKey{RunID: fmt.Sprintf("run-%d", r.rand.IntN(40)), TurnID: "turn", RequestID: fmt.Sprint(r.rand.IntN(3))}
	place := boundKey{c.ID, key}
	index, bound := r.bound[place]
	outcome := domain.Outcomes()[r.rand.IntN(len(domain.Outcomes()))]
	switch {
	case bound && outcome != domain.Rejected:
		outcome = domain.Duplicate
	case !bound && outcome == domain.Duplicate:
		outcome = domain.Pending
	}
	d := r.Checkpoint(c.ID, key, outcome, index)
	if outcome == domain.Accepted {
		r.bound[place] = d.Index
	}
}
