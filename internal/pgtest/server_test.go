package pgtest_test

import (
	"context"
	"net/url"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/ledgerd/ledgerd/internal/pgtest"
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

func connect(t *testing.T, url string) (*pgx.Conn, error) {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), url)
	if err == nil {
		t.Cleanup(func() { _ = connection.Close(context.Background()) })
	}
	return connection, err
}

func TestDatabasesAreApart(t *testing.T) {
	first, err := connect(t, pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Exec(t.Context(), "CREATE TABLE cell (id int)"); err != nil {
		t.Fatal(err)
	}
	second, err := connect(t, pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	var found bool
	if err := second.QueryRow(t.Context(), "SELECT to_regclass('cell') IS NOT NULL").Scan(&found); err != nil || found {
		t.Errorf("the other database has the table: %t, %v", found, err)
	}
}

func TestStopRemovesEverything(t *testing.T) {
	server, err := pgtest.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(server.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	server.Kill()
	if _, err := connect(t, address.String()); err == nil {
		t.Error("a killed server takes connections")
	}
	server.Stop()
	if _, err := os.Stat(address.Query().Get("host")); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
}
