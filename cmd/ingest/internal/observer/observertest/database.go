package observertest

import (
	"context"
	_ "embed"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ledgerd/ledgerd/internal/pgtest"
)

//go:embed runner.sql
var schema string

// Database is a runner's database. It is for one goroutine at a time.
type Database struct {
	Admin *pgx.Conn // its owner
	URL   string    // of a role that may only select
	owner string    // the owner's url
}

// New makes a database without runs. It ends with the test.
func New(t testing.TB, server *pgtest.Server) *Database {
	t.Helper()
	d := &Database{owner: server.Database(t)}
	d.Connect(t)
	parsed, err := url.Parse(d.owner)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(parsed.Path, "/")
	role := "reader_of_" + name
	d.URL = server.URL(role, name)
	d.Exec(t, fmt.Sprintf(schema, role))
	return d
}

// Connect connects the owner, for the first time or after its server was away.
func (d *Database) Connect(t testing.TB) {
	t.Helper()
	d.Admin = Connect(t, d.owner)
}

// Connect connects until the test ends.
func Connect(t testing.TB, address string) *pgx.Conn {
	t.Helper()
	connection, err := pgx.Connect(context.Background(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = connection.Close(context.Background())
		<-connection.PgConn().CleanupDone()
	})
	return connection
}

// Exec runs a statement as the owner.
func (d *Database) Exec(t testing.TB, sql string, arguments ...any) {
	t.Helper()
	if _, err := d.Admin.Exec(context.Background(), sql, arguments...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}
