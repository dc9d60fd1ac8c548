package main

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/cmd/ingest/internal/observer/observertest"
	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/canonicaljson"
	"github.com/ledgerd/ledgerd/domain/checkpoint/checkpointtest"
	"github.com/ledgerd/ledgerd/domain/strictjson"
	"github.com/ledgerd/ledgerd/internal/pgtest"
	"github.com/ledgerd/ledgerd/internal/simci"
	"github.com/ledgerd/ledgerd/projections"
)

// ledger is a daemon of its own, and what it must have been asked.
type ledger struct {
	dataDir string
	http    string

	mutex  sync.Mutex
	last   uint64              // the highest index that a test was told
	wanted map[string][]string // by campaign: answers to checkpoints, in order
}

// startLedger runs a daemon until the test ends.
func startLedger(t *testing.T) *ledger {
	t.Helper()
	l := &ledger{dataDir: t.TempDir(), wanted: map[string][]string{}}
	daemon := start(t, "", "ledgerd", "serve", "--listen", "127.0.0.1:0", "--nats-listen", "127.0.0.1:0", "--data-dir", l.dataDir)
	t.Cleanup(func() {
		if code := daemon.signal(syscall.SIGTERM); code != 0 {
			t.Errorf("SIGTERM ends the daemon with exit code %d:\n%s", code, daemon.errs)
		}
	})
	l.http = daemon.await(t, daemon.out, `http (\S+),`)[1]
	return l
}

// publish publishes what must be accepted.
func (l *ledger) publish(t testing.TB, kind domain.Kind, campaign string, data []byte) {
	t.Helper()
	line := fmt.Sprintf(`{"kind":%q,"campaign":%q,"data":%s}`, kind, campaign, data)
	got := run(t, line, "ingest", "publish", "-", "--wait", "--data-dir", l.dataDir).want(t, 0)
	l.told(lines[decided](t, got.out)...)
}

func (l *ledger) told(answers ...decided) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, answer := range answers {
		l.last = max(l.last, answer.Index)
	}
}

// awaitViews waits until the views have every decision that a test was told.
func (l *ledger) awaitViews(t testing.TB) {
	t.Helper()
	l.mutex.Lock()
	last := l.last
	l.mutex.Unlock()
	answer, err := http.Get(fmt.Sprintf("%s/v1/entries?limit=1&at=%d", l.http, last))
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("the views do not come to %d: %s", last, answer.Status)
	}
}

// query asks the views by the binary.
func query[T any](t testing.TB, l *ledger, args ...string) []T {
	t.Helper()
	l.awaitViews(t)
	got := run(t, "", "ledgerd", append([]string{"query"}, append(args, "--json", "--data-dir", l.dataDir)...)...).want(t, 0)
	var list projections.List[T]
	if err := json.Unmarshal([]byte(got.out), &list); err != nil || list.Next != nil {
		t.Fatalf("%v, %s", err, got.out)
	}
	return list.Items
}

func (l *ledger) checkpoints(t testing.TB, campaign string) []projections.Checkpoint {
	t.Helper()
	return query[projections.Checkpoint](t, l, "checkpoints", "--campaign", campaign)
}

// check holds the ledger's entries to what each campaign must have.
func (l *ledger) check(t *testing.T) {
	t.Helper()
	l.publish(t, domain.KindCampaign, "the-last", simci.Opening("the-last", "chat.greeting")) // behind all that was published
	found := map[string][]string{}
	entries := query[projections.Entry](t, l, "entries", "--kind", string(domain.KindCheckpoint), "--limit", "1000")
	slices.SortFunc(entries, func(a, b projections.Entry) int { return int(a.Index) - int(b.Index) })
	for _, entry := range entries {
		found[entry.Campaign] = append(found[entry.Campaign], string(entry.Outcome))
	}
	maps.DeleteFunc(l.wanted, func(_ string, answers []string) bool { return len(answers) == 0 })
	if diff := cmp.Diff(l.wanted, found); diff != "" {
		t.Errorf("what the ledger was asked differs from what it must have been (-want, +found):\n%s", diff)
	}
}

// observed is a run in a database of its own, and the campaign that its read
// belongs to.
type observed struct {
	ledger   *ledger
	campaign string
	db       *observertest.Database
	run      *checkpointtest.Run // may be altered until it is added
	added    bool
	claim    string // file
}

// observe makes a run for a campaign, which it opens.
func (l *ledger) observe(t testing.TB, campaign string, server *pgtest.Server) *observed {
	t.Helper()
	l.publish(t, domain.KindCampaign, campaign, simci.Opening(campaign, "chat.greeting"))
	return l.observeIn(t, campaign, server)
}

// observeIn makes a run for a campaign.
func (l *ledger) observeIn(t testing.TB, campaign string, server *pgtest.Server) *observed {
	t.Helper()
	return &observed{ledger: l, campaign: campaign, db: observertest.New(t, server), run: checkpointtest.NewRun(campaign)}
}

func (c *observed) owned() observertest.Run {
	return observertest.Run{Publication: c.run.Publication(), WorkspaceID: c.run.WorkspaceID}
}

// add writes the run, once, with its claim in a file.
func (c *observed) add(t testing.TB) {
	t.Helper()
	if c.added {
		return
	}
	c.added = true
	c.db.Add(t, c.owned())
	c.claim = write(t, "claim.json", printed(c.run.Publication()))
}

// keep lets the runner come to a stage.
func (c *observed) keep(t testing.TB, at checkpointtest.Stage) {
	t.Helper()
	c.add(t)
	c.db.Keep(t, c.owned(), c.run.Checkpoint(at))
}

// shared are the flags of every observation.
func (c *observed) shared(claim string) []string {
	return []string{"checkpoint", "--campaign", c.campaign, "--publication", claim, "--data-dir", c.ledger.dataDir, "--interval", "50ms"}
}

// flags observe a claim in a database.
func (c *observed) flags(claim, database string, more ...string) []string {
	return append(append(c.shared(claim), "--database-url", database), more...)
}

// instanceFlags observe the claim in an instance's database.
func (c *observed) instanceFlags(i instance, more ...string) []string {
	return append(append(c.shared(c.claim), "--instance-root", i.root, "--instance-home", i.home, "--instance-id", i.id, "--instance-config", i.config), more...)
}

// start observes the claim in the run's database.
func (c *observed) start(t testing.TB, more ...string) *process {
	t.Helper()
	return start(t, "", "ingest", c.flags(c.claim, c.db.URL, more...)...)
}

// ingest observes it to the end.
func (c *observed) ingest(t testing.TB, more ...string) ran {
	t.Helper()
	return c.start(t, more...).exit(t)
}

// decided checks what the ledger decided, as it was printed: each an outcome
// and, when there is one, a reason.
func (c *observed) decided(t testing.TB, got ran, want ...string) []decided {
	t.Helper()
	answers := lines[decided](t, got.out)
	c.ledger.told(answers...)
	var found []string
	for _, answer := range answers {
		found = append(found, strings.TrimSpace(string(answer.Outcome)+" "+string(answer.Reason)))
		if answer.Kind != domain.KindCheckpoint || answer.Campaign != c.campaign {
			t.Errorf("%+v is about something else", answer)
		}
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Fatalf("%v: the answers differ (-want, +found):\n%s%s", got.args, diff, got.err)
	}
	for _, answer := range answers {
		c.wants(answer.Outcome)
	}
	return answers
}

// wants notes an answer that the ledger must have given in the end.
func (c *observed) wants(outcome domain.Outcome) {
	c.ledger.mutex.Lock()
	defer c.ledger.mutex.Unlock()
	c.ledger.wanted[c.campaign] = append(c.ledger.wanted[c.campaign], string(outcome))
}

// runnerTables are what an observer reads.
var runnerTables = []string{"heartbeat_runs", "issues", "environment_leases", "execution_workspaces", "native_runner_checkpoints", "native_runner_checkpoint_records"}

// rows are all rows of the runner's tables, with when each was written.
func (c *observed) rows(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, table := range runnerTables {
		var rows string
		statement := fmt.Sprintf("SELECT coalesce(string_agg(concat_ws(' ', xmin, xmax, t::text), E'\\n' ORDER BY ctid), '') FROM %s t", table)
		if err := c.db.Admin.QueryRow(t.Context(), statement).Scan(&rows); err != nil {
			t.Fatal(err)
		}
		all[table] = rows
	}
	return all
}

// instance is where an instance lies.
type instance struct{ root, home, id, config string }

// newInstance sets an instance apart.
func newInstance(t testing.TB, database map[string]any) instance {
	t.Helper()
	root := t.TempDir()
	i := instance{root: root, home: filepath.Join(root, "paperclip-home"), id: "run_1-a"}
	i.config = filepath.Join(i.home, "instances", i.id, "config.json")
	raw, err := json.Marshal(map[string]any{"database": database})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(i.config), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(i.config, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return i
}

// write makes a file in a directory of its own.
func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func printed(v strictjson.Value) string { return string(canonicaljson.Append(nil, v)) }

// replaced sets a member of an object.
func replaced(object strictjson.Value, name string, value strictjson.Value) strictjson.Value {
	var members []strictjson.Member
	for n, v := range object.Members() {
		if n == name {
			v = value
		}
		members = append(members, strictjson.Member{Name: n, Value: v})
	}
	return strictjson.ObjectValue(members...)
}
