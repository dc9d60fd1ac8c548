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

var storyCampaigns = []string{"alpha", "beta", "bad"}

func testEmpty(t *testing.T, db Database) {
	store := open(t, db)
	if version, err := store.Version(contextFor(t)); version != projections.FoldVersion || err != nil {
		t.Errorf("version %d, %v", version, err)
	}
	if at := position(t, store); at != (projections.Position{}) {
		t.Errorf("the position is %+v", at)
	}
	same(t, projectionstest.NewModel(), store, questions(storyCampaigns, projections.Page{}))
	list, err := store.Campaigns(contextFor(t), projections.CampaignQuery{})
	if err != nil || list.AsOf != -1 || list.Items == nil {
		t.Errorf("no campaigns: %+v, %v", list, err)
	}
	cells, err := store.Cells(contextFor(t), projections.CellQuery{Campaign: "alpha"})
	if !errors.Is(err, projections.ErrNoCampaign) || cells.AsOf != -1 {
		t.Errorf("cells of no campaign as of %d: %v", cells.AsOf, err)
	}
}

// testStory asks everything after each batch.
func testStory(t *testing.T, db Database) {
	store := open(t, db)
	ledger := projectionstest.Story(t)
	for from := uint64(0); from < ledger.Last(); {
		to := min(from+11, ledger.Last())
		apply(t, store, ledger, from, to, 4)
		if at := position(t, store); at != ledger.Position(to) {
			t.Fatalf("the position is %+v, want %+v", at, ledger.Position(to))
		}
		same(t, modelAt(t, ledger, to), store, questions(storyCampaigns, projections.Page{}))
		from = to
	}
}

func testRandom(t *testing.T, db Database) {
	store := open(t, db)
	ledger := projectionstest.Random(t, 17, 300)
	apply(t, store, ledger, 0, 200, 37)
	apply(t, store, ledger, 200, ledger.Last(), ledger.Last())
	same(t, modelAt(t, ledger, ledger.Last()), store, questions([]string{"c0", "c1", "c2"}, projections.Page{Limit: projections.MaxPageLimit + 1}))
}

// testPages walks every list in small pages.
func testPages(t *testing.T, db Database) {
	store := open(t, db)
	ledger := projectionstest.Random(t, 19, 150)
	apply(t, store, ledger, 0, ledger.Last(), ledger.Last())
	model := modelAt(t, ledger, ledger.Last())
	after := func(n uint64) *uint64 { return &n }
	for _, page := range []projections.Page{
		{Limit: 1}, {Limit: 3, After: after(0)}, {Limit: 7, After: after(60)}, {After: after(1 << 63)}, {Limit: -1},
	} {
		same(t, model, store, questions([]string{"c0", "c1"}, page))
	}
	walked := 0
	for page := (projections.Page{Limit: 11}); ; {
		list, err := store.Entries(contextFor(t), projections.EntryQuery{Page: page})
		if err != nil {
			t.Fatalf("%+v", err)
		}
		for _, entry := range list.Items {
			if entry.Index != uint64(walked) {
				t.Fatalf("entry %d where %d was expected", entry.Index, walked)
			}
			walked++
		}
		if page.After = list.Next; list.Next == nil {
			break
		}
	}
	if walked != int(ledger.Last()) {
		t.Errorf("walked over %d entries of %d", walked, ledger.Last())
	}
}

// testMoved: a position that is not the expected one, in any part, writes
// nothing.
func testMoved(t *testing.T, db Database) {
	store := open(t, db)
	ledger := projectionstest.Story(t)
	apply(t, store, ledger, 0, 10, 10)
	model := modelAt(t, ledger, 10)
	changes := ledger.Fold(10, 20)
	for name, change := range map[string]func(*projections.Position){
		"behind":         func(p *projections.Position) { p.Seq-- },
		"ahead":          func(p *projections.Position) { p.Seq++ },
		"another stream": func(p *projections.Position) { p.Stream += "'" },
		"another hash":   func(p *projections.Position) { p.Hash = strings.Repeat("0", 64) },
		"at the start":   func(p *projections.Position) { *p = projections.Position{} },
	} {
		from := ledger.Position(10)
		change(&from)
		if err := store.Apply(contextFor(t), from, ledger.Position(20), changes); !errors.Is(err, projections.ErrMoved) {
			t.Errorf("%s: %v", name, err)
		}
	}
	same(t, model, store, questions(storyCampaigns, projections.Page{}))
	apply(t, store, ledger, 10, 20, 10)
	if err := store.Apply(contextFor(t), ledger.Position(10), ledger.Position(20), changes); !errors.Is(err, projections.ErrMoved) {
		t.Errorf("the same batch twice: %v", err)
	}
	same(t, modelAt(t, ledger, 20), store, questions(storyCampaigns, projections.Page{}))
}

// testApplyFaults: an error before the commit leaves nothing, one after it
// everything.
func testApplyFaults(t *testing.T, db Database) {
	lost := errors.New("storetest: the test says so")
	var fail projections.Step
	store := openWith(t, db, func(step projections.Step) error {
		if step == fail {
			return lost
		}
		return nil
	})
	ledger := projectionstest.Story(t)
	at := uint64(0)
	for _, step := range []projections.Step{projections.BeforeApplyCommit, projections.AfterApplyCommit, projections.BeforeApplyCommit, projections.AfterApplyCommit} {
		fail = step
		if err := store.Apply(contextFor(t), ledger.Position(at), ledger.Position(at+11), ledger.Fold(at, at+11)); !errors.Is(err, lost) {
			t.Fatalf("%s: %v", step, err)
		}
		if step == projections.AfterApplyCommit {
			at += 11
		}
		if got := position(t, store); got != ledger.Position(at) {
			t.Errorf("%s: the position is %d, want %d", step, got.Seq, at)
		}
		same(t, modelAt(t, ledger, at), store, questions(storyCampaigns, projections.Page{}))
	}
}

// testUnique: rows that no ledger gives are refused whole.
func testUnique(t *testing.T, db Database) {
	store := open(t, db)
	ledger := projectionstest.Story(t)
	apply(t, store, ledger, 0, 16, 16)
	imported := ledger.Fold(5, 6).Imports[0]
	for name, change := range map[string]func(*projections.Import){
		"import key":         func(i *projections.Import) { i.ImportKey = imported.ImportKey },
		"measurement key":    func(i *projections.Import) { i.MeasurementKey = imported.MeasurementKey },
		"slot":               func(i *projections.Import) { i.ScenarioID, i.Ordinal = imported.ScenarioID, imported.Ordinal },
		"index":              func(i *projections.Import) { i.Index = imported.Index },
		"voided import key":  func(i *projections.Import) { i.ImportKey = projectionstest.StoryFailed.ImportKey() },
		"nothing, but twice": func(*projections.Import) {},
	} {
		row := imported
		row.Index, row.ImportKey, row.MeasurementKey, row.ScenarioID = 16, "another", "another", "another"
		change(&row)
		changes := &projections.Changes{Imports: []projections.Import{row}}
		if name == "nothing, but twice" {
			changes.Imports = append(changes.Imports, row)
		}
		err := store.Apply(contextFor(t), ledger.Position(16), ledger.Position(17), changes)
		if err == nil || errors.IsAny(err, projections.ErrMoved, projections.ErrUnavailable) {
			t.Errorf("%s twice: %v", name, err)
		}
	}
	void := projections.Void{Actor: "nobody"}
	for name, index := range map[string]uint64{"unknown": 6, "voided already": 7} {
		changes := &projections.Changes{ImportVoids: []projections.ImportVoid{{Index: index, Void: void}}}
		if err := store.Apply(contextFor(t), ledger.Position(16), ledger.Position(17), changes); err == nil {
			t.Errorf("an import was voided that is %s", name)
		}
	}
	same(t, modelAt(t, ledger, 16), store, questions(storyCampaigns, projections.Page{}))
}

// testAnotherVersion: rows of another fold are not served and not written on,
// until all of them are rebuilt.
func testAnotherVersion(t *testing.T, db Database) {
	store := open(t, db)
	ledger := projectionstest.Story(t)
	apply(t, store, ledger, 0, 20, 20)
	for _, other := range []int{projections.FoldVersion + 1, projections.FoldVersion - 1} {
		db.SetVersion(t, other)
		if version, err := store.Version(contextFor(t)); version != other || err != nil {
			t.Errorf("version %d, %v", version, err)
		}
		if at := position(t, store); at != ledger.Position(20) {
			t.Errorf("the position is %+v", at)
		}
		for _, q := range questions(storyCampaigns, projections.Page{})[1:] {
			if _, err := q.ask(contextFor(t), store); !errors.Is(err, projections.ErrAnotherVersion) {
				t.Errorf("%s: %v", q.name, err)
			}
		}
		err := store.Apply(contextFor(t), ledger.Position(20), ledger.Position(21), ledger.Fold(20, 21))
		if !errors.Is(err, projections.ErrAnotherVersion) {
			t.Errorf("apply: %v", err)
		}
		if _, err := store.Build(contextFor(t), projections.ViewUsage); !errors.Is(err, projections.ErrAnotherVersion) {
			t.Errorf("build one view: %v", err)
		}
	}
	reopened := open(t, db)
	if version, err := reopened.Version(contextFor(t)); version != projections.FoldVersion-1 || err != nil {
		t.Errorf("opened again, version %d, %v", version, err)
	}
	build := startBuild(t, store)
	load(t, build, ledger, 0, 20, 7)
	if err := build.Finish(contextFor(t)); err != nil {
		t.Fatalf("%+v", err)
	}
	switchOver(t, build, ledger, 20)
	same(t, modelAt(t, ledger, 20), reopened, questions(storyCampaigns, projections.Page{}))
}

func testCancelled(t *testing.T, db Database) {
	store := open(t, db)
	ledger := projectionstest.Story(t)
	ctx, cancel := context.WithCancel(contextFor(t))
	cancel()
	err := store.Apply(ctx, ledger.Position(0), ledger.Position(5), ledger.Fold(0, 5))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("apply: %v", err)
	}
	if _, err := store.Campaigns(ctx, projections.CampaignQuery{}); !errors.Is(err, context.Canceled) {
		t.Errorf("campaigns: %v", err)
	}
	apply(t, store, ledger, 0, 5, 5)
	same(t, modelAt(t, ledger, 5), store, questions(storyCampaigns, projections.Page{}))
}

// testShared: what one store wrote, another one reads and goes on from.
func testShared(t *testing.T, db Database) {
	ledger := projectionstest.Story(t)
	first := db.Open(t, nil)
	second := open(t, db)
	apply(t, first, ledger, 0, 10, 3)
	same(t, modelAt(t, ledger, 10), second, questions(storyCampaigns, projections.Page{}))
	apply(t, second, ledger, 10, 20, 3)
	same(t, modelAt(t, ledger, 20), first, questions(storyCampaigns, projections.Page{}))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	third := open(t, db)
	apply(t, third, ledger, 20, ledger.Last(), 3)
	same(t, modelAt(t, ledger, ledger.Last()), second, questions(storyCampaigns, projections.Page{}))
}

// testAppliersRace: several stores apply the same ledger, each from where it
// finds the views.
func testAppliersRace(t *testing.T, db Database) {
	ledger := projectionstest.Random(t, 23, 90)
	batches := map[uint64]*projections.Changes{}
	const size = 6
	for from := uint64(0); from < ledger.Last(); from += size {
		batches[from] = ledger.Fold(from, min(from+size, ledger.Last()))
	}
	var all sync.WaitGroup
	for range 3 {
		store := open(t, db)
		all.Go(func() {
			for {
				at, err := store.Position(t.Context())
				if err != nil {
					t.Errorf("%+v", err)
					return
				}
				if at.Seq == ledger.Last() {
					return
				}
				err = store.Apply(t.Context(), at, ledger.Position(min(at.Seq+size, ledger.Last())), batches[at.Seq])
				if err != nil && !errors.IsAny(err, projections.ErrMoved, projections.ErrUnavailable) {
					t.Errorf("%+v", err)
					return
				}
			}
		})
	}
	all.Wait()
	same(t, modelAt(t, ledger, ledger.Last()), open(t, db), questions([]string{"c0", "c1"}, projections.Page{}))
}

// testSnapshots: every answer holds what its as_of says, while batches are
// applied.
func testSnapshots(t *testing.T, db Database) {
	ledger := projectionstest.Random(t, 29, 60)
	writer, reader := open(t, db), open(t, db)
	done := make(chan struct{})
	go func() {
		defer close(done)
		apply(t, writer, ledger, 0, ledger.Last(), 3)
	}()
	for last := int64(-1); last < int64(ledger.Last())-1; {
		list, err := reader.Entries(t.Context(), projections.EntryQuery{Page: projections.Page{Limit: projections.MaxPageLimit}})
		if err != nil {
			t.Fatalf("%+v", err)
		}
		summary, err := reader.Summary(t.Context(), "")
		if err != nil {
			t.Fatalf("%+v", err)
		}
		var counted int64
		for _, n := range summary.Item.Outcomes {
			counted += n
		}
		if int64(len(list.Items)) != list.AsOf+1 || counted != summary.AsOf+1 || list.AsOf < last || summary.AsOf < list.AsOf {
			t.Fatalf("%d entries as of %d, %d decisions as of %d, before as of %d", len(list.Items), list.AsOf, counted, summary.AsOf, last)
		}
		last = list.AsOf
		if t.Failed() {
			break
		}
	}
	<-done
}
