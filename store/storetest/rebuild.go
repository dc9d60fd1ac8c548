package storetest

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// startBuild starts a build that the test closes.
func startBuild(t *testing.T, store projections.Store, views ...projections.View) projections.Build {
	t.Helper()
	build, err := store.Build(contextFor(t), views...)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	t.Cleanup(func() { closeBuild(t, build) })
	return build
}

// closeBuild may be called again.
func closeBuild(t *testing.T, build projections.Build) {
	t.Helper()
	if err := build.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Errorf("close a build: %+v", err)
	}
}

func load(t *testing.T, build projections.Build, ledger *projectionstest.Ledger, from, to, size uint64) {
	t.Helper()
	for from < to {
		next := min(from+size, to)
		if err := build.Load(contextFor(t), ledger.Position(from), ledger.Position(next), ledger.Fold(from, next)); err != nil {
			t.Fatalf("load %d to %d: %+v", from, next, err)
		}
		from = next
	}
}

// rest is what a Switch asks for: the ledger between two positions.
func rest(ledger *projectionstest.Ledger) func(context.Context, projections.Position, projections.Position) (projections.Position, *projections.Changes, error) {
	return func(_ context.Context, build, live projections.Position) (projections.Position, *projections.Changes, error) {
		return ledger.Position(live.Seq), ledger.Fold(build.Seq, live.Seq), nil
	}
}

// switchOver switches, with the live views at a sequence.
func switchOver(t *testing.T, build projections.Build, ledger *projectionstest.Ledger, at uint64) {
	t.Helper()
	err := build.Switch(contextFor(t), func(ctx context.Context, built, live projections.Position) (projections.Position, *projections.Changes, error) {
		if live.Seq != at {
			t.Errorf("switch at %d, want %d", live.Seq, at)
		}
		return rest(ledger)(ctx, built, live)
	})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	closeBuild(t, build)
}

// compare compares a build that the catch-up loads up to the live views.
func compare(t *testing.T, build projections.Build, ledger *projectionstest.Ledger, loaded uint64) *projections.Comparison {
	t.Helper()
	comparison, err := build.Compare(contextFor(t), func(_ context.Context, live projections.Position) error {
		load(t, build, ledger, loaded, live.Seq, 4)
		return nil
	})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return comparison
}

// testRebuild: a build is not seen, grows beside the live views, and replaces
// them with all that came in meanwhile.
func testRebuild(t *testing.T, db Database) {
	store := open(t, db)
	ledger := projectionstest.Random(t, 31, 100)
	apply(t, store, ledger, 0, 70, 50)
	asked := questions([]string{"c0"}, projections.Page{})
	for range 2 { // a second build starts from a switched one
		build := startBuild(t, store)
		load(t, build, ledger, 0, 50, 20)
		if err := build.Finish(contextFor(t)); err != nil {
			t.Fatalf("%+v", err)
		}
		load(t, build, ledger, 50, 60, 5)
		same(t, modelAt(t, ledger, position(t, store).Seq), store, asked)
		comparison := compare(t, build, ledger, 60)
		if comparison.Difference() != nil || comparison.At != position(t, store) || len(comparison.Digests) != len(projections.Views()) {
			t.Fatalf("compared: %+v", comparison)
		}
		for _, digest := range comparison.Digests {
			if digest.Live != digest.Built || digest.Live == "" || digest.View == projections.ViewEntries && digest.Rows != int64(comparison.At.Seq) {
				t.Errorf("digest %+v", digest)
			}
		}
		at := position(t, store).Seq
		apply(t, store, ledger, at, at+10, 5) // what came in after comparing
		switchOver(t, build, ledger, at+10)
		same(t, modelAt(t, ledger, at+10), store, asked)
	}
	apply(t, store, ledger, 90, ledger.Last(), 7)
	same(t, modelAt(t, ledger, ledger.Last()), open(t, db), asked)
}

// testRebuildSome: the other views stay as they are.
func testRebuildSome(t *testing.T, db Database) {
	store := open(t, db)
	ledger := projectionstest.Story(t)
	apply(t, store, ledger, 0, 20, 20)
	for _, views := range [][]projections.View{
		{projections.ViewImports}, {projections.ViewUsage, projections.ViewCells, projections.ViewUsage}, {projections.ViewCampaigns, projections.ViewEntries},
	} {
		build := startBuild(t, store, views...)
		load(t, build, ledger, 0, 20, 6)
		if err := build.Finish(contextFor(t)); err != nil {
			t.Fatalf("%+v", err)
		}
		comparison := compare(t, build, ledger, 20)
		if len(comparison.Digests) > 2 || comparison.Difference() != nil {
			t.Errorf("%v compared: %+v", views, comparison)
		}
		switchOver(t, build, ledger, 20)
		same(t, modelAt(t, ledger, 20), store, questions(storyCampaigns, projections.Page{}))
	}
	apply(t, store, ledger, 20, ledger.Last(), 4)
	same(t, modelAt(t, ledger, ledger.Last()), store, questions(storyCampaigns, projections.Page{}))
	if _, err := store.Build(contextFor(t), "none"); err == nil {
		t.Error("a view was built that does not exist")
	}
}

// testCompare: a row that was altered, lost or added is found, with its key.
func testCompare(t *testing.T, db Database) {
	ledger := projectionstest.Story(t)
	store := open(t, db)
	apply(t, store, ledger, 0, 19, 19)
	changes := ledger.Fold(19, 20)
	altered := ledger.Fold(0, 20).Campaigns[0]
	altered.Label = "altered"
	changes.Campaigns = []projections.Campaign{altered}
	changes.Usage = []projections.Usage{{Campaign: "zeta", Day: "2026-01-01", Model: "added"}}
	changes.Entries = nil // lost
	if err := store.Apply(contextFor(t), ledger.Position(19), ledger.Position(20), changes); err != nil {
		t.Fatalf("%+v", err)
	}
	build := startBuild(t, store)
	load(t, build, ledger, 0, 10, 10)
	if err := build.Finish(contextFor(t)); err != nil {
		t.Fatalf("%+v", err)
	}
	found := map[projections.View]*projections.Difference{}
	for _, digest := range compare(t, build, ledger, 10).Digests {
		if (digest.Difference == nil) != (digest.Live == digest.Built) {
			t.Errorf("digest %+v", digest)
		}
		if digest.Difference != nil {
			found[digest.View] = digest.Difference
		}
	}
	if len(found) != 3 {
		t.Fatalf("%d differences: %v", len(found), found)
	}
	label := found[projections.ViewCampaigns]
	if !strings.Contains(label.Key, "alpha") || !strings.Contains(label.Live, "altered") || !strings.Contains(label.Built, "the first") {
		t.Errorf("the altered row: %+v", label)
	}
	if added := found[projections.ViewUsage]; !strings.Contains(added.Key, "zeta") || added.Live == "" || added.Built != "" {
		t.Errorf("the added row: %+v", added)
	}
	if lost := found[projections.ViewEntries]; !strings.Contains(lost.Key, "19") || lost.Live != "" || lost.Built == "" {
		t.Errorf("the lost row: %+v", lost)
	}
	stop := errors.New("storetest: the catch-up failed")
	if _, err := build.Compare(contextFor(t), func(context.Context, projections.Position) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("a failed catch-up: %v", err)
	}
}

func testLoadMoved(t *testing.T, db Database) {
	lost := errors.New("storetest: the test says so")
	fail := false
	store := openWith(t, db, func(step projections.Step) error {
		if step == projections.BeforeLoadCommit && fail {
			return lost
		}
		return nil
	})
	ledger := projectionstest.Story(t)
	build := startBuild(t, store)
	load(t, build, ledger, 0, 10, 5)
	if err := build.Load(contextFor(t), ledger.Position(5), ledger.Position(10), ledger.Fold(5, 10)); !errors.Is(err, projections.ErrMoved) {
		t.Errorf("the same batch twice: %v", err)
	}
	fail = true
	if err := build.Load(contextFor(t), ledger.Position(10), ledger.Position(20), ledger.Fold(10, 20)); !errors.Is(err, lost) {
		t.Errorf("a failed load: %v", err)
	}
	fail = false
	load(t, build, ledger, 10, 20, 5)
	if err := build.Finish(contextFor(t)); err != nil {
		t.Fatalf("%+v", err)
	}
	apply(t, store, ledger, 0, 20, 20)
	switchOver(t, build, ledger, 20)
	same(t, modelAt(t, ledger, 20), store, questions(storyCampaigns, projections.Page{}))
}

// testSwitchFaults: an error before the commit leaves the old views, one after
// it the new ones.
func testSwitchFaults(t *testing.T, db Database) {
	lost := errors.New("storetest: the test says so")
	var fail projections.Step
	store := openWith(t, db, func(step projections.Step) error {
		if step == fail {
			return lost
		}
		return nil
	})
	ledger := projectionstest.Story(t)
	apply(t, store, ledger, 0, 20, 20)
	build := startBuild(t, store)
	load(t, build, ledger, 0, 15, 15)
	if err := build.Finish(contextFor(t)); err != nil {
		t.Fatalf("%+v", err)
	}
	refused := errors.New("storetest: the rest cannot be had")
	if err := build.Switch(contextFor(t), func(context.Context, projections.Position, projections.Position) (projections.Position, *projections.Changes, error) {
		return projections.Position{}, nil, refused
	}); !errors.Is(err, refused) {
		t.Errorf("no rest: %v", err)
	}
	for _, step := range []projections.Step{projections.BeforeSwitchCommit, projections.AfterSwitchCommit} {
		fail = step
		if err := build.Switch(contextFor(t), rest(ledger)); !errors.Is(err, lost) {
			t.Errorf("%s: %v", step, err)
		}
		same(t, modelAt(t, ledger, 20), store, questions(storyCampaigns, projections.Page{}))
	}
	closeBuild(t, build)
	fail = ""
	apply(t, store, ledger, 20, ledger.Last(), 5)
	same(t, modelAt(t, ledger, ledger.Last()), store, questions(storyCampaigns, projections.Page{}))
}

func testRebuildRunning(t *testing.T, db Database) {
	first, second := open(t, db), open(t, db)
	build := startBuild(t, first)
	for name, store := range map[string]projections.Store{"the same": first, "another": second} {
		if _, err := store.Build(contextFor(t)); !errors.Is(err, projections.ErrRebuildRunning) {
			t.Errorf("a second build by %s store: %v", name, err)
		}
	}
	ledger := projectionstest.Story(t)
	load(t, build, ledger, 0, 10, 5)
	closeBuild(t, build)
	again := startBuild(t, second, projections.ViewEntries)
	load(t, again, ledger, 0, 10, 10)
	same(t, projectionstest.NewModel(), first, questions(storyCampaigns, projections.Page{}))
}

// testAbandoned: what a crashed build left is in nobody's way.
func testAbandoned(t *testing.T, db Database) {
	store := open(t, db)
	ledger := projectionstest.Story(t)
	apply(t, store, ledger, 0, 20, 20)
	for range 2 {
		build, err := store.Build(contextFor(t))
		if err != nil {
			t.Fatalf("%+v", err)
		}
		load(t, build, ledger, 0, 10, 10)
		if err := build.Finish(contextFor(t)); err != nil {
			t.Fatalf("%+v", err)
		}
		db.Abandon(t, build)
		same(t, modelAt(t, ledger, 20), store, questions(storyCampaigns, projections.Page{}))
	}
	build := startBuild(t, open(t, db))
	load(t, build, ledger, 0, 20, 20)
	if err := build.Finish(contextFor(t)); err != nil {
		t.Fatalf("%+v", err)
	}
	switchOver(t, build, ledger, 20)
	same(t, modelAt(t, ledger, 20), store, questions(storyCampaigns, projections.Page{}))
}

// testNoGap: readers of two stores ask without pause while the views are
// switched again and again. as_of never decreases, and nothing is ever missing.
func testNoGap(t *testing.T, db Database) {
	ledger := projectionstest.Random(t, 37, 90)
	store := open(t, db)
	apply(t, store, ledger, 0, 60, 60)
	ctx, stop := context.WithCancel(contextFor(t))
	defer stop()
	var readers sync.WaitGroup
	for range 2 {
		reader := open(t, db)
		readers.Go(func() { readOn(ctx, t, reader) })
	}
	for at := uint64(60); at+10 <= ledger.Last() && !t.Failed(); at += 10 {
		build := startBuild(t, store)
		load(t, build, ledger, 0, at, 40)
		if err := build.Finish(contextFor(t)); err != nil {
			t.Fatalf("%+v", err)
		}
		apply(t, store, ledger, at, at+10, 5)
		switchOver(t, build, ledger, at+10)
	}
	stop()
	readers.Wait()
}

// readOn asks until ctx ends, and wants whole answers that never go back.
func readOn(ctx context.Context, t *testing.T, reader projections.Reader) {
	last := int64(59)
	for ctx.Err() == nil {
		entries, err := reader.Entries(ctx, projections.EntryQuery{Page: projections.Page{Limit: projections.MaxPageLimit}})
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			t.Errorf("entries: %+v", err)
			return
		}
		if int64(len(entries.Items)) != entries.AsOf+1 || entries.AsOf < last {
			t.Errorf("%d entries as of %d, before as of %d", len(entries.Items), entries.AsOf, last)
			return
		}
		last = entries.AsOf
		cells, err := reader.Cells(ctx, projections.CellQuery{Campaign: "c0", Page: projections.Page{Limit: projections.MaxPageLimit}})
		if ctx.Err() != nil {
			return
		}
		if err != nil || len(cells.Items) == 0 || cells.AsOf < last {
			t.Errorf("%d cells as of %d, before as of %d: %+v", len(cells.Items), cells.AsOf, last, err)
			return
		}
		for _, cell := range cells.Items {
			if (cell.ImportIndex == nil) != (cell.Import == nil) {
				t.Errorf("slot %d lacks its import", cell.Position)
				return
			}
		}
		last = cells.AsOf
	}
}
