package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ledgerd/ledgerd/cmd/ingest/internal/observer/observertest"
	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/checkpoint/checkpointtest"
	"github.com/ledgerd/ledgerd/domain/strictjson"
	"github.com/ledgerd/ledgerd/internal/pgtest"
	"github.com/ledgerd/ledgerd/internal/simci"
	"github.com/ledgerd/ledgerd/projections"
)

// TestCheckpoint observes runs in real databases by the real binaries, each in
// a campaign of its own, and holds the ledger to what was published: nothing
// more, and nothing less.
func TestCheckpoint(t *testing.T) {
	l := startLedger(t)
	t.Run("cases", func(t *testing.T) {
		for name, test := range map[string]func(t *testing.T, c *observed){
			"bound":                checkpointBound,
			"settled":              checkpointSettled,
			"contradicted":         checkpointContradicted,
			"deadline":             checkpointDeadline,
			"none-yet":             checkpointNoneYet,
			"once":                 checkpointOnce,
			"not-owned":            checkpointNotOwned,
			"database-away":        checkpointDatabaseAway,
			"database-back":        checkpointDatabaseBack,
			"bad-claim":            checkpointBadClaim,
			"bad-flags":            checkpointBadFlags,
			"instance":             checkpointInstance,
			"instance-not-its-own": checkpointInstanceNotIsolated,
			"reads-only":           checkpointReadsOnly,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, l.observe(t, name, pgtest.Shared(t)))
			})
		}
		t.Run("campaign-unknown", func(t *testing.T) {
			t.Parallel()
			c := l.observeIn(t, "campaign-unknown", pgtest.Shared(t))
			c.keep(t, checkpointtest.Delivered)
			got := c.ingest(t, "--wait").want(t, 3, "the ledger rejected 1 of 1")
			c.decided(t, got, "rejected campaign_unknown")
		})
	})
	l.check(t)
}

func checkpointBound(t *testing.T, c *observed) {
	// The run is one that a cell of the campaign names.
	cell := simci.Cell(c.campaign, "chat.greeting", 1)
	var result struct {
		RunIDs []string `json:"runIds"`
	}
	if err := json.Unmarshal(cell.Execution.Result.Raw, &result); err != nil || len(result.RunIDs) != 1 {
		t.Fatalf("%v, %v", result.RunIDs, err)
	}
	c.ledger.publish(t, domain.KindCell, c.campaign, cell.Body())
	c.run.RunID = result.RunIDs[0]
	c.add(t)
	c.keep(t, checkpointtest.Delivered)
	before := c.rows(t)

	got := c.ingest(t, "--wait").want(t, 0, "the runner's checkpoint: bound")
	first := c.decided(t, got, "accepted")[0]
	got = c.ingest(t, "--wait").want(t, 0)
	if again := c.decided(t, got, "duplicate")[0]; again.Repeats == nil || *again.Repeats != first.Index {
		t.Errorf("%+v must repeat %d", again, first.Index)
	}
	if diff := cmp.Diff(before, c.rows(t)); diff != "" {
		t.Errorf("the runner's database was written to:\n%s", diff)
	}

	view := c.ledger.checkpoints(t, c.campaign)
	if len(view) != 1 || view[0].Outcome != projections.CheckpointBound || view[0].RunID != c.run.RunID || view[0].Index != first.Index ||
		!slices.Equal(view[0].Cells, []projections.SlotName{{ScenarioID: "chat.greeting", Ordinal: 1}}) {
		t.Errorf("%+v", view)
	}
	table := run(t, "", "ledgerd", "query", "checkpoints", "--run-id", c.run.RunID, "--data-dir", c.ledger.dataDir).want(t, 0)
	if !strings.Contains(table.out, "chat.greeting/1") || !strings.Contains(table.out, "bound") {
		t.Errorf("the table is\n%s", table.out)
	}
}

// The run goes on while it is polled.
func checkpointSettled(t *testing.T, c *observed) {
	c.keep(t, checkpointtest.Called)
	receipt := filepath.Join(t.TempDir(), "receipt.json")
	polling := c.start(t, "--wait", "--receipt", receipt)
	polling.await(t, polling.out, `"pending"`)
	if view := c.ledger.checkpoints(t, c.campaign); len(view) != 1 || view[0].Outcome != projections.CheckpointPending || view[0].Detail == "" {
		t.Errorf("meanwhile: %+v", view)
	}
	c.keep(t, checkpointtest.Delivered)
	got := polling.exit(t).want(t, 0, "checkpoint: pending: not in the checkpoint yet", "checkpoint: bound")
	answers := c.decided(t, got, "pending", "accepted")
	if view := c.ledger.checkpoints(t, c.campaign); len(view) != 1 || view[0].Outcome != projections.CheckpointBound || view[0].Index != answers[1].Index {
		t.Errorf("in the end: %+v", view)
	}
	// The receipt that is kept is the final answer's.
	key := run(t, "", "ledgerd", "tree", "key", "--data-dir", c.ledger.dataDir).want(t, 0)
	verified := run(t, "", "ledgerd", "receipt", "verify", receipt, "--key", write(t, "ledger.pub", key.out)).want(t, 0)
	if !strings.Contains(verified.out, fmt.Sprint(answers[1].Index)) {
		t.Errorf("the receipt is another's:\n%s", verified.out)
	}
}

func checkpointContradicted(t *testing.T, c *observed) {
	c.run.DeliveredTo = "agent-of-another-task"
	c.keep(t, checkpointtest.Delivered)
	got := c.ingest(t, "--wait").want(t, 3, "the runner's checkpoint: rejected: ", "the ledger rejected 1 of 1")
	answer := c.decided(t, got, "rejected checkpoint_contradicted")[0]
	if answer.Field == "" || !strings.Contains(answer.Detail, "agent-of-another-task") {
		t.Errorf("%+v", answer)
	}
	if view := c.ledger.checkpoints(t, c.campaign); len(view) != 1 || view[0].Outcome != projections.CheckpointRejected || view[0].Reason != domain.ReasonCheckpointContradicted {
		t.Errorf("%+v", view)
	}
	// Without --wait the ledger's answer is not known here.
	got = c.ingest(t).want(t, 0)
	if sent := lines[published](t, got.out); len(sent) != 1 || sent[0].Kind != domain.KindCheckpoint || sent[0].Arrival <= answer.Arrival {
		t.Errorf("%+v", sent)
	}
	c.wants(domain.Rejected)
}

func checkpointDeadline(t *testing.T, c *observed) {
	c.keep(t, checkpointtest.Approved)
	got := c.ingest(t, "--wait", "--deadline", "3s").want(t, 1, "no final answer in time", "not in the checkpoint yet", "hint: run it again")
	c.decided(t, got, "pending") // once, of many reads
}

func checkpointNoneYet(t *testing.T, c *observed) {
	c.add(t)
	c.ingest(t, "--wait", "--once").want(t, 1, "no checkpoint yet; nothing was published", "hint: ")
	if got := c.ingest(t, "--wait", "--deadline", "500ms").want(t, 1, "no final answer in time", "hint: "); got.out != "" {
		t.Errorf("it published %s", got.out)
	}
}

func checkpointOnce(t *testing.T, c *observed) {
	c.add(t)
	claim, err := os.ReadFile(c.claim)
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range []struct {
		at   checkpointtest.Stage
		want string
	}{{checkpointtest.Answered, "pending"}, {checkpointtest.Answered, "pending"}, {checkpointtest.Delivered, "accepted"}, {checkpointtest.Answered, "duplicate"}} {
		c.keep(t, stage.at)
		got := run(t, string(claim), "ingest", c.flags("-", c.db.URL, "--wait", "--once")...).want(t, 0)
		c.decided(t, got, stage.want)
	}
}

func checkpointNotOwned(t *testing.T, c *observed) {
	c.keep(t, checkpointtest.Delivered)
	for _, change := range [][2]string{
		{"UPDATE environment_leases SET status = 'released'", "UPDATE environment_leases SET status = 'active'"},
		{"UPDATE heartbeat_runs SET status = 'succeeded'", "UPDATE heartbeat_runs SET status = 'running'"},
		{"INSERT INTO environment_leases SELECT * FROM environment_leases", ""},
	} {
		c.db.Exec(t, change[0])
		says := "nothing owns what is claimed"
		if change[1] == "" {
			says = "more than one row owns what is claimed"
		}
		if got := c.ingest(t, "--wait").want(t, 1, says, "hint: "); got.out != "" {
			t.Errorf("%s: it published %s", change[0], got.out)
		}
		c.db.Exec(t, change[1])
	}
}

func checkpointDatabaseAway(t *testing.T, c *observed) {
	c.add(t)
	away := "postgres://observer@/runner?sslmode=disable&host=" + t.TempDir()
	got := run(t, "", "ingest", c.flags(c.claim, away, "--wait", "--deadline", "1s")...).want(t, 1, "no final answer in time", "database is not there", "hint: ")
	if n := strings.Count(got.err, "reading the runner's database again"); n < 2 || got.out != "" {
		t.Errorf("it tried again %d times, and published %q", n, got.out)
	}
	run(t, "", "ingest", c.flags(c.claim, away, "--wait", "--once")...).want(t, 1, "database is not there", "hint: ")
	// Waiting makes no role.
	nobody := strings.Replace(c.db.URL, "reader_of_", "nobody_of_", 1)
	run(t, "", "ingest", c.flags(c.claim, nobody, "--wait")...).want(t, 2, "unusable configuration", "hint: ")
}

// The server crashes while it is polled, and comes back.
func checkpointDatabaseBack(t *testing.T, other *observed) {
	server, err := pgtest.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	c := other.ledger.observe(t, "database-crashed", server)
	c.keep(t, checkpointtest.Called)
	polling := c.start(t, "--wait")
	polling.await(t, polling.out, `"pending"`)
	server.Kill()
	polling.await(t, polling.errs, "reading the runner's database again")
	if err := server.Again(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.db.Connect(t)
	c.keep(t, checkpointtest.Delivered)
	c.decided(t, polling.exit(t).want(t, 0), "pending", "accepted")
}

func checkpointBadClaim(t *testing.T, c *observed) {
	c.add(t)
	publication := c.run.Publication()
	for _, test := range []struct{ name, claim, says string }{
		{"empty", "", "is no claim"},
		{"cut off", `{"runId":`, "is no claim"},
		{"no object", `["run"]`, "is no claim: it is array"},
		{"a name twice", `{"runId":"a","runId":"b"}`, "is no claim"},
		{"nothing in it", "{}", "the publication is not complete"},
		{"an id that is no string", printed(replaced(publication, "requestId", strictjson.NumberValue(1))), "requestId is no string or empty"},
		{"an id that is empty", printed(replaced(publication, "toolCallId", strictjson.TextValue(""))), "toolCallId is no string or empty"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := run(t, "", "ingest", c.flags(write(t, "claim.json", test.claim), c.db.URL, "--wait")...).want(t, 2, test.says, "hint: ")
			if got.out != "" {
				t.Errorf("it published %s", got.out)
			}
		})
	}
	run(t, "", "ingest", c.flags(filepath.Join(t.TempDir(), "nothing"), c.db.URL)...).want(t, 2, "no such file", "hint: ")
}

func checkpointBadFlags(t *testing.T, c *observed) {
	c.keep(t, checkpointtest.Delivered)
	given := []string{"checkpoint", "--campaign", c.campaign, "--publication", c.claim, "--data-dir", c.ledger.dataDir}
	for _, test := range []struct {
		says string
		more []string
	}{
		{"no database is given", nil},
		{"--database-url", []string{"--database-url", c.db.URL, "--instance-root", "/"}},
		{"name two databases", []string{"--database-url", c.db.URL, "--instance-home", "/"}},
		{"unusable configuration", []string{"--database-url", "mysql://localhost/runner"}},
		{"names no records table", []string{"--database-url", c.db.URL, "--records-table="}},
		{"--interval must be longer than 0s", []string{"--database-url", c.db.URL, "--interval", "0s"}},
		{"--deadline must be longer than 0s", []string{"--database-url", c.db.URL, "--deadline", "0s"}},
		{"must be longer than 0s", []string{"--database-url", c.db.URL, "--interval=-1s"}},
		{"--receipt needs --wait", []string{"--database-url", c.db.URL, "--receipt", "receipt.json"}},
		{"--profile must be one of", []string{"--database-url", c.db.URL, "--profile", "another"}},
	} {
		if got := run(t, "", "ingest", append(given, test.more...)...).want(t, 2, test.says); got.out != "" {
			t.Errorf("%v published %s", test.more, got.out)
		}
	}
	// A database that the environment names does not win over an instance that
	// was set apart.
	both := startWith(t, []string{"LEDGERD_RUNNER_DATABASE_URL=" + c.db.URL}, "", "ingest", append(given, "--instance-root", "/")...)
	both.exit(t).want(t, 2, "name two databases", "LEDGERD_RUNNER_DATABASE_URL")
	run(t, "", "ingest", append(given, "--database-url", c.db.URL, "--records-table", "nowhere")...).want(t, 1, "not laid out as configured", "hint: ")
}

func checkpointInstance(t *testing.T, c *observed) {
	c.keep(t, checkpointtest.Delivered)
	i := newInstance(t, map[string]any{"mode": "postgres", "connectionString": c.db.URL})
	got := run(t, "", "ingest", c.instanceFlags(i, "--wait")...).want(t, 0)
	c.decided(t, got, "accepted")
	// Nobody listens at an embedded database's port: it is asked again.
	i = newInstance(t, map[string]any{"mode": "embedded-postgres", "embeddedPostgresPort": 1})
	got = run(t, "", "ingest", c.instanceFlags(i, "--wait", "--deadline", "500ms")...).want(t, 1, "no final answer in time", "127.0.0.1", "reading the runner's database again")
	if strings.Contains(got.err, "paperclip:paperclip") {
		t.Error("it prints a password")
	}
}

func checkpointInstanceNotIsolated(t *testing.T, c *observed) {
	c.keep(t, checkpointtest.Delivered)
	database := map[string]any{"mode": "postgres", "connectionString": c.db.URL}
	for name, change := range map[string]func(i *instance){
		"relative root":     func(i *instance) { i.root = "." },
		"another root":      func(i *instance) { i.root = t.TempDir() },
		"another home":      func(i *instance) { i.home = filepath.Dir(i.home) },
		"no home":           func(i *instance) { i.home = "" },
		"another id":        func(i *instance) { i.id = "run_2" },
		"an id that climbs": func(i *instance) { i.id = ".." },
		"another config":    func(i *instance) { i.config = write(t, "config.json", "{}") },
		"a config that is a link out": func(i *instance) {
			outside := newInstance(t, database)
			if err := errors.CombineErrors(os.Remove(i.config), os.Symlink(outside.config, i.config)); err != nil {
				t.Fatal(err)
			}
		},
		"files outside": func(i *instance) {
			*i = newInstance(t, map[string]any{"mode": "embedded", "embeddedPostgresPort": 1, "embeddedPostgresDataDir": t.TempDir()})
		},
	} {
		i := newInstance(t, database)
		change(&i)
		if got := run(t, "", "ingest", c.instanceFlags(i, "--wait")...).want(t, 2, "the instance is not isolated", "hint: "); got.out != "" {
			t.Errorf("%s: it published %s", name, got.out)
		}
	}
}

// The observer's role has no right to write, and its transaction would not let
// it.
func checkpointReadsOnly(t *testing.T, c *observed) {
	c.keep(t, checkpointtest.Delivered)
	before := c.rows(t)
	reader := observertest.Connect(t, c.db.URL)
	const insufficientPrivilege = "42501"
	for _, table := range runnerTables {
		for _, statement := range []string{"INSERT INTO %s DEFAULT VALUES", "UPDATE %s SET company_id = NULL", "DELETE FROM %s", "TRUNCATE %s"} {
			_, err := reader.Exec(t.Context(), fmt.Sprintf(statement, table))
			var refused *pgconn.PgError
			if !errors.As(err, &refused) || refused.Code != insufficientPrivilege {
				t.Errorf(statement+": %v", table, err)
			}
		}
	}
	if got := c.ingest(t, "--wait", "--records-table", "other.writing").want(t, 1, "read-only transaction"); got.out != "" {
		t.Errorf("it published %s", got.out)
	}
	var written int
	if err := c.db.Admin.QueryRow(t.Context(), "SELECT count(*) FROM other.probe").Scan(&written); err != nil || written != 0 {
		t.Errorf("%d rows were written, %v", written, err)
	}
	if diff := cmp.Diff(before, c.rows(t)); diff != "" {
		t.Errorf("the runner's database was written to:\n%s", diff)
	}
}
