package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExport writes the same text beside a daemon and without one, and checks
// it without either.
func TestExport(t *testing.T) {
	dataDir, daemon, n := auditedLedger(t)
	root := *ledgerdJSON[replayed](t, 0, "replay", "--json", "--data-dir", dataDir).Root
	file := filepath.Join(t.TempDir(), "ledger.jsonl")
	export := func(args ...string) []byte {
		t.Helper()
		if _, stderr, code := runBinary(t, "", "ledgerd", append([]string{"export", "--data-dir", dataDir, "-o", file}, args...)...); code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	running := export("--evidence")
	daemon.stop(t)
	if stopped := export("--evidence"); !bytes.Equal(running, stopped) {
		t.Error("with and without a daemon the exports differ")
	}
	nowhere := t.TempDir()
	r := ledgerdJSON[replayed](t, 0, "replay", "--json", "--data-dir", nowhere, file)
	if !r.Same || r.Decisions != n || *r.Root != root {
		t.Errorf("%+v", r)
	}
	v := ledgerdJSON[verified](t, 0, "verify", "--json", "--evidence", "--data-dir", nowhere, file)
	if !v.Sound || v.Arrivals != n || *v.Root != root {
		t.Errorf("%+v", v)
	}

	decisions := export()
	if out, stderr, code := runBinary(t, string(decisions), "ledgerd", "verify", "-"); code != 0 || !strings.Contains(out, root) {
		t.Errorf("exit code %d: %s%s", code, out, stderr)
	}
	if out, _, code := runBinary(t, "", "ledgerd", "export", file); code != 0 || out != string(decisions) {
		t.Errorf("exit code %d, or an export of an export is another text", code)
	}
	if _, stderr, code := runBinary(t, "", "ledgerd", "replay", file); code != 1 || !strings.Contains(stderr, "--evidence") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	edited := bytes.Replace(decisions, []byte(`"outcome":"rejected"`), []byte(`"outcome":"accepted"`), 1)
	if _, stderr, code := runBinary(t, string(edited), "ledgerd", "verify", "-"); code != 1 || !strings.Contains(stderr, "line ") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if _, stderr, code := runBinary(t, "", "ledgerd", "export", file, "-o", filepath.Join(nowhere, "no", "such")); code != 1 || !strings.Contains(stderr, "hint: ") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
