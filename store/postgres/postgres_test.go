package postgres_test

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/ledgerd/ledgerd/internal/pgtest"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/postgres"
	"github.com/ledgerd/ledgerd/store/storetest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	pgtest.StopShared()
	if err := goleak.Find(); err != nil {
		println(err.Error())
		code = 1
	}
	os.Exit(code)
}

// database is one of the shared server's.
type database struct{ url string }

func fresh(t *testing.T) storetest.Database { return database{pgtest.Database(t)} }

func (d database) Open(t *testing.T, fault projections.Fault) projections.Store {
	t.Helper()
	store, err := postgres.Open(t.Context(), d.url, postgres.WithFault(fault))
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return store
}

func (d database) SetVersion(t *testing.T, version int) {
	t.Helper()
	d.exec(t, "UPDATE ledger_internal.progress SET version = $1 WHERE views = 'live'", version)
}

func (d database) Abandon(t *testing.T, build projections.Build) {
	t.Helper()
	if err := postgres.Abandon(build); err != nil {
		t.Fatal(err)
	}
}

func (d database) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), d.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
}

func TestConformance(t *testing.T) { storetest.Conformance(t, fresh) }
