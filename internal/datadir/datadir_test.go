package datadir_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nkeys"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/internal/datadir"
)

func open(t *testing.T, dir string) *datadir.Dir {
	t.Helper()
	d, err := datadir.Open(dir)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return d
}

func closeDir(t *testing.T, d *datadir.Dir) {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Fatalf("%+v", err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// entries are the names of all files under dir, one a line.
func entries(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && path != dir {
			names = append(names, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\n")
}

// TestNewLedger: a new directory is its owner's alone, and stays the same
// ledger.
func TestNewLedger(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "ledger-data")
	d := open(t, dir)
	id, limit := d.LedgerID(), d.StoreLimit()
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(id) {
		t.Errorf("ledger id %q", id)
	}
	if limit < 256<<20 || limit%(1<<20) != 0 {
		t.Errorf("store limit %d", limit)
	}
	if d.Path() != dir || d.StoreDir() != filepath.Join(dir, "nats") {
		t.Errorf("path %s, store %s", d.Path(), d.StoreDir())
	}
	want := "credentials\ncredentials/coordinator.nk\ncredentials/operator.nk\ncredentials/reader.nk\nholder.json\nledger.json\nlock"
	if got := entries(t, dir); got != want {
		t.Errorf("made\n%s\nwant\n%s", got, want)
	}
	for _, name := range append(strings.Split(want, "\n"), ".") {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	keys := publicKeys(t, d)
	closeDir(t, d)

	again := open(t, dir)
	if again.LedgerID() != id || again.StoreLimit() != limit {
		t.Errorf("opened again: %s, %d", again.LedgerID(), again.StoreLimit())
	}
	if publicKeys(t, again) != keys {
		t.Error("opened again: other keys")
	}
	closeDir(t, again)
	existing, err := datadir.OpenExisting(dir)
	if err != nil || existing.LedgerID() != id {
		t.Fatalf("open existing: %v", err)
	}
	closeDir(t, existing)
}

func publicKeys(t *testing.T, d *datadir.Dir) [3]string {
	t.Helper()
	var keys [3]string
	for i, role := range natsdeploy.Outside() {
		key, err := d.PublicKey(role)
		if err != nil || !nkeys.IsValidPublicUserKey(key) {
			t.Fatalf("%s: %q, %v", role, key, err)
		}
		keys[i] = key
	}
	return keys
}

// TestOpenExistingMakesNothing: a mistyped --data-dir leaves no trace.
func TestOpenExistingMakesNothing(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "absent")} {
		if _, err := datadir.OpenExisting(path); !errors.Is(err, datadir.ErrNoLedger) || len(errors.GetAllHints(err)) == 0 {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := datadir.ReadConnection(path); !errors.Is(err, datadir.ErrNoLedger) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if got := entries(t, dir); got != "" {
		t.Errorf("made %s", got)
	}
}

func TestUnusable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	for _, path := range []string{file, filepath.Join(file, "below")} {
		if _, err := datadir.Open(path); !errors.Is(err, datadir.ErrUnusable) || len(errors.GetAllHints(err)) == 0 {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestExistingDirectoryKeepsItsMode: only what is made here is closed to
// others.
func TestExistingDirectoryKeepsItsMode(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	closeDir(t, open(t, dir))
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
