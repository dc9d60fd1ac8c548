package metrics_test

import (
	"context"
	"testing"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest"
	"github.com/ledgerd/ledgerd/internal/metrics"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// fixedPosition is where a test says that views are.
type fixedPosition struct {
	seq uint64
	err error
}

func (p *fixedPosition) Position(context.Context) (projections.Position, error) {
	return projections.Position{Seq: p.seq}, p.err
}

// TestLag: in entries and in seconds, 0 at the end, missing when it cannot be
// told.
func TestLag(t *testing.T) {
	ledger, m, views := projectionstest.Story(t), metrics.New("test"), &fixedPosition{seq: 30}
	now := eventstest.TimeOf(40) // a second is between two messages
	m.WatchLag("views", views, ledger.Log, metrics.WithClock(func() time.Time { return now }))
	label := []string{"projection", "views"}
	want(t, m, 30, "ledgerd_projection_position", label...)
	want(t, m, 2, "ledgerd_projection_lag_entries", label...)
	want(t, m, 9, "ledgerd_projection_lag_seconds", label...) // entry 31 is the oldest that lacks
	views.seq = 32
	want(t, m, 0, "ledgerd_projection_lag_entries", label...)
	want(t, m, 0, "ledgerd_projection_lag_seconds", label...)
	views.seq = 40 // the ledger lost its end: no negative lag
	want(t, m, 0, "ledgerd_projection_lag_entries", label...)
	views.seq, views.err = 0, errors.New("down")
	wantMissing(t, m, "ledgerd_projection_lag_entries", label...)
	wantSome(t, m, "ledgerd_scrape_errors_total", "source", "views")
	views.err = nil
	ledger.Log.SetUnavailable(true)
	want(t, m, 0, "ledgerd_projection_position", label...)
	wantMissing(t, m, "ledgerd_projection_lag_seconds", label...)
}

// TestStreams: both ends, and what is between them.
func TestStreams(t *testing.T) {
	ledger, m := projectionstest.Story(t), metrics.New("test")
	arrivals := eventstest.NewArrivals()
	for range 40 {
		arrivals.Publish(events.Outgoing{Subject: "ledger.arrivals.alpha.cell", Data: []byte("{}")})
	}
	m.WatchStreams(arrivals, ledger.Log)
	want(t, m, 40, "ledgerd_arrivals_stored_total")
	want(t, m, 32, "ledgerd_ledger_decisions_total")
	want(t, m, 8, "ledgerd_arrivals_undecided")
	arrivals.SetUnavailable(true)
	want(t, m, 32, "ledgerd_ledger_decisions_total")
	wantMissing(t, m, "ledgerd_arrivals_undecided")
	wantSome(t, m, "ledgerd_scrape_errors_total", "source", "arrivals")
	ledger.Log.SetUnavailable(true)
	wantMissing(t, m, "ledgerd_ledger_decisions_total")
}

// TestRunnerIsObserved: by a real runner.
func TestRunnerIsObserved(t *testing.T) {
	ledger, m := projectionstest.Story(t), metrics.New("test")
	store := m.Store(projectionstest.NewModel())
	runner, err := projections.NewRunner(projections.Config{Log: ledger.Log, Store: store, Name: "views", Observer: m.Projection("views")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- runner.Run(ctx) }()
	if _, err := runner.WaitFor(t.Context(), ledger.Last()); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	want(t, m, 32, "ledgerd_projection_applied_decisions_total", "projection", "views")
	if apply := sample(t, m, "ledgerd_database_seconds", "operation", "apply"); apply.GetHistogram().GetSampleCount() == 0 {
		t.Error("no apply was measured")
	}
	if rows := sample(t, m, "ledgerd_projection_applied_rows_total", "projection", "views"); rows.GetCounter().GetValue() < 32 {
		t.Errorf("rows: %v", rows)
	}
}

// TestRebuild: from its beginning to one of its ends.
func TestRebuild(t *testing.T) {
	m := metrics.New("test")
	want(t, m, 0, "ledgerd_rebuild_running")
	rebuild := m.Rebuild()
	rebuild.Progress(projections.RebuildProgress{Stage: projections.StageLoad, Read: 5, Target: 20})
	want(t, m, 1, "ledgerd_rebuild_running")
	want(t, m, 5, "ledgerd_rebuild_done_decisions")
	want(t, m, 20, "ledgerd_rebuild_target_decisions")
	rebuild.End(nil)
	rebuild.End(errors.New("late"))
	want(t, m, 0, "ledgerd_rebuild_running")
	want(t, m, 1, "ledgerd_rebuilds_total", "result", "switched")
	want(t, m, 0, "ledgerd_rebuilds_total", "result", "failed")
	m.Rebuild().End(errors.New("different"))
	want(t, m, 1, "ledgerd_rebuilds_total", "result", "failed")
	want(t, m, 0, "ledgerd_rebuild_done_decisions")
}
