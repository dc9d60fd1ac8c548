package datadir_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/datadir"
)

const goodLedger = `{"format":1,"ledger_id":"0123456789abcdef0123456789abcdef","created_at":"2026-10-01T10:00:00Z","store_limit_bytes":268435456}`

// TestLedgerFile alters one thing after the other in ledger.json.
func TestLedgerFile(t *testing.T) {
	for _, row := range []struct {
		name, from, to string
		want           error
	}{
		{"as it is", "", "", nil},
		{"larger limit, by hand", "268435456", "1073741824", nil},
		{"empty", goodLedger, "", datadir.ErrDamaged},
		{"cut off", `456}`, "", datadir.ErrDamaged},
		{"two values", `456}`, "456}{}", datadir.ErrDamaged},
		{"unknown member", `{"format"`, `{"more":1,"format"`, datadir.ErrDamaged},
		{"repeated member", `{"format":1`, `{"format":1,"format":1`, datadir.ErrDamaged},
		{"no format", `"format":1,`, ``, datadir.ErrDamaged},
		{"format 0", `"format":1`, `"format":0`, datadir.ErrDamaged},
		{"next format", `"format":1`, `"format":2`, datadir.ErrFormat},
		{"next format with more in it", `"format":1`, `"more":{},"format":2`, datadir.ErrFormat},
		{"format of another type", `"format":1`, `"format":"1"`, datadir.ErrDamaged},
		{"short id", "0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcde", datadir.ErrDamaged},
		{"upper case id", "0123456789abcdef", "0123456789ABCDEF", datadir.ErrDamaged},
		{"limit below the least", "268435456", "268435455", datadir.ErrDamaged},
		{"limit too large for a number", "268435456", "99999999999999999999", datadir.ErrDamaged},
		{"no time", "2026-10-01T10:00:00Z", "yesterday", datadir.ErrDamaged},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			if row.from != "" && !strings.Contains(goodLedger, row.from) {
				t.Fatalf("nothing to alter: %s", row.from)
			}
			content := strings.Replace(goodLedger, row.from, row.to, 1)
			write(t, filepath.Join(dir, "ledger.json"), content)
			for range 2 { // a refusal lets go of the lock
				d, err := datadir.Open(dir)
				if !errors.Is(err, row.want) {
					t.Fatalf("%v, want %v", err, row.want)
				}
				if err == nil {
					closeDir(t, d)
				} else if len(errors.GetAllHints(err)) == 0 {
					t.Errorf("no hint: %v", err)
				}
			}
			if after, err := os.ReadFile(filepath.Join(dir, "ledger.json")); err != nil || string(after) != content {
				t.Errorf("ledger.json became %s, %v", after, err)
			}
		})
	}
}

// TestMessagesWithoutLedger: whose they are is not guessed.
func TestMessagesWithoutLedger(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "nats"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := datadir.Open(dir); !errors.Is(err, datadir.ErrDamaged) || len(errors.GetAllHints(err)) == 0 {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ledger.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("ledger.json was made: %v", err)
	}
}
