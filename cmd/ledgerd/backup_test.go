package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
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

// TestWhatWasSignedOutlivesARestore: the key, the heads and a receipt are the
// restored ledger's too, and another key's are not.
func TestWhatWasSignedOutlivesARestore(t *testing.T) {
	dataDir, daemon, n := auditedLedger(t)
	daemon.stop(t) // it signs the end
	importKey := ledgerdJSON[struct {
		Items []struct {
			ImportKey string `json:"import_key"`
		} `json:"items"`
	}](t, 0, "query", "imports", "--json", "--limit", "1", "--data-dir", dataDir).Items[0].ImportKey
	receipt := filepath.Join(t.TempDir(), "receipt.json")
	ledgerdSays(t, 0, "", "receipt", importKey, "-o", receipt, "--data-dir", dataDir)
	dir := filepath.Join(t.TempDir(), "backup")
	ledgerdSays(t, 0, "", "backup", dir, "--data-dir", dataDir)

	elsewhere, others := filepath.Join(t.TempDir(), "elsewhere"), filepath.Join(t.TempDir(), "others")
	ledgerdSays(t, 0, "", "restore", dir, "--data-dir", elsewhere)
	ledgerdSays(t, 0, "", "restore", dir, "--data-dir", others, "--no-keys")
	for _, restored := range []string{elsewhere, others} {
		startProcess(t, "--data-dir", restored).awaitReady(t).stop(t)
	}
	key, _, _ := runBinary(t, "", "ledgerd", "tree", "key", "--data-dir", elsewhere)
	other, _, _ := runBinary(t, "", "ledgerd", "tree", "key", "--data-dir", others)
	key, other = strings.TrimSpace(key), strings.TrimSpace(other)
	ledgerdSays(t, 0, "", "receipt", "verify", receipt, "--key", key)
	ledgerdSays(t, 1, "", "receipt", "verify", receipt, "--key", other)

	type heads struct{ Heads int }
	if v := ledgerdJSON[heads](t, 0, "verify", dir, "--json", "--key", key); v.Heads != 2 { // the manifest's root, and the signed one
		t.Errorf("%d heads agree", v.Heads)
	}
	ledgerdSays(t, 1, "the head that came with the backup", "verify", dir, "--key", other)

	head, _, _ := runBinary(t, "", "ledgerd", "tree", "head", "--data-dir", dataDir)
	file := filepath.Join(t.TempDir(), "head.txt")
	if err := os.WriteFile(file, []byte(head), 0o600); err != nil {
		t.Fatal(err)
	}
	if v := ledgerdJSON[heads](t, 0, "verify", "--json", "--data-dir", elsewhere, "--head", file, "--key", key); v.Heads < 2 {
		t.Errorf("%d heads agree", v.Heads)
	}
	publish(t, dataDirOf(t, elsewhere), `{"kind":"seal","campaign":"nobody","data":{"actor":"ana"}}`)
	ledgerdSays(t, 0, "", "verify", "--data-dir", elsewhere, "--head", file, "--key", key)
	if v := ledgerdJSON[verified](t, 0, "verify", "--json", "--data-dir", elsewhere); v.Decisions != n+1 {
		t.Errorf("%+v", v)
	}
}

// dataDirOf runs a daemon on a directory until the test ends.
func dataDirOf(t *testing.T, dataDir string) string {
	t.Helper()
	startProcess(t, "--data-dir", dataDir).awaitReady(t)
	return dataDir
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

// TestAuditsOfAnExternalServer replays, verifies, exports, backs up and restores
// where the streams are on a server of its own.
func TestAuditsOfAnExternalServer(t *testing.T) {
	server := startExternal(t)
	dataDir := t.TempDir()
	daemon := server.daemon(t, dataDir).awaitReady(t)
	operator := append([]string{"publish", "-", "--wait"}, server.flags(natsdeploy.Operator)...)
	facts := strings.Repeat(`{"kind":"seal","campaign":"nobody","data":{"actor":"ana"}}`+"\n", 20)
	if _, stderr, code := runBinary(t, facts, "ingest", operator...); code != 3 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	reader := append([]string{"--data-dir", dataDir}, server.flags(natsdeploy.Reader)...)
	r := ledgerdJSON[replayed](t, 0, append([]string{"replay", "--json"}, reader...)...)
	v := ledgerdJSON[verified](t, 0, append([]string{"verify", "--json", "--evidence"}, reader...)...)
	if !r.Same || r.Decisions != 20 || !v.Sound || *v.Root != *r.Root {
		t.Errorf("%+v, %+v", r, v)
	}
	ledgerdSays(t, 1, "no messages", "verify", "--data-dir", stoppedCopy(t, dataDir))
	dir := filepath.Join(t.TempDir(), "backup")
	m := ledgerdJSON[backupManifest](t, 0, append([]string{"backup", dir, "--json"}, reader...)...)
	if m.Decisions != 20 || m.Root != *r.Root {
		t.Errorf("%+v", m)
	}
	if _, err := os.Stat(filepath.Join(dir+".keys", "keys", "keys.json")); err != nil {
		t.Error(err) // heads are signed here, whoever keeps the streams
	}
	daemon.stop(t)

	provisioner := append([]string{"--data-dir", dataDir}, server.flags(natsdeploy.Provisioner)...)
	ledgerdSays(t, 1, "taken", append([]string{"restore", dir}, provisioner...)...)
	other := startExternal(t)
	provisioner = append([]string{"--data-dir", dataDir}, other.flags(natsdeploy.Provisioner)...)
	ledgerdSays(t, 0, m.Root, append([]string{"restore", dir}, provisioner...)...)
	other.daemon(t, dataDir).awaitReady(t).stop(t) // its views and heads go on
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	ledgerdSays(t, 0, m.Root, "restore", dir, "--data-dir", elsewhere)
	startProcess(t, "--data-dir", elsewhere).awaitReady(t).stop(t) // from a cluster into a directory
	if v := ledgerdJSON[verified](t, 0, "verify", "--json", "--evidence", "--data-dir", elsewhere); !v.Sound || *v.Root != m.Root {
		t.Errorf("%+v", v)
	}
}

// stoppedCopy copies what a data directory says of itself.
func stoppedCopy(t *testing.T, dataDir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.WriteFile(filepath.Join(to, "ledger.json"), []byte(readFile(t, dataDir, "ledger.json")), 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}
