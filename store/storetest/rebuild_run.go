package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/follow"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// runViews runs a Runner on a store until the test ends it.
func runViews(t *testing.T, log events.Log, store projections.Store) (runner *projections.Runner, stop func()) {
	t.Helper()
	runner, err := projections.NewRunner(projections.Config{Log: log, Store: store, Name: "views"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	return runner, sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the runner ended: %+v", err)
		}
	})
}

// testRunAndRebuild: the ledger grows, a runner follows it, readers ask without
// pause, and the views are rebuilt under all of them.
func testRunAndRebuild(t *testing.T, db Database) {
	ledger := projectionstest.Random(t, 41, 80)
	store := open(t, db)
	runner, stopRunner := runViews(t, ledger.Log, store)
	defer stopRunner()
	if _, err := runner.WaitFor(contextFor(t), ledger.Last()); err != nil {
		t.Fatalf("%+v", err)
	}
	ctx, stopReading := context.WithCancel(contextFor(t))
	defer stopReading()
	var readers sync.WaitGroup
	other := open(t, db)
	readers.Go(func() { readOn(ctx, t, other) })
	for range 3 {
		rebuilt, err := projections.Rebuild(contextFor(t), projections.RebuildConfig{
			Log: ledger.Log, Store: other,
			Progress: func(p projections.RebuildProgress) {
				ledger.Malformed("c0", "cell") // the ledger grows at every step
				if p.Read > p.Target && p.Stage == projections.StageLoad {
					t.Errorf("progress %+v", p)
				}
			},
		})
		if err != nil {
			t.Fatalf("%+v", err)
		}
		if rebuilt.Comparison == nil || rebuilt.Comparison.Difference() != nil || rebuilt.Position != ledger.Position(rebuilt.Position.Seq) {
			t.Errorf("rebuilt: %+v", rebuilt)
		}
	}
	if _, err := runner.WaitFor(contextFor(t), ledger.Last()); err != nil {
		t.Fatalf("%+v", err)
	}
	stopReading()
	readers.Wait()
	stopRunner()
	same(t, modelAt(t, ledger, ledger.Last()), store, questions([]string{"c0"}, projections.Page{}))
}

// testRebuildBatches: campaigns go on over many batches, and their rows are
// written once, some times, or after every batch.
func testRebuildBatches(t *testing.T, db Database) {
	ledger := projectionstest.Random(t, 43, 400)
	store := open(t, db)
	apply(t, store, ledger, 0, ledger.Last(), 100)
	for _, held := range []int{1, 150 << 10, 100 << 20} {
		batches := 0
		rebuilt, err := projections.Rebuild(contextFor(t), projections.RebuildConfig{
			Log: ledger.Log, Store: store, LoadRows: 20, HeldBytes: held,
			Progress: func(projections.RebuildProgress) { batches++ },
		})
		if err != nil {
			t.Fatalf("%d bytes held: %+v", held, err)
		}
		if rebuilt.Comparison == nil || rebuilt.Comparison.Difference() != nil || rebuilt.Position != ledger.Position(ledger.Last()) || batches < 20 {
			t.Errorf("%d bytes held: %d batches, %+v", held, batches, rebuilt)
		}
	}
	same(t, modelAt(t, ledger, ledger.Last()), store, questions([]string{"c0"}, projections.Page{}))
}

// testRebuildDiffers: a difference at the same version is shown and not
// switched, unless it is accepted.
func testRebuildDiffers(t *testing.T, db Database) {
	ledger := projectionstest.Story(t)
	store := open(t, db)
	apply(t, store, ledger, 0, 19, 19)
	changes := ledger.Fold(19, 20)
	changes.Campaigns[0].Label = "altered"
	if err := store.Apply(contextFor(t), ledger.Position(19), ledger.Position(20), changes); err != nil {
		t.Fatalf("%+v", err)
	}
	config := projections.RebuildConfig{Log: ledger.Log, Store: store}
	rebuilt, err := projections.Rebuild(contextFor(t), config)
	if !errors.Is(err, projections.ErrDifferent) || len(errors.GetAllHints(err)) == 0 || rebuilt.Comparison.Difference().View != projections.ViewCampaigns {
		t.Fatalf("%+v, %+v", rebuilt, err)
	}
	if campaign, err := store.Campaign(contextFor(t), "alpha"); err != nil || campaign.Item.Label != "altered" {
		t.Errorf("after a refusal: %+v, %v", campaign, err)
	}
	config.Views = []projections.View{projections.ViewCells, projections.ViewUsage}
	if rebuilt, err := projections.Rebuild(contextFor(t), config); err != nil || len(rebuilt.Comparison.Digests) != 2 {
		t.Errorf("views that do not differ: %+v, %+v", rebuilt, err)
	}
	config.Views, config.Accept = nil, true
	if rebuilt, err = projections.Rebuild(contextFor(t), config); err != nil || rebuilt.Comparison.Difference() == nil {
		t.Errorf("%+v, %+v", rebuilt, err)
	}
	same(t, modelAt(t, ledger, 20), store, questions(storyCampaigns, projections.Page{}))
}

// testRebuildVersion: views of another version are made anew as far as they
// were, without comparing, and go on from there.
func testRebuildVersion(t *testing.T, db Database) {
	ledger := projectionstest.Story(t)
	store := open(t, db)
	for _, at := range []uint64{0, 20} {
		apply(t, store, ledger, 0, at, 20)
		db.SetVersion(t, projections.FoldVersion+1)
		rebuilt, err := projections.Rebuild(contextFor(t), projections.RebuildConfig{Log: ledger.Log, Store: store})
		if err != nil || rebuilt.Comparison != nil || rebuilt.Position != ledger.Position(at) {
			t.Fatalf("at %d: %+v, %+v", at, rebuilt, err)
		}
		same(t, modelAt(t, ledger, at), store, questions(storyCampaigns, projections.Page{}))
	}
	runner, stop := runViews(t, ledger.Log, store)
	defer stop()
	if _, err := runner.WaitFor(contextFor(t), ledger.Last()); err != nil {
		t.Fatalf("%+v", err)
	}
	same(t, modelAt(t, ledger, ledger.Last()), store, questions(storyCampaigns, projections.Page{}))
}

// testRebuildLedger: a copied ledger is the same one; another one, or one that
// lost its end, is taken only when that is accepted.
func testRebuildLedger(t *testing.T, db Database) {
	ledger := projectionstest.Story(t)
	store := open(t, db)
	apply(t, store, ledger, 0, 20, 20)
	config := projections.RebuildConfig{Log: ledger.Log, Store: store}

	var records []events.Outgoing
	for i, d := range ledger.Decisions {
		message, err := ledger.Log.Get(contextFor(t), uint64(i+1))
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, events.NewDecisionMessage(d, message.Data, "epoch", "host"))
	}
	ledger.Log.Recreate()
	if _, err := projections.Rebuild(contextFor(t), config); !errors.Is(err, follow.ErrForeignLedger) {
		t.Errorf("from an empty ledger: %v", err)
	}
	ledger.Log.Publish(records...)
	rebuilt, err := projections.Rebuild(contextFor(t), config)
	if err != nil || rebuilt.Comparison == nil || rebuilt.Position != ledger.Position(20) {
		t.Fatalf("from a copy: %+v, %+v", rebuilt, err)
	}
	same(t, modelAt(t, ledger, 20), store, questions(storyCampaigns, projections.Page{}))

	ledger.Log.Truncate(15)
	if _, err := projections.Rebuild(contextFor(t), config); !errors.Is(err, follow.ErrForeignLedger) || len(errors.GetAllHints(err)) == 0 {
		t.Errorf("from a shorter ledger: %v", err)
	}
	config.Accept, config.Views = true, []projections.View{projections.ViewUsage}
	if _, err := projections.Rebuild(contextFor(t), config); !errors.Is(err, follow.ErrForeignLedger) {
		t.Errorf("one view from a shorter ledger: %v", err)
	}
	config.Views = nil
	rebuilt, err = projections.Rebuild(contextFor(t), config)
	if err != nil || rebuilt.Comparison != nil || rebuilt.Position != ledger.Position(15) {
		t.Fatalf("from a shorter ledger, accepted: %+v, %+v", rebuilt, err)
	}
	same(t, modelAt(t, ledger, 15), store, questions(storyCampaigns, projections.Page{}))

	ledger.Log.Remove(9)
	if _, err := projections.Rebuild(contextFor(t), config); !errors.Is(err, follow.ErrDamaged) {
		t.Errorf("from a damaged ledger: %v", err)
	}
	same(t, modelAt(t, ledger, 15), store, questions(storyCampaigns, projections.Page{}))
}

// testRebuildEndsEarly: wherever it ends, the live views are as they were, and
// the next rebuild works.
func testRebuildEndsEarly(t *testing.T, db Database) {
	ledger := projectionstest.Story(t)
	lost := errors.New("storetest: the test says so")
	var fail projections.Step
	store := openWith(t, db, func(step projections.Step) error {
		if step == fail {
			return lost
		}
		return nil
	})
	apply(t, store, ledger, 0, 20, 20)
	rebuild := func(ctx context.Context, progress func(projections.RebuildProgress)) error {
		_, err := projections.Rebuild(ctx, projections.RebuildConfig{Log: ledger.Log, Store: store, Progress: progress})
		return err
	}
	for _, step := range []projections.Step{projections.BeforeLoadCommit, projections.BeforeSwitchCommit, projections.AfterSwitchCommit} {
		fail = step
		if err := rebuild(contextFor(t), nil); !errors.Is(err, lost) {
			t.Errorf("%s: %v", step, err)
		}
	}
	fail = ""
	for _, stage := range []projections.RebuildStage{projections.StageLoad, projections.StageFinish, projections.StageCompare, projections.StageSwitch} {
		t.Run(fmt.Sprint("cancelled when it begins to ", stage), func(t *testing.T) {
			ctx, cancel := context.WithCancel(contextFor(t))
			defer cancel()
			err := rebuild(ctx, func(p projections.RebuildProgress) {
				if p.Stage == stage {
					cancel()
				}
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		})
	}
	same(t, modelAt(t, ledger, 20), store, questions(storyCampaigns, projections.Page{}))
	if err := rebuild(contextFor(t), nil); err != nil {
		t.Errorf("%+v", err)
	}
}
