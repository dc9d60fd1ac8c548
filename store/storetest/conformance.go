package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// Database is one empty database, for one test.
type Database interface {
	// Open opens another store on it, as another process would. The suite
	// closes it.
	Open(t *testing.T, fault projections.Fault) projections.Store
	// SetVersion says that another fold made the live views.
	SetVersion(t *testing.T, version int)
	// Abandon leaves a build as the death of its process does.
	Abandon(t *testing.T, build projections.Build)
}

// Conformance holds a store to everything that [projections.Store] says. fresh
// makes a new empty database and ends it with the test.
func Conformance(t *testing.T, fresh func(t *testing.T) Database) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, Database)
	}{
		{"empty", testEmpty},
		{"story in batches", testStory},
		{"random ledger", testRandom},
		{"pages", testPages},
		{"apply where it is expected", testMoved},
		{"apply fails", testApplyFaults},
		{"keys are used once", testUnique},
		{"another version", testAnotherVersion},
		{"cancelled", testCancelled},
		{"stores share a database", testShared},
		{"appliers race", testAppliersRace},
		{"answers are snapshots", testSnapshots},
		{"rebuild", testRebuild},
		{"rebuild some views", testRebuildSome},
		{"compare finds differences", testCompare},
		{"load where it is expected", testLoadMoved},
		{"switch fails", testSwitchFaults},
		{"one rebuild at a time", testRebuildRunning},
		{"a rebuild crashed", testAbandoned},
		{"readers see no gap", testNoGap},
		{"rebuild under a runner and readers", testRunAndRebuild},
		{"rebuild in many batches", testRebuildBatches},
		{"rebuild shows differences", testRebuildDiffers},
		{"rebuild another version", testRebuildVersion},
		{"rebuild from another ledger", testRebuildLedger},
		{"rebuild ends early", testRebuildEndsEarly},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, fresh(t)) })
	}
}

// patience is how long a step may take. It is only ever waited for by a test
// that fails.
const patience = time.Minute

func contextFor(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// open opens a store that the test closes.
func open(t *testing.T, db Database) projections.Store {
	t.Helper()
	return openWith(t, db, nil)
}

func openWith(t *testing.T, db Database, fault projections.Fault) projections.Store {
	t.Helper()
	store := db.Open(t, fault)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close: %+v", err)
		}
	})
	return store
}

// apply moves a store along a ledger, in batches of a size.
func apply(t *testing.T, store projections.Store, ledger *projectionstest.Ledger, from, to, size uint64) {
	t.Helper()
	for from < to {
		next := min(from+size, to)
		if err := store.Apply(contextFor(t), ledger.Position(from), ledger.Position(next), ledger.Fold(from, next)); err != nil {
			t.Fatalf("apply %d to %d: %+v", from, next, err)
		}
		from = next
	}
}

// modelAt is what a ledger comes to up to a sequence.
func modelAt(t *testing.T, ledger *projectionstest.Ledger, seq uint64) *projectionstest.Model {
	t.Helper()
	model := projectionstest.NewModel()
	if seq > 0 {
		apply(t, model, ledger, 0, seq, seq)
	}
	return model
}

func position(t *testing.T, store projections.Store) projections.Position {
	t.Helper()
	position, err := store.Position(contextFor(t))
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return position
}
