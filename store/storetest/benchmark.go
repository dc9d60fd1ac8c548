package storetest

import (
	"testing"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// benchDecisions is how many decisions the benchmarks' ledger has.
const benchDecisions = 20_000

// Benchmark measures a store beside what no store can be faster than: decoding
// the records, and folding the decisions, on one core each. Everything is
// given per decision. fresh makes an empty store that ends with the benchmark.
func Benchmark(b *testing.B, fresh func(b *testing.B) projections.Store) {
	ledger := projectionstest.Random(b, 1, benchDecisions)
	for _, part := range []struct {
		name string
		run  func(*testing.B, *projectionstest.Ledger)
	}{
		{"decode", benchDecode},
		{"fold", benchFold},
		{"apply", func(b *testing.B, l *projectionstest.Ledger) { benchApply(b, l, fresh) }},
		{"rebuild", func(b *testing.B, l *projectionstest.Ledger) { benchRebuild(b, l, fresh(b)) }},
	} {
		b.Run(part.name, func(b *testing.B) {
			part.run(b, ledger)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchDecisions, "ns/decision")
		})
	}
}

func benchDecode(b *testing.B, ledger *projectionstest.Ledger) {
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
}

func benchFold(b *testing.B, ledger *projectionstest.Ledger) {
	for b.Loop() {
		if changes := ledger.Fold(0, ledger.Last()); changes.Decisions != benchDecisions {
			b.Fatal(changes.Decisions)
		}
	}
}

// applyBatch is what a runner applies when it is behind, about.
const applyBatch = 1000

func benchApply(b *testing.B, ledger *projectionstest.Ledger, fresh func(b *testing.B) projections.Store) {
	var batches []*projections.Changes
	fold := projections.NewFold(ledger.Log)
	for i, d := range ledger.Decisions {
		if err := fold.Add(b.Context(), d, ledger.Hashes[i]); err != nil {
			b.Fatal(err)
		}
		if fold.Decisions() == applyBatch || i == len(ledger.Decisions)-1 {
			batches = append(batches, fold.Take())
		}
	}
	for b.Loop() {
		b.StopTimer()
		store := fresh(b)
		b.StartTimer()
		at := uint64(0)
		for _, changes := range batches {
			to := at + uint64(changes.Decisions)
			if err := store.Apply(b.Context(), ledger.Position(at), ledger.Position(to), changes); err != nil {
				b.Fatal(err)
			}
			at = to
		}
	}
}

// benchRebuild loads, indexes, compares and switches.
func benchRebuild(b *testing.B, ledger *projectionstest.Ledger, store projections.Store) {
	if err := store.Apply(b.Context(), projections.Position{}, ledger.Position(ledger.Last()), ledger.Fold(0, ledger.Last())); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := projections.Rebuild(b.Context(), projections.RebuildConfig{Log: ledger.Log, Store: store}); err != nil {
			b.Fatal(err)
		}
	}
}
