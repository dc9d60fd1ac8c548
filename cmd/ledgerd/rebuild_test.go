package main

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// TestRebuild rebuilds beside a running daemon and without one; a row that
// somebody edited keeps the rebuilt views from being switched until the
// operator accepts them.
func TestRebuild(t *testing.T) {
	dataDir := t.TempDir()
	daemon := startProcess(t, "--data-dir", dataDir).awaitReady(t)
	facts := `{"kind":"seal","campaign":"nobody","data":{"actor":"ana"}}` + "\n" + `{"kind":"cell","campaign":"nobody","data":{}}`
	if _, stderr, code := runBinary(t, facts, "ingest", "publish", "-", "--wait", "--data-dir", dataDir); code != 3 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	rebuild := func(want int, says string, more ...string) {
		t.Helper()
		_, stderr, code := runBinary(t, "", "ledgerd", append([]string{"rebuild", "--data-dir", dataDir}, more...)...)
		if code != want || !strings.Contains(stderr, says) {
			t.Fatalf("exit code %d, want %d; it says\n%s\nand must say %q", code, want, stderr, says)
		}
	}
	rebuild(0, "as of ledger index 1")
	rebuild(0, "as of ledger index 1", "rejections")
	rebuild(2, "no view is called", "nothing")
	daemon.stop(t)
	rebuild(0, "as of ledger index 1")

	db, err := sql.Open("sqlite", filepath.Join(dataDir, viewsName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`UPDATE rejections SET reason = 'campaign_sealed'`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	rebuild(1, "view rejections")
	rebuild(0, "as of ledger index 1", "--accept")
	rebuild(0, "as of ledger index 1")
}
