package observer_test

import (
	"bufio"
	"compress/gzip"
	"context"
	_ "embed"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ledgerd/ledgerd/cmd/ingest/internal/observer"
	"github.com/ledgerd/ledgerd/domain/canonicaljson"
	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/strictjson"
	"github.com/ledgerd/ledgerd/internal/pgtest"
)

//go:embed testdata/runner.sql
var runnerSchema string

// runner is a runner's database with one run in it, whose claim binds.
type runner struct {
	admin       *pgx.Conn // its owner
	url         string    // of a role that may only select
	publication checkpoint.Publication
	workspaceID string
	cp          checkpoint.Checkpoint
}

// newRunner makes the database on the server that all tests share.
func newRunner(t *testing.T) *runner { return newRunnerOn(t, pgtest.Shared(t)) }

func newRunnerOn(t *testing.T, server *pgtest.Server) *runner {
	t.Helper()
	address := server.Database(t)
	admin, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = admin.Close(context.Background())
		<-admin.PgConn().CleanupDone()
	})
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	role := "reader_of_" + strings.TrimPrefix(parsed.Path, "/")
	r := &runner{admin: admin, url: server.URL(role, strings.TrimPrefix(parsed.Path, "/"))}
	r.exec(t, fmt.Sprintf(runnerSchema, role))
	r.fill(t)
	return r
}

func (r *runner) exec(t testing.TB, sql string, arguments ...any) {
	t.Helper()
	if _, err := r.admin.Exec(context.Background(), sql, arguments...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (r *runner) id(name string) string {
	id, _ := r.publication.Get(name).Text()
	return id
}

// fill writes a recorded checkpoint that binds, and who owns it.
func (r *runner) fill(t *testing.T) {
	t.Helper()
	v := recorded(t)
	r.publication = v.Get("publication")
	r.workspaceID, _ = v.Get("executionWorkspaceId").Text()
	r.exec(t, `INSERT INTO heartbeat_runs VALUES ($1, $2, $3, $4, $5, $6, 'native', 'running', $7)`,
		r.id("runId"), r.id("companyId"), r.id("agentId"), r.id("issueId"), r.id("sessionId"), r.id("sourceInstanceId"), r.profile())
	r.exec(t, `INSERT INTO issues VALUES ($1, $2, $3, $4, $5, 'in_progress')`,
		r.id("issueId"), r.id("companyId"), r.workspaceID, r.id("runId"), r.id("agentId"))
	r.exec(t, `INSERT INTO environment_leases VALUES ($1, $2, $3, $4, $5, $6, 'active')`,
		r.id("observerLeaseId"), r.id("environmentId"), r.id("runId"), r.id("companyId"), r.id("issueId"), r.workspaceID)
	r.exec(t, `INSERT INTO execution_workspaces VALUES ($1, $2, $3, 'active')`, r.workspaceID, r.id("companyId"), r.id("issueId"))
	r.exec(t, `INSERT INTO native_runner_checkpoints VALUES ($1, $2, $3, $4)`, r.id("companyId"), r.id("issueId"), r.id("runId"),
		string(canonicaljson.Append(nil, v.At("checkpoint", "recoveryEvidence"))))
	for _, pair := range v.At("checkpoint", "records").Elements() {
		key, _ := pair.Elements()[0].Text()
		text, _ := pair.Elements()[1].Text()
		r.addRecord(t, key, text)
	}
}

func (r *runner) addRecord(t testing.TB, key, text string) {
	t.Helper()
	r.cp.Records = append(r.cp.Records, checkpoint.Record{Key: key, Text: text})
	r.exec(t, `INSERT INTO native_runner_checkpoint_records VALUES ($1, $2, $3, $4, $5, $6)`,
		r.id("companyId"), r.id("issueId"), r.id("runId"), len(r.cp.Records), key, text)
}

// profile is the run's profile as the runner writes it.
func (r *runner) profile() string {
	return fmt.Sprintf(`{"nativeExecutionInput": {"binding": {"companyId": %q, "issueId": %q, "agentId": %q, "runId": %q, "executionWorkspaceId": %q},
		"session": {"normalizedSessionId": %q}, "more": 1}}`,
		r.id("companyId"), r.id("issueId"), r.id("agentId"), r.id("runId"), r.workspaceID, r.id("sessionId"))
}

func (r *runner) config() observer.Config {
	return observer.Config{URL: r.url, Layout: observer.DefaultLayout(), Profile: checkpoint.KimiContext()}
}

// open makes an observer that ends with the test.
func (r *runner) open(t *testing.T, config observer.Config) *observer.Observer {
	t.Helper()
	o, err := observer.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

// recorded is a recorded read that binds.
func recorded(t *testing.T) strictjson.Value {
	t.Helper()
	file, err := os.Open("../../../../domain/checkpoint/testdata/checkpoint-projection.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(unzipped).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	v, err := strictjson.Parse(line)
	if err != nil || !v.At("want", "outcome").IsText("bound") {
		t.Fatalf("the first recorded read does not bind: %v", err)
	}
	return v
}

// with sets a member of an object, or removes it.
func with(object strictjson.Value, name string, value strictjson.Value) strictjson.Value {
	var members []strictjson.Member
	for n, v := range object.Members() {
		if n == name {
			v = value
		}
		members = append(members, strictjson.Member{Name: n, Value: v})
	}
	return strictjson.ObjectValue(members...)
}

// atQuery calls a function once, right before the query with a certain word
// is sent.
type atQuery struct {
	word string
	call func()
	sent []string // every query
}

func (q *atQuery) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	q.sent = append(q.sent, data.SQL)
	if q.call != nil && strings.Contains(data.SQL, q.word) {
		call := q.call
		q.call = nil
		call()
	}
	return ctx
}

func (*atQuery) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
