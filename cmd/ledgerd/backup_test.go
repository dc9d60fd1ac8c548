package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/domain"
)

// ledgerdSays runs a command and wants an exit code, and a word on standard
// error.
func ledgerdSays(t *testing.T, wantCode int, says string, args ...string) {
	t.Helper()
	if out, stderr, code := runBinary(t, "", "ledgerd", args...); code != wantCode || !strings.Contains(stderr, says) {
		t.Fatalf("%v: exit code %d, want %d; it says\n%s%s\nand must say %q", args, code, wantCode, out, stderr, says)
	}
}

// backupManifest is what `ledgerd backup --json` prints, as far as it matters
// here.
type backupManifest struct {
	Arrivals  int
	Decisions int
	Root      string
}

// TestBackupAndRestore backs up beside a daemon, loses the machine, and goes on
// elsewhere; then loses the messages alone, and then goes on too far.
func TestBackupAndRestore(t *testing.T) {
	dataDir, daemon, n := auditedLedger(t)
	root := *ledgerdJSON[replayed](t, 0, "replay", "--json", "--data-dir", dataDir).Root
	dir := filepath.Join(t.TempDir(), "backup")
	m := ledgerdJSON[backupManifest](t, 0, "backup", dir, "--json", "--data-dir", dataDir)
	if m.Arrivals != n || m.Decisions != n || m.Root != root {
		t.Errorf("%+v, want %d and %s", m, n, root)
	}
	ledgerdSays(t, 1, "taken", "backup", dir, "--data-dir", dataDir)
	daemon.stop(t)
	stopped := filepath.Join(t.TempDir(), "stopped")
	if again := ledgerdJSON[backupManifest](t, 0, "backup", stopped, "--json", "--no-keys", "--data-dir", dataDir); again != m {
		t.Errorf("without a daemon: %+v, want %+v", again, m)
	}

	nowhere := filepath.Join(t.TempDir(), "nowhere")
	r := ledgerdJSON[replayed](t, 0, "replay", "--json", "--data-dir", nowhere, dir)
	v := ledgerdJSON[verified](t, 0, "verify", "--evidence", "--json", "--data-dir", nowhere, dir)
	if !r.Same || *r.Root != root || !v.Sound || *v.Root != root {
		t.Errorf("%+v, %+v", r, v)
	}

	ledgerdSays(t, 1, "taken", "restore", dir, "--data-dir", dataDir)
	ledgerdSays(t, 2, "--no-keys", "restore", stopped, "--data-dir", nowhere)
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	ledgerdSays(t, 0, root, "restore", dir, "--data-dir", elsewhere)
	for _, name := range []string{"operator", "coordinator", "reader"} {
		file := filepath.Join("credentials", name+".nk")
		if one, other := readFile(t, dataDir, file), readFile(t, elsewhere, file); one != other {
			t.Errorf("%s is another one", file)
		}
	}
	restored := startProcess(t, "--data-dir", elsewhere).awaitReady(t)
	answers := publish(t, elsewhere, `{"kind":"seal","campaign":"nobody","data":{"actor":"ana"}}`)
	if answers[0].Arrival != uint64(n)+1 || answers[0].Reason != domain.ReasonCampaignUnknown {
		t.Errorf("%+v", answers)
	}
	if v := ledgerdJSON[verified](t, 0, "verify", "--evidence", "--json", "--data-dir", elsewhere); !v.Sound || v.Decisions != n+1 {
		t.Errorf("%+v", v)
	}
	ledgerdSays(t, 1, "held by another process", "restore", dir, "--data-dir", elsewhere)
	restored.stop(t)
	ledgerdSays(t, 1, "moved on", "restore", dir, "--data-dir", elsewhere)
	loseMessages(t, elsewhere)
	ledgerdSays(t, 1, "moved on", "restore", dir, "--data-dir", elsewhere) // the views have seen more

	loseMessages(t, dataDir)
	ledgerdSays(t, 0, root, "restore", dir, "--data-dir", dataDir)
	startProcess(t, "--data-dir", dataDir).awaitReady(t).stop(t)
	if v := ledgerdJSON[verified](t, 0, "verify", "--evidence", "--json", "--data-dir", dataDir); !v.Sound || *v.Root != root {
		t.Errorf("%+v", v)
	}
}

// publish publishes lines and gives their decisions.
func publish(t *testing.T, dataDir string, lines string) []answer {
	t.Helper()
	out, stderr, code := runBinary(t, lines, "ingest", "publish", "-", "--wait", "--data-dir", dataDir)
	if code != 0 && code != 3 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	return answers(t, out)
}

func readFile(t *testing.T, parts ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// loseMessages moves a data directory's messages away.
func loseMessages(t *testing.T, dataDir string) {
	t.Helper()
	if err := os.Rename(filepath.Join(dataDir, "nats"), filepath.Join(dataDir, "nats.damaged")); err != nil {
		t.Fatal(err)
	}
}
