package postgres_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ledgerd/ledgerd/internal/pgtest"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
	"github.com/ledgerd/ledgerd/store/postgres"
)

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func query[T any](t *testing.T, conn *pgx.Conn, text string, args ...any) []T {
	t.Helper()
	rows, err := conn.Query(t.Context(), text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	values, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return values
}

// filled is a database with the story in it.
func filled(t *testing.T) (url string, store *postgres.Store, ledger *projectionstest.Ledger) {
	t.Helper()
	url = pgtest.Database(t)
	store, err := postgres.Open(t.Context(), url)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	t.Cleanup(func() { _ = store.Close() })
	ledger = projectionstest.Story(t)
	if err := store.Apply(t.Context(), projections.Position{}, ledger.Position(ledger.Last()), ledger.Fold(0, ledger.Last())); err != nil {
		t.Fatalf("%+v", err)
	}
	return url, store, ledger
}

// TestEverythingIsExplained: every view and column that people read says what
// it is.
func TestEverythingIsExplained(t *testing.T) {
	url, _, _ := filled(t)
	conn := connect(t, url)
	silent := query[string](t, conn, `
		SELECT c.relname || coalesce('.' || a.attname, '')
		FROM pg_class AS c
			LEFT JOIN LATERAL (SELECT attname, attnum FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0
				UNION ALL SELECT NULL, 0) AS a ON true
		WHERE c.relnamespace = 'ledger'::regnamespace AND coalesce(col_description(c.oid, a.attnum), obj_description(c.oid)) IS NULL
			OR c.relnamespace = 'ledger'::regnamespace AND a.attnum > 0 AND col_description(c.oid, a.attnum) IS NULL`)
	if len(silent) > 0 {
		t.Errorf("without a comment: %v", silent)
	}
	if views := query[string](t, conn, "SELECT viewname FROM pg_views WHERE schemaname = 'ledger'"); len(views) != len(projections.Views())+2 {
		t.Errorf("the views are %v", views)
	}
}

// TestReaderRole: who has the role reads every view, and nothing but them.
func TestReaderRole(t *testing.T) {
	url, _, _ := filled(t)
	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), "SET ROLE ledger_reader"); err != nil {
		t.Fatal(err)
	}
	for _, view := range append([]string{"progress", "shared_measurements"}, names(projections.Views())...) {
		if n := query[int64](t, conn, "SELECT count(*) FROM ledger."+view); n[0] == 0 {
			t.Errorf("view %s is empty", view)
		}
	}
	for _, text := range []string{
		"SELECT * FROM ledger_internal.progress", "SELECT * FROM ledger_g1.imports", "DELETE FROM ledger.entries", "UPDATE ledger.campaigns SET label = ''",
		"CREATE TABLE ledger.mine (id int)", "DROP VIEW ledger.entries", "TRUNCATE ledger_g1.entries",
	} {
		_, err := conn.Exec(t.Context(), text)
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != "42501" && refused.Code != "55000" { // no privilege; no updatable view
			t.Errorf("%s: %v", text, err)
		}
	}
}

func names(views []projections.View) []string {
	var list []string
	for _, view := range views {
		list = append(list, string(view))
	}
	return list
}

// TestViewsTellTheStory: what SQL users read, exactly.
func TestViewsTellTheStory(t *testing.T) {
	url, _, ledger := filled(t)
	conn := connect(t, url)
	for text, want := range map[string]string{
		"SELECT as_of FROM ledger.progress":                                                                    "31",
		"SELECT verdict FROM ledger.campaigns WHERE id = 'alpha'":                                              "not_qualified",
		"SELECT count(*) FROM ledger.cells WHERE outcome = 'passed'":                                           "2",
		"SELECT status FROM ledger.cells WHERE campaign = 'alpha' AND scenario = 'scenario-1' AND ordinal = 1": "passed",
		"SELECT sum(cost_usd) = 0.1 + 5e-324::numeric FROM ledger.cells":                                       "true",
		"SELECT (spent_cost_usd - 0.3) * 1e324 FROM ledger.campaigns WHERE id = 'alpha'":                       "5",
		"SELECT day FROM ledger.imports WHERE ledger_index = 5":                                                "2026-01-03",
		"SELECT cells FROM ledger.checkpoints WHERE run_id = 'run-1'":                                          "{scenario-0/1}",
		"SELECT authority ->> 'runId' FROM ledger.checkpoints WHERE outcome = 'bound'":                         "run-1",
		"SELECT string_agg(campaign, ',' ORDER BY campaign) FROM ledger.shared_measurements WHERE voided":      "beta",
		"SELECT count(*) FROM ledger.usage WHERE day BETWEEN '2026-01-02' AND '2026-01-03'":                    "2",
		"SELECT record_sha256 FROM ledger.entries WHERE ledger_index = 7":                                      ledger.Hashes[7],
	} {
		got := query[string](t, conn, "SELECT regexp_replace(x::text, '\\.0+$', '') FROM ("+text+") AS q (x)")
		if len(got) != 1 || got[0] != want {
			t.Errorf("%s is %v, want %s", text, got, want)
		}
	}
}

// TestConstraintsHaveNames: an error of the database says what was broken.
func TestConstraintsHaveNames(t *testing.T) {
	_, store, ledger := filled(t)
	imported := ledger.Fold(5, 6).Imports[0]
	for want, change := range map[string]func(*projections.Import){
		"imports_key":                  func(i *projections.Import) { i.Index = imported.Index },
		"imports_import_key_once":      func(i *projections.Import) { i.ImportKey = imported.ImportKey },
		"imports_measurement_key_once": func(i *projections.Import) { i.MeasurementKey = imported.MeasurementKey },
		"imports_slot_once":            func(i *projections.Import) { i.ScenarioID = imported.ScenarioID },
	} {
		row := imported
		row.Index, row.ImportKey, row.MeasurementKey, row.ScenarioID = 100, "another", "another", "another"
		change(&row)
		err := store.Apply(t.Context(), ledger.Position(ledger.Last()), ledger.Position(1), &projections.Changes{Imports: []projections.Import{row}})
		var broken *pgconn.PgError
		if !errors.As(err, &broken) || broken.ConstraintName != want {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestSQLUsersSeeNoGap: statements on the SQL views are whole, and never go
// back, while the views are rebuilt and switched under them.
func TestSQLUsersSeeNoGap(t *testing.T) {
	url, store, ledger := filled(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	conn := connect(t, url)
	var reading sync.WaitGroup
	reading.Go(func() {
		last := int64(0)
		for ctx.Err() == nil {
			var asOf, entries, missing int64
			err := conn.QueryRow(ctx, `SELECT (SELECT as_of FROM ledger.progress), (SELECT count(*) FROM ledger.entries),
				(SELECT count(*) FROM ledger.cells WHERE import_index IS NOT NULL AND import_key IS NULL)`).Scan(&asOf, &entries, &missing)
			if ctx.Err() != nil {
				return
			}
			if err != nil || entries != asOf+1 || missing != 0 || asOf < last {
				t.Errorf("%d entries as of %d, before as of %d, %d cells without their import: %v", entries, asOf, last, missing, err)
				return
			}
			last = asOf
		}
	})
	for range 5 {
		at := ledger.Position(ledger.Last())
		ledger.Malformed("alpha", "cell")
		if err := store.Apply(t.Context(), at, ledger.Position(ledger.Last()), ledger.Fold(at.Seq, ledger.Last())); err != nil {
			t.Fatalf("%+v", err)
		}
		if _, err := projections.Rebuild(t.Context(), projections.RebuildConfig{Log: ledger.Log, Store: store}); err != nil {
			t.Fatalf("%+v", err)
		}
	}
	stop()
	reading.Wait()
}

// TestIdleReaderIsWaitedFor: a transaction that has read a SQL view holds the
// switch up, but neither Apply nor, for long, other readers.
func TestIdleReaderIsWaitedFor(t *testing.T) {
	url, store, ledger := filled(t)
	idle, other := connect(t, url), connect(t, url)
	tx, err := idle.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT count(*) FROM ledger.entries"); err != nil {
		t.Fatal(err)
	}
	rebuilt := make(chan error, 1)
	go func() {
		_, err := projections.Rebuild(t.Context(), projections.RebuildConfig{Log: ledger.Log, Store: store})
		rebuilt <- err
	}()
	for query[int64](t, other, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'ledger.entries'::regclass")[0] == 0 {
		if len(rebuilt) > 0 {
			t.Fatalf("the switch did not wait: %v", <-rebuilt)
		}
	}
	at := ledger.Position(ledger.Last())
	ledger.Malformed("alpha", "cell")
	if err := store.Apply(t.Context(), at, ledger.Position(ledger.Last()), ledger.Fold(at.Seq, ledger.Last())); err != nil {
		t.Errorf("apply: %+v", err)
	}
	if n := query[int64](t, other, "SELECT count(*) FROM ledger.entries"); n[0] != int64(ledger.Last()) {
		t.Errorf("%d entries, want %d", n[0], ledger.Last())
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-rebuilt; err != nil {
		t.Errorf("%+v", err)
	}
	if at, err := store.Position(t.Context()); err != nil || at != ledger.Position(ledger.Last()) {
		t.Errorf("the views are at %+v, %v", at, err)
	}
}

// TestOldReadersKeepTheirTables: a snapshot that is older than a switch goes on
// reading what it began with; the tables go when it has ended.
func TestOldReadersKeepTheirTables(t *testing.T) {
	url, store, ledger := filled(t)
	conn := connect(t, url)
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var before int64
	if err := tx.QueryRow(t.Context(), "SELECT count(*) FROM ledger_g1.entries").Scan(&before); err != nil {
		t.Fatal(err)
	}
	if _, err := projections.Rebuild(t.Context(), projections.RebuildConfig{Log: ledger.Log, Store: store}); err != nil {
		t.Fatalf("%+v", err)
	}
	var after int64
	if err := tx.QueryRow(t.Context(), "SELECT count(*) FROM ledger_g1.entries").Scan(&after); err != nil || after != before {
		t.Errorf("%d entries, %d before: %v", after, before, err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	schemas := "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'ledger\\_g%' ORDER BY 1"
	if left := query[string](t, conn, schemas); strings.Join(left, " ") != "ledger_g1 ledger_g2" {
		t.Errorf("while it was read: %v", left)
	}
	if _, err := projections.Rebuild(t.Context(), projections.RebuildConfig{Log: ledger.Log, Store: store}); err != nil {
		t.Fatalf("%+v", err)
	}
	if left := query[string](t, conn, schemas); strings.Join(left, " ") != "ledger_g3" {
		t.Errorf("after it: %v", left)
	}
}

// TestUnavailable: without a server everything is unavailable and
// nothing is lost.
func TestUnavailable(t *testing.T) {
	server, err := pgtest.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	store, err := postgres.Open(t.Context(), server.Database(t))
	if err != nil {
		t.Fatalf("%+v", err)
	}
	defer store.Close()
	ledger := projectionstest.Story(t)
	build, err := store.Build(t.Context())
	if err != nil {
		t.Fatalf("%+v", err)
	}
	server.Kill()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 3 { // the pool notices one dead connection at a time
		err = store.Apply(ctx, projections.Position{}, ledger.Position(5), ledger.Fold(0, 5))
		if !errors.Is(err, projections.ErrUnavailable) {
			t.Errorf("apply: %+v", err)
		}
		if _, err := store.Position(ctx); !errors.Is(err, projections.ErrUnavailable) {
			t.Errorf("position: %+v", err)
		}
	}
	if err := build.Load(ctx, projections.Position{}, ledger.Position(5), ledger.Fold(0, 5)); !errors.Is(err, projections.ErrUnavailable) {
		t.Errorf("load: %+v", err)
	}
	if err := build.Close(ctx); !errors.Is(err, projections.ErrUnavailable) {
		t.Errorf("close a build: %+v", err)
	}
	if _, err := postgres.Open(ctx, "postgres://nobody@127.0.0.1:1/none"); err == nil || len(errors.GetAllHints(err)) == 0 {
		t.Errorf("a wrong url: %v", err)
	}
	if _, err := postgres.Open(ctx, "mysql://x"); err == nil || len(errors.GetAllHints(err)) == 0 {
		t.Errorf("no url: %v", err)
	}
}

// TestUnprivileged: a user that owns a database and may not make roles.
func TestUnprivileged(t *testing.T) {
	url := pgtest.Database(t)
	admin := connect(t, url)
	var name string
	if err := admin.QueryRow(t.Context(), "SELECT current_database()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Exec(t.Context(), "CREATE ROLE owner_of_"+name+" LOGIN; ALTER DATABASE "+name+" OWNER TO owner_of_"+name); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		store, err := postgres.Open(t.Context(), strings.Replace(url, "//ledgerd@", "//owner_of_"+name+"@", 1))
		if err != nil {
			t.Fatalf("%+v", err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOpenAtOnce: several daemons start on an empty database.
func TestOpenAtOnce(t *testing.T) {
	url := pgtest.Database(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			store, err := postgres.Open(t.Context(), url)
			if err != nil {
				t.Errorf("%+v", err)
				return
			}
			_ = store.Close()
		})
	}
	all.Wait()
}
