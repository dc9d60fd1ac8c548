package observer_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ledgerd/ledgerd/cmd/ingest/internal/observer"
	"github.com/ledgerd/ledgerd/cmd/ingest/internal/observer/observertest"
	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/strictjson"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/pgtest"
)

func TestReadBinds(t *testing.T) {
	r := newRunner(t)
	o := r.open(t, r.config())
	reading, err := o.Read(t.Context(), r.Publication)
	if err != nil {
		t.Fatal(err)
	}
	if reading.Result.Outcome != checkpoint.Bound || !reading.Final() {
		t.Fatalf("%+v", reading.Result)
	}
	if got, want := reading.Read.Observed, checkpoint.Observe(r.cp); got != want {
		t.Errorf("observed %+v, want %+v", got, want)
	}
	if len(reading.Read.Checkpoint.Records) != 7 { // header, three events, three commands
		t.Errorf("the slice has %d records", len(reading.Read.Checkpoint.Records))
	}
	// What is published is enough for the ledger to come to the same answer.
	again := checkpoint.Project(reading.Read.Checkpoint, reading.Read.Publication, reading.Read.ExecutionWorkspaceID, checkpoint.KimiContext())
	if again.Outcome != checkpoint.Bound || *again.Authority != *reading.Result.Authority {
		t.Errorf("from the slice: %+v", again)
	}
	if _, err := events.EncodeCheckpoint(reading.Read); err != nil {
		t.Error(err)
	}
}

func TestRunWithoutCheckpointIsPending(t *testing.T) {
	r := newRunner(t)
	r.Exec(t, "DELETE FROM native_runner_checkpoints")
	reading, err := r.open(t, r.config()).Read(t.Context(), r.Publication)
	if err != nil || reading.Result.Outcome != checkpoint.Pending || reading.Read != nil {
		t.Errorf("%+v, %v", reading, err)
	}
}

// Each condition of the ownership query alone refuses the claim.
func TestNotOwned(t *testing.T) {
	r := newRunner(t)
	o := r.open(t, r.config())
	columns := map[string][]string{
		"heartbeat_runs": {"id", "company_id", "agent_id", "native_issue_id", "native_session_id", "runner_instance_id", "runtime_mode", "status"},
		"issues":         {"id", "company_id", "execution_workspace_id", "execution_run_id", "assignee_agent_id", "status"},
		"environment_leases": {
			"id", "environment_id", "heartbeat_run_id", "company_id", "issue_id", "execution_workspace_id", "status"},
		"execution_workspaces": {"id", "company_id", "source_issue_id", "status"},
	}
	for table, names := range columns {
		for _, name := range names {
			for _, broken := range []string{"'another'", "NULL"} {
				t.Run(table+"."+name+"="+broken, func(t *testing.T) {
					var original string
					if err := r.Admin.QueryRow(t.Context(), fmt.Sprintf("SELECT %s FROM %s", name, table)).Scan(&original); err != nil {
						t.Fatal(err)
					}
					r.Exec(t, fmt.Sprintf("UPDATE %s SET %s = %s", table, name, broken))
					if _, err := o.Read(t.Context(), r.Publication); !errors.Is(err, observer.ErrNotOwned) || observer.Retryable(err) {
						t.Errorf("got %v", err)
					}
					r.Exec(t, fmt.Sprintf("UPDATE %s SET %s = $1", table, name), original)
				})
			}
		}
	}
	if reading, err := o.Read(t.Context(), r.Publication); err != nil || reading.Result.Outcome != checkpoint.Bound {
		t.Errorf("put right again: %+v, %v", reading.Result, err)
	}
}

// A claimed id that is another than the database's is not owned, or is held
// against the records.
func TestClaimOfAnother(t *testing.T) {
	r := newRunner(t)
	o := r.open(t, r.config())
	for _, name := range checkpoint.PublicationIDs() {
		reading, err := o.Read(t.Context(), with(r.Publication, name, strictjson.TextValue("another")))
		switch name {
		case "turnId", "toolCallId", "actionSha256":
			if err != nil || reading.Result.Reason != checkpoint.Contradicted {
				t.Errorf("%s: %+v, %v", name, reading.Result, err)
			}
		case "requestId":
			if err != nil || reading.Result.Outcome != checkpoint.Pending {
				t.Errorf("%s: %+v, %v", name, reading.Result, err)
			}
		default:
			if !errors.Is(err, observer.ErrNotOwned) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, unusable := range []strictjson.Value{{}, strictjson.NullValue(), strictjson.NumberValue(1), strictjson.TextValue("")} {
			if _, err := o.Read(t.Context(), with(r.Publication, name, unusable)); !errors.Is(err, observer.ErrPublication) {
				t.Errorf("%s as %s: %v", name, unusable.Kind(), err)
			}
		}
	}
}

func TestTwoOwners(t *testing.T) {
	for _, table := range []string{"heartbeat_runs", "issues", "environment_leases", "execution_workspaces", "native_runner_checkpoints"} {
		r := newRunner(t)
		r.Exec(t, fmt.Sprintf("INSERT INTO %[1]s SELECT * FROM %[1]s", table))
		if _, err := r.open(t, r.config()).Read(t.Context(), r.Publication); !errors.Is(err, observer.ErrAmbiguous) {
			t.Errorf("%s: %v", table, err)
		}
	}
}

func TestProfileMustBind(t *testing.T) {
	r := newRunner(t)
	o := r.open(t, r.config())
	profile := r.Profile()
	for _, broken := range []string{
		strings.Replace(profile, r.ID("companyId"), "another", 1), strings.Replace(profile, r.ID("issueId"), "another", 1),
		strings.Replace(profile, r.ID("agentId"), "another", 1), strings.Replace(profile, r.ID("runId"), "another", 1),
		strings.Replace(profile, r.WorkspaceID, "another", 1), strings.Replace(profile, r.ID("sessionId"), "another", 1),
		strings.Replace(profile, "nativeExecutionInput", "another", 1), `{}`, `[]`, `"x"`,
	} {
		r.Exec(t, "UPDATE heartbeat_runs SET runner_profile_json = $1", broken)
		if _, err := o.Read(t.Context(), r.Publication); !errors.Is(err, observer.ErrBinding) {
			t.Errorf("%s: %v", broken, err)
		}
	}
	r.Exec(t, "UPDATE heartbeat_runs SET runner_profile_json = NULL")
	if _, err := o.Read(t.Context(), r.Publication); !errors.Is(err, observer.ErrBinding) {
		t.Errorf("no profile: %v", err)
	}
}

// A read sees one moment: what commits while it goes on is seen by the next.
func TestRowsThatChangeDuringTheRead(t *testing.T) {
	r := newRunner(t)
	change := &atQuery{word: "record_text", call: func() {
		r.Exec(t, "UPDATE native_runner_checkpoint_records SET record_text = '{' WHERE record_key = 'command:3'")
		r.Exec(t, "UPDATE native_runner_checkpoints SET recovery_evidence = '{}'")
	}}
	config := r.config()
	config.Tracer = change
	o := r.open(t, config)
	reading, err := o.Read(t.Context(), r.Publication)
	if err != nil || change.call != nil || reading.Result.Outcome != checkpoint.Bound {
		t.Fatalf("while it changes: %+v, %v", reading.Result, err)
	}
	reading, err = o.Read(t.Context(), r.Publication)
	if err != nil || reading.Result.Outcome != checkpoint.Rejected {
		t.Errorf("afterwards: %+v, %v", reading.Result, err)
	}
}

// The role may only select, and the transaction may not write even where the
// role could.
func TestReadsOnly(t *testing.T) {
	r := newRunner(t)
	trace := &atQuery{}
	config := r.config()
	config.Tracer = trace
	config.Layout.Records = "other.writing"
	_, err := r.open(t, config).Read(t.Context(), r.Publication)
	var refused *pgconn.PgError
	const readOnlyTransaction = "25006"
	if !errors.As(err, &refused) || refused.Code != readOnlyTransaction {
		t.Errorf("a view that writes: %v", err)
	}
	if len(trace.sent) == 0 || !strings.Contains(trace.sent[0], "repeatable read") || !strings.Contains(trace.sent[0], "read only") {
		t.Errorf("the transaction begins with %q", trace.sent)
	}
	reader := observertest.Connect(t, r.URL)
	if _, err := reader.Exec(t.Context(), "UPDATE issues SET status = 'done'"); err == nil {
		t.Error("the role may write")
	}
	var written int
	if err := r.Admin.QueryRow(t.Context(), "SELECT count(*) FROM other.probe").Scan(&written); err != nil || written != 0 {
		t.Errorf("%d rows were written, %v", written, err)
	}
}

func TestSlowQueryIsCut(t *testing.T) {
	r := newRunner(t)
	config := r.config()
	config.Layout.Records = "other.slow"
	config.StatementTimeout = 100 * time.Millisecond
	o := r.open(t, config)
	if _, err := o.Read(t.Context(), r.Publication); !errors.Is(err, observer.ErrSlow) || !observer.Retryable(err) {
		t.Errorf("got %v", err)
	}
	config.Layout.Records = observer.DefaultLayout().Records
	if reading, err := r.open(t, config).Read(t.Context(), r.Publication); err != nil || reading.Result.Outcome != checkpoint.Bound {
		t.Errorf("within the limit: %+v, %v", reading.Result, err)
	}
}

// The time-out is the one that is documented, and the connection the only one.
func TestLimitsInTheServer(t *testing.T) {
	r := newRunner(t)
	var timeout string
	var connections int
	config := r.config()
	config.Tracer = &atQuery{word: "record_text", call: func() {
		if err := r.Admin.QueryRow(context.Background(), "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ledgerd-observer' AND datname = current_database()").Scan(&connections); err != nil {
			t.Error(err)
		}
	}}
	r.Exec(t, "CREATE VIEW other.limited AS SELECT company_id, issue_id, run_id, position, record_key, current_setting('statement_timeout') AS record_text FROM native_runner_checkpoint_records WHERE record_key = 'header'")
	r.Exec(t, "GRANT SELECT ON ALL TABLES IN SCHEMA other TO PUBLIC")
	config.Layout.Records = "other.limited"
	o := r.open(t, config)
	for range 3 {
		reading, err := o.Read(t.Context(), r.Publication)
		if err != nil {
			t.Fatal(err)
		}
		timeout = reading.Read.Checkpoint.Records[0].Text
	}
	if timeout != "5s" || connections != 1 {
		t.Errorf("statement time-out %s, %d connections", timeout, connections)
	}
}

func TestServerGoesAway(t *testing.T) {
	server, err := pgtest.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	r := newRunnerOn(t, server)
	config := r.config()
	config.Tracer = &atQuery{word: "record_text", call: server.Kill}
	o := r.open(t, config)
	for _, when := range []string{"during the read", "before the read"} {
		if _, err := o.Read(t.Context(), r.Publication); !errors.Is(err, observer.ErrUnavailable) || !observer.Retryable(err) {
			t.Errorf("%s: %v", when, err)
		}
	}
	if _, err := r.open(t, config).Read(t.Context(), r.Publication); !errors.Is(err, observer.ErrUnavailable) {
		t.Errorf("the first read of all: %v", err)
	}
}

// A connection that the server ended is replaced by the next read.
func TestReadConnectsAgain(t *testing.T) {
	r := newRunner(t)
	o := r.open(t, r.config())
	if _, err := o.Read(t.Context(), r.Publication); err != nil {
		t.Fatal(err)
	}
	r.Exec(t, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'ledgerd-observer' AND datname = current_database()")
	if _, err := o.Read(t.Context(), r.Publication); !errors.Is(err, observer.ErrUnavailable) {
		t.Errorf("after the server ended the connection: %v", err)
	}
	if reading, err := o.Read(t.Context(), r.Publication); err != nil || reading.Result.Outcome != checkpoint.Bound {
		t.Errorf("the next read: %+v, %v", reading.Result, err)
	}
}

func TestCancelledRead(t *testing.T) {
	r := newRunner(t)
	ctx, cancel := context.WithCancel(t.Context())
	config := r.config()
	config.Layout.Records = "other.slow"
	config.Tracer = &atQuery{word: "record_text", call: cancel}
	if _, err := r.open(t, config).Read(ctx, r.Publication); !errors.Is(err, context.Canceled) || observer.Retryable(err) {
		t.Errorf("got %v", err)
	}
}

func TestLayout(t *testing.T) {
	r := newRunner(t)
	r.Exec(t, `CREATE TABLE other."Check points" ("Co" text, "I" text, "Run ""id""" text, evidence text)`)
	r.Exec(t, `CREATE TABLE other.records ("Co" text, "I" text, "Run ""id""" text, n text, k text, t json)`)
	r.Exec(t, `INSERT INTO other."Check points" SELECT company_id, issue_id, run_id, recovery_evidence FROM native_runner_checkpoints`)
	r.Exec(t, `INSERT INTO other.records SELECT company_id, issue_id, run_id, position::text, record_key, record_text::json FROM native_runner_checkpoint_records`)
	r.Exec(t, "GRANT SELECT ON ALL TABLES IN SCHEMA other TO PUBLIC")
	config := r.config()
	config.Layout = observer.Layout{
		Checkpoints: "other.Check points", Evidence: "evidence", Records: "other.records", Key: "k", Text: "t", Order: "n",
		CompanyID: "Co", IssueID: "I", RunID: `Run "id"`,
	}
	reading, err := r.open(t, config).Read(t.Context(), r.Publication)
	if err != nil || reading.Result.Outcome != checkpoint.Bound || reading.Read.Observed != checkpoint.Observe(r.cp) {
		t.Errorf("%+v, %v", reading.Result, err)
	}
}

func TestLayoutThatIsNotThere(t *testing.T) {
	r := newRunner(t)
	for name, change := range map[string]func(*observer.Layout){
		"table":        func(l *observer.Layout) { l.Records = "nowhere" },
		"column":       func(l *observer.Layout) { l.Evidence = "nothing" },
		"not readable": func(l *observer.Layout) { l.Checkpoints = "other.secret" },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "not readable" {
				r.Exec(t, "CREATE TABLE other.secret AS SELECT * FROM native_runner_checkpoints")
			}
			config := r.config()
			change(&config.Layout)
			if _, err := r.open(t, config).Read(t.Context(), r.Publication); !errors.Is(err, observer.ErrSchema) {
				t.Errorf("got %v", err)
			}
		})
	}
	config := r.config()
	config.Layout.Order = ""
	if _, err := observer.New(config); !errors.Is(err, observer.ErrConfig) {
		t.Errorf("a layout with a hole: %v", err)
	}
	config = r.config()
	config.URL = "mysql://x"
	if _, err := observer.New(config); !errors.Is(err, observer.ErrConfig) {
		t.Errorf("another database's url: %v", err)
	}
}

// Waiting makes no role and no database: such a read is not tried again.
func TestURLOfNobody(t *testing.T) {
	r := newRunner(t)
	parsed, err := url.Parse(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*url.URL){
		func(u *url.URL) { u.User = url.User("nobody_at_all") },
		func(u *url.URL) { u.Path = "/nowhere" },
	} {
		changed, config := *parsed, r.config()
		change(&changed)
		config.URL = changed.String()
		_, err := r.open(t, config).Read(t.Context(), r.Publication)
		if !errors.Is(err, observer.ErrConfig) || observer.Retryable(err) || errors.FlattenHints(err) == "" {
			t.Errorf("%s: %v", config.URL, err)
		}
	}
}

// Ids may be uuids in the database; one that is none is not there.
func TestIDsThatAreUUIDs(t *testing.T) {
	r := newRunner(t)
	r.Exec(t, "UPDATE environment_leases SET id = '00000000-0000-4000-8000-000000000001'")
	r.Exec(t, "ALTER TABLE environment_leases ALTER COLUMN id TYPE uuid USING id::uuid")
	o := r.open(t, r.config())
	if _, err := o.Read(t.Context(), r.Publication); !errors.Is(err, observer.ErrNotOwned) {
		t.Errorf("an id that is no uuid: %v", err)
	}
	reading, err := o.Read(t.Context(), with(r.Publication, "observerLeaseId", strictjson.TextValue("00000000-0000-4000-8000-000000000001")))
	if err != nil || reading.Result.Outcome != checkpoint.Bound {
		t.Errorf("%+v, %v", reading.Result, err)
	}
}

// Reading stops one record past the limit, which refuses the read.
func TestTooManyRecords(t *testing.T) {
	r := newRunner(t)
	fill := func(until int) {
		r.Exec(t, `INSERT INTO native_runner_checkpoint_records SELECT company_id, issue_id, run_id, n, 'note:' || n, ''
			FROM native_runner_checkpoints, generate_series((SELECT count(*) + 1 FROM native_runner_checkpoint_records), $1::bigint) n`, until)
	}
	o := r.open(t, r.config())
	fill(checkpoint.MaxRecords)
	reading, err := o.Read(t.Context(), r.Publication)
	if err != nil || reading.Result.Outcome != checkpoint.Bound || reading.Read.Observed.Records != checkpoint.MaxRecords {
		t.Errorf("%d records: %+v, %v", checkpoint.MaxRecords, reading.Result, err)
	}
	fill(checkpoint.MaxRecords + 10)
	reading, err = o.Read(t.Context(), r.Publication)
	if err != nil || reading.Result.Reason != checkpoint.Limit || reading.Read.Observed.Records != checkpoint.MaxRecords+1 {
		t.Errorf("more: %+v, %v", reading.Result, err)
	}
	if diff := cmp.Diff(r.cp.Records[:1], reading.Read.Checkpoint.Records); diff != "" {
		t.Errorf("the slice: %s", diff)
	}
}
