package observer_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ledgerd/ledgerd/cmd/ingest/internal/observer"
	"github.com/ledgerd/ledgerd/cmd/ingest/internal/observer/observertest"
	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/strictjson"
	"github.com/ledgerd/ledgerd/internal/pgtest"
)

// runner is a runner's database with one run in it, whose claim binds.
type runner struct {
	*observertest.Database
	observertest.Run
	cp checkpoint.Checkpoint // as it was kept at first
}

// newRunner makes the database on the server that all tests share.
func newRunner(t *testing.T) *runner { return newRunnerOn(t, pgtest.Shared(t)) }

// newRunnerOn writes a recorded checkpoint that binds, and who owns it.
func newRunnerOn(t *testing.T, server *pgtest.Server) *runner {
	t.Helper()
	v := recorded(t)
	workspaceID, _ := v.Get("executionWorkspaceId").Text()
	r := &runner{
		Database: observertest.New(t, server),
		Run:      observertest.Run{Publication: v.Get("publication"), WorkspaceID: workspaceID},
		cp:       checkpoint.Checkpoint{RunID: v.At("checkpoint", "runId"), RecoveryEvidence: v.At("checkpoint", "recoveryEvidence")},
	}
	for _, pair := range v.At("checkpoint", "records").Elements() {
		key, _ := pair.Elements()[0].Text()
		text, _ := pair.Elements()[1].Text()
		r.cp.Records = append(r.cp.Records, checkpoint.Record{Key: key, Text: text})
	}
	r.Add(t, r.Run)
	r.Keep(t, r.Run, r.cp)
	return r
}

func (r *runner) config() observer.Config {
	return observer.Config{URL: r.URL, Layout: observer.DefaultLayout(), Profile: checkpoint.KimiContext()}
}

// open makes an observer that ends with the test.
func (r *runner) open(t *testing.T, config observer.Config) *observer.Observer {
	t.Helper()
	o, err := observer.New(config)
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
