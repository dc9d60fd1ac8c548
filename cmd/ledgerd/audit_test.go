package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/audit/storefile"
	"github.com/ledgerd/ledgerd/internal/simci"
)

// auditedLedger runs a daemon on a directory of its own and has it decide a
// campaign with troubles. It gives how many arrivals that were.
func auditedLedger(t *testing.T) (dataDir string, daemon *process, n int) {
	t.Helper()
	ci, err := simci.New(simci.Demo(5))
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for a := range ci.Arrivals() {
		if json.Valid(a.Body) {
			fmt.Fprintf(&lines, `{"kind":%q,"campaign":%q,"data":%s}`+"\n", a.Kind, a.Campaign, a.Body)
			n++
		}
	}
	dataDir = t.TempDir()
	daemon = startProcess(t, "--data-dir", dataDir).awaitReady(t)
	if _, stderr, code := runBinary(t, lines.String(), "ingest", "publish", "-", "--wait", "--data-dir", dataDir); code != 3 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	return dataDir, daemon, n
}

// ledgerdJSON runs a command that answers one JSON object.
func ledgerdJSON[T any](t *testing.T, wantCode int, args ...string) (answer T) {
	t.Helper()
	out, stderr, code := runBinary(t, "", "ledgerd", args...)
	if code != wantCode {
		t.Fatalf("%v: exit code %d, want %d: %s%s", args, code, wantCode, out, stderr)
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("%v: %q: %v", args, out, err)
	}
	return answer
}

// replayed and verified are what `--json` prints, as far as it matters here.
type replayed struct {
	Same       bool           `json:"same"`
	Arrivals   int            `json:"arrivals"`
	Decisions  int            `json:"decisions"`
	Outcomes   map[string]int `json:"outcomes"`
	Root       *string        `json:"root"`
	Difference *struct {
		Index            int
		Field            string
		Stored, Replayed string
	} `json:"difference"`
}

type verified struct {
	Sound     bool    `json:"sound"`
	Decisions int     `json:"decisions"`
	Arrivals  int     `json:"arrivals"`
	Root      *string `json:"root"`
	Findings  []struct {
		Problem, Stream, File, Detail string
		Sequence                      int
	} `json:"findings"`
}

// TestReplayAndVerify run beside a daemon, without one, and on what a killed one
// left, and give the same root.
func TestReplayAndVerify(t *testing.T) {
	dataDir, daemon, n := auditedLedger(t)
	var root string
	for _, state := range []string{"running", "killed", "stopped"} {
		switch state {
		case "killed":
			daemon.signal(syscall.SIGKILL)
		case "stopped":
			startProcess(t, "--data-dir", dataDir).awaitReady(t).stop(t)
		}
		r := ledgerdJSON[replayed](t, 0, "replay", "--json", "--data-dir", dataDir)
		v := ledgerdJSON[verified](t, 0, "verify", "--evidence", "--json", "--data-dir", dataDir)
		if root == "" {
			root = *r.Root
		}
		if !r.Same || r.Arrivals != n || r.Decisions != n || *r.Root != root {
			t.Errorf("%s: %+v", state, r)
		}
		if !v.Sound || v.Arrivals != n || v.Decisions != n || *v.Root != root {
			t.Errorf("%s: %+v", state, v)
		}
	}
	if _, stderr, code := runBinary(t, "", "ledgerd", "replay", "--data-dir", dataDir, "--campaign", "nobody"); code != 1 || !strings.Contains(stderr, "no decision on campaign") {
		t.Errorf("a campaign that nobody published to: exit code %d: %s", code, stderr)
	}
	for _, args := range [][]string{{"replay"}, {"verify", "--evidence"}} {
		if out, stderr, code := runBinary(t, "", "ledgerd", append(args, "--data-dir", dataDir)...); code != 0 || !strings.Contains(out, root) {
			t.Errorf("%v: exit code %d: %s%s", args, code, out, stderr)
		}
	}
}

// TestDamageIsNamed edits one byte of a stopped ledger's file.
func TestDamageIsNamed(t *testing.T) {
	dataDir, daemon, _ := auditedLedger(t)
	daemon.stop(t)
	block := filepath.Join(storefile.Dir(filepath.Join(dataDir, "nats"), events.ArrivalsStream), "msgs", "1.blk")
	content, err := os.ReadFile(block)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(block, content, 0o600); err != nil {
		t.Fatal(err)
	}
	v := ledgerdJSON[verified](t, 1, "verify", "--evidence", "--json", "--data-dir", dataDir)
	if v.Sound || len(v.Findings) == 0 || v.Findings[0].File != block || v.Findings[0].Stream != events.ArrivalsStream || v.Findings[0].Sequence == 0 {
		t.Errorf("%+v", v)
	}
	r := ledgerdJSON[replayed](t, 1, "replay", "--json", "--data-dir", dataDir)
	if r.Same || r.Difference == nil || r.Difference.Index != v.Findings[0].Sequence-1 {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{{"replay"}, {"verify", "--evidence"}} {
		_, stderr, code := runBinary(t, "", "ledgerd", append(args, "--data-dir", dataDir)...)
		if code != 1 || !strings.Contains(stderr, "hint: ") {
			t.Errorf("%v: exit code %d: %s", args, code, stderr)
		}
	}
}

func TestAuditsOfNothing(t *testing.T) {
	for _, args := range [][]string{
		{"replay", "--data-dir", t.TempDir()},
		{"verify", "--data-dir", t.TempDir()},
		{"verify", "--head", "audit_test.go"},
		{"replay", "--nats-creds", "x"},
	} {
		if _, stderr, code := runBinary(t, "", "ledgerd", args...); code == 0 || stderr == "" {
			t.Errorf("%v: exit code %d: %q", args, code, stderr)
		}
	}
}
