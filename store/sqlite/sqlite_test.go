package sqlite_test

import (
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/sqlite"
	"github.com/ledgerd/ledgerd/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// database is a file whose name means something in a URL.
type database struct{ path string }

func fresh(t *testing.T) storetest.Database {
	return database{filepath.Join(t.TempDir(), "views ?#%20é.db")}
}

func (d database) Open(t *testing.T, fault projections.Fault) projections.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), d.path, sqlite.WithFault(fault))
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return store
}

func (d database) SetVersion(t *testing.T, version int) {
	t.Helper()
	store := d.Open(t, nil).(*sqlite.Store)
	defer store.Close()
	if err := store.SetVersion(t.Context(), version); err != nil {
		t.Fatal(err)
	}
}

func (d database) Abandon(t *testing.T, build projections.Build) {
	t.Helper()
	if err := sqlite.Abandon(build); err != nil {
		t.Fatal(err)
	}
}

func TestConformance(t *testing.T) { storetest.Conformance(t, fresh) }
