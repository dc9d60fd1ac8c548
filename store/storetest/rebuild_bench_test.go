package storetest_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest/natstest"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/pgtest"
	"github.com/ledgerd/ledgerd/internal/simci"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/postgres"
	"github.com/ledgerd/ledgerd/store/sqlite"
)

// The benchmark's ledger: campaigns of 200 cells, a tenth of them in trouble,
// some of which run at the same time.
const (
	rebuildDecisions = 200_000
	rebuildTogether  = 5
	rebuildScenarios = 100
	rebuildTroubles  = 100 // thousandths
)

// BenchmarkRebuild makes the views of a ledger in a real stream: first a runner
// that catches up from nothing, then a rebuild beside its views, which loads,
// makes the indexes, compares and switches. Beside both, in the same run, the
// same stream is read and nothing is done with it; of_raw is the rebuild's rate
// in parts of that.
func BenchmarkRebuild(b *testing.B) {
	// As in the daemon, and for the raw read as well.
	const collectPercent = 400
	defer debug.SetGCPercent(debug.SetGCPercent(collectPercent))
	b.Cleanup(pgtest.StopShared)
	log := filledLedger(b)
	for _, kind := range []struct {
		name string
		open func(*testing.B) (projections.Store, error)
	}{
		{"postgres", func(b *testing.B) (projections.Store, error) { return postgres.Open(b.Context(), pgtest.Database(b)) }},
		{"sqlite", func(b *testing.B) (projections.Store, error) {
			return sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "views.sqlite"))
		}},
	} {
		b.Run(kind.name, func(b *testing.B) {
			store, err := kind.open(b)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = store.Close() }()
			caughtUp := catchUp(b, log, store)
			var raw, rebuilt time.Duration
			stages := map[projections.RebuildStage]time.Duration{}
			for b.Loop() {
				raw += readAll(b, log)
				rebuilt += rebuildAll(b, log, store, stages)
			}
			total := float64(rebuildDecisions * b.N)
			b.ReportMetric(total/rebuilt.Seconds(), "decisions/s")
			b.ReportMetric(total/raw.Seconds(), "raw/s")
			b.ReportMetric(raw.Seconds()/rebuilt.Seconds(), "of_raw")
			b.ReportMetric(rebuildDecisions/caughtUp.Seconds(), "catchup/s")
			for stage, took := range stages {
				b.ReportMetric(took.Seconds()/float64(b.N), "s/"+string(stage))
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// filledLedger is a stream of a real server with the decisions on the
// arrivals of a simulated CI.
func filledLedger(b *testing.B) events.Log {
	b.Helper()
	js, err := natsjs.New(natstest.Start(b, natstest.Options{}).Connect(b))
	if err != nil {
		b.Fatal(err)
	}
	limits := jetstream.Limits{LedgerID: "bench", Replicas: 1, StoreBytes: 8 << 30}
	if err := jetstream.Provision(b.Context(), js, limits); err != nil {
		b.Fatal(err)
	}
	log := jetstream.Open(js, events.LedgerStream)
	d := decider{b: b, log: log, campaigns: map[string]*domain.Campaign{}, prev: events.GenesisHash}
	stages, ctx := errgroup.WithContext(b.Context())
	portions := make(chan chan []*domain.Arrival, runtime.GOMAXPROCS(0))
	stages.Go(func() error {
		defer close(portions)
		next := 0
		for seed := uint64(1); next < rebuildDecisions; seed++ {
			ci, err := simci.New(simci.Config{
				Seed: seed, Prefix: fmt.Sprint("bench-", seed), Campaigns: rebuildTogether, Scenarios: rebuildScenarios, Stored: true,
				Troubles: simci.Share(2*rebuildScenarios, rebuildTroubles),
			})
			if err != nil {
				return err
			}
			first, n := next, min(ci.Len(), rebuildDecisions-next)
			next += n
			portion := make(chan []*domain.Arrival, 1)
			stages.Go(func() error {
				portion <- arrivals(b, ci, first, n)
				return nil
			})
			select {
			case portions <- portion:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	stages.Go(func() error {
		for portion := range portions {
			if err := d.decide(ctx, <-portion); err != nil {
				return err
			}
		}
		return nil
	})
	if err := stages.Wait(); err != nil {
		b.Fatalf("%+v", err)
	}
	return log
}

// arrivals are a plan's first n, as the writer reads them behind first others.
func arrivals(b *testing.B, ci *simci.CI, first, n int) []*domain.Arrival {
	list := make([]*domain.Arrival, 0, n)
	for i := range n {
		a := ci.At(i)
		at := time.Date(2026, 1, 1, 0, 0, first+i, 0, time.UTC)
		out, err := events.NewArrival(a.Campaign, a.Kind, a.Body, a.ID, "https://ci.example.org/jobs", at)
		if err != nil {
			b.Errorf("arrival %d: %+v", i, err)
			return list
		}
		list = append(list, events.DecodeArrival(&events.Message{
			Seq: uint64(first + i + 1), Time: at, Subject: out.Subject, Header: out.Header, Data: out.Data,
		}))
	}
	return list
}

// decider decides as the writer does.
type decider struct {
	b         *testing.B
	log       events.Log
	campaigns map[string]*domain.Campaign
	prev      string
	last      uint64
}

// decide appends the decisions on the next arrivals.
func (d *decider) decide(ctx context.Context, arrivals []*domain.Arrival) error {
	batch := make([]events.Outgoing, 0, len(arrivals))
	for _, a := range arrivals {
		decision, err := domain.Decide(domain.RuleVersion, d.campaigns[a.Campaign], a)
		if err != nil {
			return err
		}
		decision.Prev = d.prev
		record, err := events.EncodeRecord(decision)
		if err != nil {
			return err
		}
		state, err := domain.Fold(d.campaigns[a.Campaign], decision, events.RecordHash(record))
		if err != nil {
			return err
		}
		if state != nil {
			d.campaigns[a.Campaign] = state
		}
		d.prev = events.RecordHash(record)
		batch = append(batch, events.NewDecisionMessage(decision, record, "01999999-aaaa-7bbb-8ccc-dddddddddddd", "bench"))
	}
	for len(batch) > 0 {
		n, size := 0, 0
		for n < min(len(batch), events.MaxBatchMessages) && size+len(batch[n].Data) <= events.MaxBatchBytes {
			size += len(batch[n].Data)
			n++
		}
		var err error
		if d.last, err = d.log.Append(ctx, d.last, batch[:n]); err != nil {
			return err
		}
		batch = batch[n:]
	}
	return nil
}

// readAll reads the stream and does nothing with it.
func readAll(b *testing.B, log events.Log) time.Duration {
	b.Helper()
	started := time.Now()
	cursor, err := log.Read(b.Context(), 1)
	if err != nil {
		b.Fatal(err)
	}
	defer cursor.Close()
	for read := 0; read < rebuildDecisions; {
		messages, err := cursor.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		read += len(messages)
	}
	return time.Since(started)
}

// catchUp runs a runner until it has applied the ledger.
func catchUp(b *testing.B, log events.Log, store projections.Store) time.Duration {
	b.Helper()
	started := time.Now()
	runner, err := projections.NewRunner(projections.Config{Log: log, Store: store, Name: "views"})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	_, err = runner.WaitFor(ctx, rebuildDecisions)
	took := time.Since(started)
	cancel()
	if ran := <-ended; err != nil || ran != nil {
		b.Fatalf("%+v, %+v", err, ran)
	}
	return took
}

// rebuildAll rebuilds the views and adds up how long each stage took.
func rebuildAll(b *testing.B, log events.Log, store projections.Store, stages map[projections.RebuildStage]time.Duration) time.Duration {
	b.Helper()
	stage, since := projections.StageLoad, time.Now()
	rebuilt, err := projections.Rebuild(b.Context(), projections.RebuildConfig{Log: log, Store: store, Progress: func(p projections.RebuildProgress) {
		now := time.Now()
		stages[stage] += now.Sub(since)
		stage, since = p.Stage, now
	}})
	if err != nil {
		b.Fatalf("%+v", err)
	}
	stages[stage] += time.Since(since)
	if rebuilt.Position.Seq != rebuildDecisions || rebuilt.Comparison == nil || rebuilt.Comparison.Difference() != nil {
		b.Fatalf("rebuilt: %+v", rebuilt)
	}
	return rebuilt.Took
}
