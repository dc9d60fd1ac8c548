package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
	"github.com/ledgerd/ledgerd/store/sqlite"
)

// benchDecisions is how many decisions the benchmarks' ledger has.
const benchDecisions = 20_000

// BenchmarkRebuild compares a whole rebuild with its parts: decoding alone and
// decoding with folding, on one core each, from the same log in memory.
func BenchmarkRebuild(b *testing.B) {
	ledger := projectionstest.Random(b, 1, benchDecisions)
	perDecision := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(ledger.Last()), "ns/decision")
	}
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			for seq := uint64(1); seq <= ledger.Last(); seq++ {
				message, err := ledger.Log.Get(b.Context(), seq)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := events.DecodeRecord(message.Data); err != nil {
					b.Fatal(err)
				}
			}
		}
		perDecision(b)
	})
	b.Run("fold", func(b *testing.B) {
		for b.Loop() {
			if changes := ledger.Fold(0, ledger.Last()); changes.Decisions != benchDecisions {
				b.Fatal(changes.Decisions)
			}
		}
		perDecision(b)
	})
	b.Run("rebuild", func(b *testing.B) {
		store := benchStore(b)
		if err := store.Apply(b.Context(), projections.Position{}, ledger.Position(ledger.Last()), ledger.Fold(0, ledger.Last())); err != nil {
			b.Fatal(err)
		}
		b.ResetTimer()
		for b.Loop() {
			if _, err := projections.Rebuild(b.Context(), projections.RebuildConfig{Log: ledger.Log, Store: store}); err != nil {
				b.Fatal(err)
			}
		}
		perDecision(b)
	})
	b.Run("apply", func(b *testing.B) {
		for b.Loop() {
			store := benchStore(b)
			const size = 1000
			for from := uint64(0); from < ledger.Last(); from += size {
				to := min(from+size, ledger.Last())
				b.StopTimer()
				changes := ledger.Fold(from, to)
				b.StartTimer()
				if err := store.Apply(b.Context(), ledger.Position(from), ledger.Position(to), changes); err != nil {
					b.Fatal(err)
				}
			}
		}
		perDecision(b)
	})
}

func benchStore(b *testing.B) *sqlite.Store {
	store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "views.sqlite"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	return store
}
