package backup_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/audit/audittest"
	"github.com/ledgerd/ledgerd/internal/backup"
)

// findings opens a backup and verifies it. A manifest that cannot be read is
// one too.
func findings(t testing.TB, dir string) []audit.Finding {
	t.Helper()
	b, err := backup.Open(dir)
	if errors.Is(err, backup.ErrNoBackup) && strings.Contains(err.Error(), "manifest.json") {
		return []audit.Finding{{Problem: audit.ProblemManifest, File: filepath.Join(dir, "manifest.json")}}
	}
	must(t, err)
	result, err := b.Verify(audittest.WithPatience(t), nil, nil, nil)
	must(t, err)
	return result.Found
}

func namesFile(found []audit.Finding, path string) bool {
	return slices.ContainsFunc(found, func(f audit.Finding) bool { return f.File == path })
}

// TestEveryFile changes a bit of bytes all over every file, and expects the
// file to be named: each file's own, or the one with the hashes.
func TestEveryFile(t *testing.T) {
	_, dir := backUp(t, config(t, dataDir(t, small())))
	if found := findings(t, dir); len(found) > 0 {
		t.Fatal(found)
	}
	random := rand.New(rand.NewPCG(4, 4))
	for _, name := range names(t, dir) {
		path := filepath.Join(dir, name)
		content, err := os.ReadFile(path)
		must(t, err)
		step := max(len(content)/150, 1)
		for at := 0; at < len(content); at += step {
			bit := random.IntN(8)
			content[at] ^= 1 << bit
			must(t, os.WriteFile(path, content, 0o600))
			found := findings(t, dir)
			if !namesFile(found, path) && !(name == "SHA256SUMS" && len(found) > 0) {
				t.Errorf("%s, bit %d of byte %d: %v", name, bit, at, found)
			}
			content[at] ^= 1 << bit
		}
		must(t, os.WriteFile(path, content, 0o600))
	}
}

func TestEveryAlteration(t *testing.T) {
	_, original := backUp(t, config(t, dataDir(t, small())))
	for name, alter := range map[string]func(t *testing.T, path string){
		"is gone":  func(t *testing.T, path string) { must(t, os.Remove(path)) },
		"is empty": func(t *testing.T, path string) { must(t, os.Truncate(path, 0)) },
		"is cut off": func(t *testing.T, path string) {
			info, err := os.Stat(path)
			must(t, err)
			must(t, os.Truncate(path, info.Size()-1))
		},
		"has more at its end": func(t *testing.T, path string) {
			content, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path, append(content, '\n'), 0o600))
		},
	} {
		for _, file := range names(t, original) {
			t.Run(file+" "+name, func(t *testing.T) {
				dir := t.TempDir()
				must(t, os.CopyFS(dir, os.DirFS(original)))
				alter(t, filepath.Join(dir, file))
				if found := findings(t, dir); !namesFile(found, filepath.Join(dir, file)) {
					t.Errorf("it is not named: %v", found)
				}
			})
		}
	}
	t.Run("two files changed places", func(t *testing.T) {
		dir := t.TempDir()
		must(t, os.CopyFS(dir, os.DirFS(original)))
		one, other := filepath.Join(dir, events.ArrivalsStream, "stream.arc.s2"), filepath.Join(dir, events.LedgerStream, "stream.arc.s2")
		must(t, os.Rename(one, one+"-"))
		must(t, os.Rename(other, one))
		must(t, os.Rename(one+"-", other))
		if found := findings(t, dir); !namesFile(found, one) || !namesFile(found, other) {
			t.Error(found)
		}
	})
	t.Run("there is another file", func(t *testing.T) {
		dir := t.TempDir()
		must(t, os.CopyFS(dir, os.DirFS(original)))
		more := filepath.Join(dir, "more")
		must(t, os.WriteFile(more, nil, 0o600))
		if found := findings(t, dir); !namesFile(found, more) {
			t.Error(found)
		}
	})
}

// TestADamagedBackupIsNotRestored, and leaves nothing behind.
func TestADamagedBackupIsNotRestored(t *testing.T) {
	b, dir := backUp(t, config(t, dataDir(t, small())))
	path := filepath.Join(dir, events.LedgerStream, "stream.arc.s2")
	content, err := os.ReadFile(path)
	must(t, err)
	content[len(content)/2] ^= 1
	must(t, os.WriteFile(path, content, 0o600))
	to := filepath.Join(t.TempDir(), "restored")
	if err := b.Restore(audittest.WithPatience(t), to, quiet()); !errors.Is(err, backup.ErrDamaged) || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	if left, _ := filepath.Glob(to + "*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestWhoeverWritesTheHashesToo cannot rewrite a record: the chain, and the
// evidence, are not in the hashes' hands.
func TestWhoeverWritesTheHashesToo(t *testing.T) {
	from := dataDir(t, small())
	cfg := config(t, from)
	cfg.Source = edited{cfg.Source}
	dir := filepath.Join(t.TempDir(), "backup")
	if _, err := backup.Write(audittest.WithPatience(t), dir, cfg); !errors.Is(err, backup.ErrDamaged) || !strings.Contains(err.Error(), "sequence 3") {
		t.Error(err)
	}
}
