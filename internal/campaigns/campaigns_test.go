package campaigns_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest"
	"github.com/ledgerd/ledgerd/internal/campaigns"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// TestStatesAreThoseOfTheFold: whatever was dropped in between, an entry is
// what folding every decision of the campaign gives.
func TestStatesAreThoseOfTheFold(t *testing.T) {
	ledger := projectionstest.Random(t, 3, 400)
	for _, limit := range []int{1, 64 << 10, 64 << 20} {
		cache := campaigns.New(ledger.Log, limit)
		most := 0
		for _, d := range ledger.Decisions {
			if d.Accepted == nil {
				continue
			}
			entry, err := cache.Load(t.Context(), d.Campaign, d.Index)
			if err != nil {
				t.Fatalf("%+v", err)
			}
			if err := cache.Fold(entry, d, ledger.Hashes[d.Index]); err != nil {
				t.Fatalf("%+v", err)
			}
			if entry.State.Accepted() != *d.Accepted {
				t.Errorf("behind decision %d the state has %d accepted, want %d", d.Index, entry.State.Accepted(), *d.Accepted)
			}
			most = max(most, entry.Weight())
			if cache.Evict(d.Arrival.Seq); cache.Weight() > max(limit, most) {
				t.Fatalf("behind decision %d the states take %d bytes, at most %d", d.Index, cache.Weight(), max(limit, most))
			}
		}
		if limit == 1 && cache.Weight() > most {
			t.Errorf("more than the last used stays: %d bytes", cache.Weight())
		}
	}
}

// TestPinnedStatesStay: a decision that is not stored yet is in no ledger that
// its campaign could be read from.
func TestPinnedStatesStay(t *testing.T) {
	ledger := projectionstest.NewLedger(t)
	cache := campaigns.New(ledger.Log, 1)
	opened := func(id string) *domain.Decision {
		return ledger.Open(projectionstest.Campaign{ID: id, Scenarios: 2})
	}
	var weight int
	for _, id := range []string{"a", "b", "c"} {
		entry, d := cache.Begin(id), opened(id)
		if err := cache.Fold(entry, d, ledger.Hashes[d.Index]); err != nil {
			t.Fatalf("%+v", err)
		}
		weight += entry.Weight()
	}
	if cache.Evict(0); cache.Weight() != weight {
		t.Errorf("nothing is stored, and %d bytes stay of %d", cache.Weight(), weight)
	}
	if cache.Evict(1); cache.Weight() != weight/3*2 {
		t.Errorf("stored up to 1, %d bytes stay of %d", cache.Weight(), weight)
	}
	if cache.Evict(3); cache.Weight() != weight/3 {
		t.Errorf("all is stored, and %d bytes stay of %d", cache.Weight(), weight)
	}
	if entry := cache.Begin("c"); entry.State == nil {
		t.Error("the last used one is gone")
	} else if err := cache.Fold(entry, ledger.Decisions[2], ledger.Hashes[2]); !errors.Is(err, domain.ErrLedgerContradicts) {
		t.Errorf("opened twice: %v", err)
	}
}

func TestUnknownCampaignsWeigh(t *testing.T) {
	cache := campaigns.New(eventstest.NewLedger(), 10<<10)
	for i := range 1000 {
		entry, err := cache.Load(t.Context(), fmt.Sprint("c", i), 0)
		if err != nil || entry.State != nil {
			t.Fatalf("%+v, %v", entry, err)
		}
		cache.Evict(0)
	}
	if cache.Weight() > 10<<10 || cache.Weight() == 0 {
		t.Errorf("%d bytes of unknown campaigns", cache.Weight())
	}
}

// TestWeightIsAboutTheMemory compares the estimate with what the heap says.
func TestWeightIsAboutTheMemory(t *testing.T) {
	for _, row := range []struct{ scenarios, cells int }{{400, 0}, {400, 800}, {20, 40}, {1, 0}, {1, 2}} {
		ledger := projectionstest.NewLedger(t)
		ledger.Open(projectionstest.Campaign{ID: "c", Scenarios: row.scenarios})
		for i := range row.cells {
			d := ledger.Measure(projectionstest.Cell{
				Campaign: "c", Scenario: projectionstest.ScenarioID(i % row.scenarios), Ordinal: int64(i/row.scenarios) + 1, Run: i, Attempt: i,
				CostUSD: projectionstest.Number(0.25),
			})
			if d.Outcome != domain.Accepted {
				t.Fatalf("%s: %s", d.Reason, d.Detail)
			}
		}
		const states = 10
		kept := make([]*domain.Campaign, states)
		before := heap()
		for i := range kept {
			var err error
			if kept[i], err = events.Hydrate(t.Context(), ledger.Log, "c", ledger.Last()); err != nil {
				t.Fatalf("%+v", err)
			}
		}
		took, weight := (heap()-before)/states, kept[0].Weight()
		if ratio := float64(weight) / float64(took); ratio < 0.5 || ratio > 2 {
			t.Errorf("%+v: a state takes %d bytes and is taken for %d", row, took, weight)
		}
		runtime.KeepAlive(kept)
		runtime.KeepAlive(ledger)
	}
}

func heap() int {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}
