package storefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/audit/storefile"
)

// ledgerFiles lists the files of both streams.
func ledgerFiles(t testing.TB, storeDir string) []string {
	t.Helper()
	var files []string
	for _, name := range []string{events.ArrivalsStream, events.LedgerStream} {
		for _, pattern := range []string{"*.*", "msgs/*"} {
			found, err := filepath.Glob(filepath.Join(storefile.Dir(storeDir, name), pattern))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, found...)
		}
	}
	return files
}

// copyDir copies a directory with everything in it.
func copyDir(t testing.TB, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}
