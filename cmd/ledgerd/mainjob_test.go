package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/simci"
	"github.com/ledgerd/ledgerd/store/sqlite"
)

// answer is a line of `ingest … --wait`.
type answer struct {
	Arrival  uint64         `json:"arrival"`
	Campaign string         `json:"campaign"`
	Kind     domain.Kind    `json:"kind"`
	Outcome  domain.Outcome `json:"outcome"`
	Reason   domain.Reason  `json:"reason"`
	Field    string         `json:"field"`
	Detail   string         `json:"detail"`
	Repeats  *uint64        `json:"repeats"`
	Index    uint64         `json:"index"`
	ID       string         `json:"id"`
}

func answers(t testing.TB, out string) []answer {
	t.Helper()
	var all []answer
	for line := range strings.Lines(out) {
		var a answer
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&a); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, a)
	}
	return all
}

// TestMainJob publishes a campaign with 200 cells and every trouble by the real
// binaries, and then the same file again.
func TestMainJob(t *testing.T) {
	ci, err := simci.New(simci.Config{Seed: 11, Scenarios: 100, Troubles: simci.EachTrouble()})
	if err != nil {
		t.Fatal(err)
	}
	var plan []simci.Arrival
	var lines strings.Builder
	for arrival := range ci.Arrivals() {
		plan = append(plan, arrival)
		data := string(arrival.Body)
		if !json.Valid(arrival.Body) {
			data = `"` + arrival.Campaign + `"` // a line must be JSON; what is in it must not make sense
		}
		fmt.Fprintf(&lines, `{"kind":%q,"campaign":%q,"data":%s}`+"\n", arrival.Kind, arrival.Campaign, data)
	}
	file := filepath.Join(t.TempDir(), "facts.jsonl")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	dataDir := t.TempDir()
	daemon := startProcess(t, "--data-dir", dataDir).awaitReady(t)

	out, stderr, code := runBinary(t, "", "ingest", "publish", file, "--wait", "--data-dir", dataDir)
	if code != 3 {
		t.Fatalf("exit code %d, want 3: %s", code, stderr)
	}
	got := answers(t, out)
	if len(got) != len(plan) {
		t.Fatalf("%d answers for %d arrivals", len(got), len(plan))
	}
	for i, a := range got {
		want := plan[i].Want
		if a.Arrival != uint64(i)+1 || a.Index != uint64(i) || a.Outcome != want.Outcome || a.Reason != want.Reason || a.Kind != plan[i].Kind || a.Campaign != plan[i].Campaign {
			t.Errorf("arrival %d (%s): %+v, want %s %s", i+1, plan[i].Trouble, a, want.Outcome, want.Reason)
		}
		if a.Outcome == domain.Rejected && a.Detail == "" {
			t.Errorf("arrival %d is rejected without a sentence", i+1)
		}
	}
	before := tallies(t, dataDir, uint64(len(plan)), ci)

	out, _, code = runBinary(t, "", "ingest", "publish", file, "--wait", "--data-dir", dataDir)
	if code != 3 {
		t.Fatalf("the same file again: exit code %d, want 3", code)
	}
	for i, a := range answers(t, out) {
		// A checkpoint that never bound is read again like the first time.
		waits := a.Outcome == domain.Pending && plan[i].Trouble != simci.Awaited
		if a.Outcome == domain.Accepted || waits {
			t.Errorf("arrival %d again (%s): %+v", i+1, plan[i].Trouble, a)
		}
		if got[i].Outcome == domain.Accepted && a.Outcome == domain.Duplicate && *a.Repeats != got[i].Index {
			t.Errorf("arrival %d again repeats %d, want %d", i+1, *a.Repeats, got[i].Index)
		}
	}
	if after := tallies(t, dataDir, 2*uint64(len(plan)), ci); after != before {
		t.Errorf("the same file again changes\n%s\nto\n%s", before, after)
	}
	for i, want := range ci.Expected() {
		if !strings.Contains(before, fmt.Sprintf("%d %s ", i, want.Verdict)) {
			t.Errorf("campaign %s is not %s: %s", want.ID, want.Verdict, before)
		}
	}
	arrivalLog, ledgerLog := readerOf(t, dataDir)
	checkLedger(t, readAll(t, arrivalLog), readAll(t, ledgerLog))
	checkViews(t, dataDir, ledgerLog, 2*uint64(len(plan)))
	daemon.stop(t)
}

// tallies is what must not change when facts are published again: verdict,
// counts, spend, slots and imports. It waits for the views.
func tallies(t testing.TB, dataDir string, last uint64, ci *simci.CI) string {
	t.Helper()
	ctx := withPatience(t)
	store, err := sqlite.Open(ctx, filepath.Join(dataDir, viewsName))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	eventually(t, "the views have every decision", func() bool {
		position, err := store.Position(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return position.Seq >= last
	})
	var b strings.Builder
	for i, id := range ci.Campaigns() {
		campaign, err := readCampaign(ctx, store, id)
		if err != nil {
			t.Fatal(err)
		}
		c := campaign.Campaign
		c.Last = c.Opened
		c.RefusedAfterSeal = 0 // arrivals are counted: what comes again is refused again
		rest, err := json.Marshal(struct {
			Campaign, Cells any
		}{c, campaign.Cells})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%d %s %s\n", i, c.Verdict, rest)
	}
	return b.String()
}

// TestArtifacts publishes what the simulated CI's jobs left behind, archive by
// archive.
func TestArtifacts(t *testing.T) {
	ci, err := simci.New(simci.Config{Seed: 5, Scenarios: 6})
	if err != nil {
		t.Fatal(err)
	}
	dir, dataDir := t.TempDir(), t.TempDir()
	artifacts, err := ci.WriteArtifacts(withPatience(t), dir)
	if err != nil {
		t.Fatal(err)
	}
	startProcess(t, "--data-dir", dataDir).awaitReady(t)
	campaign := ci.Campaigns()[0]
	opening := filepath.Join(filepath.Dir(artifacts[0].Archive), "campaign.json")
	if out, stderr, code := runBinary(t, "", "ingest", "campaign", "open", opening, "--campaign", campaign, "--wait", "--data-dir", dataDir); code != 0 {
		t.Fatalf("open: exit code %d: %s%s", code, out, stderr)
	}
	for _, artifact := range artifacts {
		args := []string{"artifact", artifact.Archive, "--campaign", campaign, "--provenance", artifact.Provenance, "--wait", "--data-dir", dataDir}
		out, stderr, code := runBinary(t, "", "ingest", args...)
		if code != 0 {
			t.Fatalf("%s: exit code %d: %s%s", artifact.Archive, code, out, stderr)
		}
		found := answers(t, out)
		if len(found) != artifact.Executions {
			t.Errorf("%s: %d answers for %d executions", artifact.Archive, len(found), artifact.Executions)
		}
		for _, a := range found {
			if a.Outcome != domain.Accepted {
				t.Errorf("%s: %+v", artifact.Archive, a)
			}
		}
	}
	out, stderr, code := runBinary(t, "", "ingest", "campaign", "seal", campaign, "--actor", "ana", "--wait", "--data-dir", dataDir)
	if code != 0 {
		t.Fatalf("seal: exit code %d: %s", code, stderr)
	}
	sealed := answers(t, out)[0]
	status, _, code := runBinary(t, "", "ingest", "status", fmt.Sprint(sealed.Arrival), "--data-dir", dataDir)
	if code != 0 || fmt.Sprint(answers(t, status)[0]) != fmt.Sprint(sealed) {
		t.Errorf("status: exit code %d, %s", code, status)
	}
	table, _, code := runBinary(t, "", "ledgerd", "query", "campaign", campaign, "--data-dir", dataDir)
	if code != 0 || !strings.Contains(table, "verdict    qualified") {
		t.Errorf("query: exit code %d\n%s", code, table)
	}
}

// TestAnIDThatWasUsedBefore swallows no fact in silence.
func TestAnIDThatWasUsedBefore(t *testing.T) {
	dataDir := t.TempDir()
	startProcess(t, "--data-dir", dataDir).awaitReady(t)
	publish := func(campaign string, more ...string) (string, string, int) {
		line := `{"kind":"seal","campaign":"` + campaign + `","data":{"actor":"ana"},"id":"job-7"}`
		return runBinary(t, line, "ingest", append([]string{"publish", "-", "--data-dir", dataDir}, more...)...)
	}
	if out, stderr, code := publish("a"); code != 0 {
		t.Fatalf("exit code %d: %s%s", code, out, stderr)
	}
	if out, stderr, code := publish("a"); code != 0 || !strings.Contains(out, `"arrival":1,`) {
		t.Errorf("a retry of the same publication: exit code %d: %s%s", code, out, stderr)
	}
	for _, more := range [][]string{nil, {"--wait"}} {
		if out, stderr, code := publish("b", more...); code != 1 || !strings.Contains(stderr, "used before") {
			t.Errorf("another fact under the id %v: exit code %d: %s%s", more, code, out, stderr)
		}
	}
}

// TestReceiptOfADecision keeps a receipt and verifies it with the public key
// alone.
func TestReceiptOfADecision(t *testing.T) {
	dataDir, dir := t.TempDir(), t.TempDir()
	daemon := startProcess(t, "--data-dir", dataDir).awaitReady(t)
	facts := `{"kind":"seal","campaign":"a","data":{"actor":"ana"}}` + "\n" + `{"kind":"seal","campaign":"b","data":{"actor":"ana"}}`
	if _, stderr, code := runBinary(t, facts, "ingest", "publish", "-", "--wait", "--receipt", filepath.Join(dir, "r.json"), "--data-dir", dataDir); code != 3 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	key, _, code := runBinary(t, "", "ledgerd", "tree", "key", "--data-dir", dataDir)
	if code != 0 {
		t.Fatalf("tree key: exit code %d", code)
	}
	keyFile := filepath.Join(dir, "ledger.pub")
	if err := os.WriteFile(keyFile, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon.stop(t)
	for _, name := range []string{"r-0.json", "r-1.json"} {
		if out, stderr, code := runBinary(t, "", "ledgerd", "receipt", "verify", filepath.Join(dir, name), "--key", keyFile); code != 0 {
			t.Errorf("%s: exit code %d: %s%s", name, code, out, stderr)
		}
	}
}

// TestBadInput is what people type and feed: each has its exit code, says what
// is wrong and what to do, and publishes nothing.
func TestBadInput(t *testing.T) {
	dir, dataDir := t.TempDir(), t.TempDir()
	startProcess(t, "--data-dir", dataDir).awaitReady(t)
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	provenance := file("provenance.json", `{"repository":"a","workflow":"b","workflowRef":"c","runId":"1","runAttempt":1,"artifactId":"1","targetSourceRevision":"x"}`)
	good := `{"kind":"seal","campaign":"a","data":{"actor":"ana"}}` + "\n"
	for _, test := range []struct {
		name  string
		code  int
		says  string
		stdin string
		args  []string
	}{
		{"no command", 2, "expected one of", "", nil},
		{"unknown flag", 2, "unknown flag", "", []string{"publish", "-", "--wat"}},
		{"no such file", 2, "no such file", "", []string{"publish", filepath.Join(dir, "nothing")}},
		{"nothing to publish", 2, "no line", "\n\n", []string{"publish", "-"}},
		{"a line that is cut off", 2, "line 2", good + `{"kind":`, []string{"publish", "-"}},
		{"a line with an unknown kind", 2, "none of", good + `{"kind":"cells","campaign":"a","data":1}`, []string{"publish", "-"}},
		{"a line with an illegal campaign", 2, "no legal id", good + `{"kind":"cell","campaign":"a.b","data":1}`, []string{"publish", "-"}},
		{"a line with a typo", 2, "line 1", `{"kind":"cell","campaing":"a","data":1}`, []string{"publish", "-"}},
		{"a line without data", 2, "data is missing", `{"kind":"cell","campaign":"a"}`, []string{"publish", "-"}},
		{"data beyond the limit", 2, "are carried", `{"kind":"cell","campaign":"a","data":"` + strings.Repeat("x", events.MaxArrivalBytes) + `"}`, []string{"publish", "-"}},
		{"a campaign that is no JSON", 2, "nothing was published", "{", []string{"campaign", "open", "-"}},
		{"a campaign with a typo", 2, "/sourcerevision", `{"campaign":"a","sourcerevision":"x"}`, []string{"campaign", "open", "-"}},
		{"a campaign without a name", 2, "--campaign", `{}`, []string{"campaign", "open", "-"}},
		{"an artifact that is no zip", 2, "nothing was published", "", []string{"artifact", provenance, "--campaign", "a", "--provenance", provenance}},
		{"a provenance with a typo", 2, "/repo", "", []string{"artifact", provenance, "--campaign", "a", "--provenance", file("p.json", `{"repo":1}`)}},
		{"a void without a reason", 2, "--reason", "", []string{"void", "1/1/x", "--campaign", "a", "--actor", "ana"}},
		{"a void by nobody", 2, "--actor must not be blank", "", []string{"void", "1/1/x", "--campaign", "a", "--actor=", "--reason", "x"}},
		{"a seal by nobody", 2, "--actor must not be blank", "", []string{"campaign", "seal", "a", "--actor", " "}},
		{"a receipt of no decision", 2, "--receipt needs --wait", "", []string{"campaign", "seal", "a", "--actor", "ana", "--receipt", "f"}},
		{"one id for two facts", 2, "have the same id", `{"kind":"seal","campaign":"a","data":{"actor":"ana"},"id":"1"}` + "\n" + `{"kind":"seal","campaign":"b","data":{"actor":"ana"},"id":"1"}`, []string{"publish", "-"}},
		{"an id with a line break", 2, "control character", `{"kind":"seal","campaign":"a","data":{"actor":"ana"},"id":"a\nb"}`, []string{"publish", "-"}},
		{"a campaign nested without end", 2, "may have", strings.Repeat("[", 1<<20), []string{"campaign", "open", "-"}},
		{"a void of nothing", 3, "rejected 1 of 1", "", []string{"void", "1/1/x", "--campaign", "a", "--actor", "ana", "--reason", "x", "--wait"}},
		{"no arrival there", 1, "has no decision", "", []string{"status", "99999", "--timeout", "50ms"}},
		{"arrival 0", 2, "counted from 1", "", []string{"status", "0"}},
		{"no ledger there", 1, "no ledger there", "", []string{"status", "1", "--data-dir", filepath.Join(dir, "nowhere")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := test.args
			if len(args) > 0 && !strings.Contains(strings.Join(args, " "), "--data-dir") {
				args = append(args, "--data-dir", dataDir)
			}
			_, stderr, code := runBinary(t, test.stdin, "ingest", args...)
			if code != test.code || !strings.Contains(stderr, test.says) {
				t.Errorf("exit code %d, want %d; it says\n%s\nand must say %q", code, test.code, stderr, test.says)
			}
			if strings.Contains(stderr, "goroutine ") {
				t.Error("it panics")
			}
		})
	}
	arrivals, _ := readerOf(t, dataDir)
	if n := len(readAll(t, arrivals)); n != 1 {
		t.Errorf("%d arrivals were published, want the one void", n)
	}
}
