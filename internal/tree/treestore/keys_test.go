package treestore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/internal/tree/treestore"
)

const origin = "ledgerd.invalid/00112233445566778899aabbccddeeff"

var now = time.Date(2026, 10, 1, 10, 0, 0, 0, time.UTC)

func openKeys(t *testing.T, dir string) *tree.Keys {
	t.Helper()
	keys, err := treestore.OpenKeys(dir, origin, now)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return keys
}

// secrets lists the files with secrets.
func secrets(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "keys", "*.key*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestKeysAreMadeOnceAndArePrivate(t *testing.T) {
	dir := t.TempDir()
	if _, err := treestore.ReadKeys(dir); !errors.Is(err, treestore.ErrNoKeys) {
		t.Errorf("without keys: %v", err)
	}
	first := openKeys(t, dir)
	again := openKeys(t, dir)
	if first.Current() != again.Current() || len(again.All) != 1 || again.Origin() != origin || !again.All[0].Since.Equal(now) {
		t.Errorf("keys %+v, then %+v", first.All, again.All)
	}
	public, err := treestore.ReadKeys(dir)
	if err != nil || public.Signer != nil || public.Current() != first.Current() {
		t.Errorf("read %+v, %v", public, err)
	}
	for path, mode := range map[string]os.FileMode{filepath.Join(dir, "keys"): 0o700, secrets(t, dir)[0]: 0o600, filepath.Join(dir, "keys", "keys.json"): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
		}
	}
	public.All = nil
	content, err := os.ReadFile(filepath.Join(dir, "keys", "keys.json"))
	if err != nil || strings.Contains(string(content), "PRIVATE") {
		t.Errorf("keys.json: %s, %v", content, err)
	}
}

func TestRotate(t *testing.T) {
	dir := t.TempDir()
	if _, err := treestore.Rotate(dir, now); !errors.Is(err, treestore.ErrNoKeys) {
		t.Errorf("without keys: %v", err)
	}
	first := openKeys(t, dir)
	// What a crash leaves: a secret that nothing names, and half of one.
	for _, name := range []string{"00000000.key", "11111111.key.unfinished"} {
		if err := os.WriteFile(filepath.Join(dir, "keys", name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := 2; i <= 4; i++ {
		rotated, err := treestore.Rotate(dir, now.Add(time.Duration(i)*time.Hour))
		if err != nil {
			t.Fatalf("%+v", err)
		}
		keys := openKeys(t, dir)
		if len(keys.All) != i || keys.All[0].Verifier != first.Current() || keys.Current() != rotated.Current() || keys.Current() == keys.All[i-2].Verifier {
			t.Errorf("after switch %d: %+v", i-1, keys.All)
		}
		if left := secrets(t, dir); len(left) != 1 {
			t.Errorf("after switch %d secrets are left: %v", i-1, left)
		}
		if !keys.All[i-1].Since.Equal(now.Add(time.Duration(i)*time.Hour)) || !strings.Contains(keys.All[i-1].Switch, keys.All[i-2].Verifier) {
			t.Errorf("the switch is not recorded: %+v", keys.All[i-1])
		}
	}
}

// TestRotateCrashes: between the new secret and the new list the old key
// signs; after the list the new one does, whatever is left of the old.
func TestRotateCrashes(t *testing.T) {
	dir := t.TempDir()
	openKeys(t, dir)
	list := filepath.Join(dir, "keys", "keys.json")
	before, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	oldSecret := secrets(t, dir)[0]
	secret, err := os.ReadFile(oldSecret)
	if err != nil {
		t.Fatal(err)
	}
	rotated, err := treestore.Rotate(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(oldSecret, secret, 0o600); err != nil { // not removed yet
		t.Fatal(err)
	}
	if keys := openKeys(t, dir); keys.Current() != rotated.Current() {
		t.Errorf("after the list %s signs", keys.Current())
	}
	if err := os.WriteFile(list, before, 0o600); err != nil { // not written yet
		t.Fatal(err)
	}
	if keys := openKeys(t, dir); len(keys.All) != 1 || keys.Current() == rotated.Current() {
		t.Errorf("before the list %s signs", keys.Current())
	}
}

func TestKeysThatCannotBeUsed(t *testing.T) {
	for _, row := range []struct {
		name  string
		spoil func(t *testing.T, keys, secret string)
		want  error
	}{
		{"a secret others may read", func(t *testing.T, _, secret string) { must(t, os.Chmod(secret, 0o640)) }, treestore.ErrKeys},
		{"a directory others may enter", func(t *testing.T, keys, _ string) { must(t, os.Chmod(keys, 0o755)) }, treestore.ErrKeys},
		{"no secret", func(t *testing.T, _, secret string) { must(t, os.Remove(secret)) }, treestore.ErrKeys},
		{"no key in it", func(t *testing.T, _, secret string) { must(t, os.WriteFile(secret, []byte("PRIVATE+KEY+x"), 0o600)) }, treestore.ErrKeys},
		{"another's secret", func(t *testing.T, _, secret string) {
			other, _, err := tree.GenerateKey(origin)
			must(t, err)
			must(t, os.WriteFile(secret, []byte(other+"\n"), 0o600))
		}, tree.ErrKeyMalformed},
		{"no list", func(t *testing.T, keys, _ string) {
			must(t, os.WriteFile(filepath.Join(keys, "keys.json"), []byte("{}"), 0o600))
		}, treestore.ErrKeys},
		{"an unknown member", func(t *testing.T, keys, _ string) {
			must(t, os.WriteFile(filepath.Join(keys, "keys.json"), []byte(`{"x":1}`), 0o600))
		}, treestore.ErrKeys},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			openKeys(t, dir)
			row.spoil(t, filepath.Join(dir, "keys"), secrets(t, dir)[0])
			_, err := treestore.OpenKeys(dir, origin, now)
			if !errors.Is(err, row.want) || strings.Contains(fmt.Sprintf("%+v", err), "PRIVATE") {
				t.Errorf("got %+v, want %v", err, row.want)
			}
			if errors.Is(err, treestore.ErrKeys) && len(errors.GetAllHints(err)) == 0 {
				t.Errorf("no hint: %+v", err)
			}
		})
	}
	dir := t.TempDir()
	openKeys(t, dir)
	if _, err := treestore.OpenKeys(dir, "ledger.example.com", now); !errors.Is(err, treestore.ErrKeys) || len(errors.GetAllHints(err)) == 0 {
		t.Errorf("another origin: %+v", err)
	}
	if _, err := treestore.OpenKeys(t.TempDir(), "with space", now); !errors.Is(err, tree.ErrKeyMalformed) {
		t.Errorf("no origin: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
