package datadir

import (
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/errors"
)

// Description is what a backup keeps of a ledger's directory beside its
// messages and keys.
type Description struct {
	LedgerID   string    `json:"ledger_id"` // 32 hexadecimal digits
	Created    time.Time `json:"created_at"`
	StoreLimit int64     `json:"store_limit_bytes"`
}

// Describe reads a directory's description without taking hold of it. Errors:
// ErrNoLedger, ErrFormat, ErrDamaged, ErrUnusable.
func Describe(path string) (Description, error) {
	l, err := readLedger(path)
	return Description{LedgerID: l.ID, Created: l.Created, StoreLimit: l.StoreLimit}, err
}

// Recreate makes a directory that is the one described, without messages and
// keys; Open makes the keys that are not put there before. The directory must
// not hold a ledger. Errors: ErrDamaged when the description is none, ErrHeld
// when there is a ledger, ErrUnusable.
func Recreate(path string, d Description) error {
	if !ledgerID.MatchString(d.LedgerID) || d.StoreLimit < storeLimitMin {
		return errors.Wrapf(ErrDamaged, "ledger_id %q, store_limit_bytes %d", d.LedgerID, d.StoreLimit)
	}
	if err := makeDir(path); err != nil {
		return err
	}
	file := filepath.Join(path, ledgerName)
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		return errors.Wrapf(ErrHeld, "%s has a ledger", path)
	}
	return writeJSON(file, ledger{Format: format, ID: d.LedgerID, Created: d.Created, StoreLimit: d.StoreLimit})
}
