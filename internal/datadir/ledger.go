package datadir

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/disk"
)

const (
	ledgerName = "ledger.json"

	// format is what this ledgerd reads and writes.
	format = 1
)

// Bounds of a new ledger's store limit, in bytes.
const (
	// storeLimitShare of what is free when the ledger is made goes to messages.
	// The other half is for views, which are built anew beside the old ones, for
	// a backup being written, and for everybody else on that disk.
	storeLimitShare = 2

	// storeLimitMin is the least a ledger makes sense with: some tens of
	// thousands of cells.
	storeLimitMin = 256 << 20
	// storeLimitMax keeps a ledger on a very large disk from claiming all of it;
	// whoever needs more says so in ledger.json.
	storeLimitMax = 1 << 40
	// storeLimitUnknown is taken where the system does not tell what is free.
	storeLimitUnknown = 16 << 30
)

// ledger is what ledger.json says.
type ledger struct {
	Format  int       `json:"format"`
	ID      string    `json:"ledger_id"`
	Created time.Time `json:"created_at"`
	// StoreLimit may be raised by hand while no daemon runs: the streams grow at
	// the next start. Lowered below what they keep, it is refused there.
	StoreLimit int64 `json:"store_limit_bytes"`
}

var ledgerID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// openLedger reads ledger.json, or makes it in a directory that has no ledger.
func openLedger(dir string) (ledger, error) {
	l, err := readLedger(dir)
	if !errors.Is(err, ErrNoLedger) {
		return l, err
	}
	// Messages without ledger.json are another ledger's, or this one's whose
	// file was lost: a new name and limit would be wrong either way.
	if _, err := os.Stat(filepath.Join(dir, storeName)); err == nil {
		return ledger{}, errors.WithHint(errors.Wrapf(ErrDamaged, "%s has messages but no %s", dir, ledgerName),
			"Bring ledger.json back from where it went, or the whole directory from a backup with `ledgerd restore`.")
	}
	return newLedger(dir)
}

func newLedger(dir string) (ledger, error) {
	limit, err := newStoreLimit(dir)
	if err != nil {
		return ledger{}, err
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails: it ends the program instead
	l := ledger{
		Format:     format,
		ID:         hex.EncodeToString(id[:]),
		Created:    time.Now().UTC().Truncate(time.Second),
		StoreLimit: limit,
	}
	return l, writeJSON(filepath.Join(dir, ledgerName), l)
}

func newStoreLimit(dir string) (int64, error) {
	free, err := disk.Free(dir)
	if errors.Is(err, disk.ErrUnknown) {
		return storeLimitUnknown, nil
	}
	if err != nil {
		return 0, errors.Mark(err, ErrUnusable)
	}
	return storeLimitFor(dir, free)
}

// storeLimitFor gives the limit where free bytes are free, whole mebibytes.
func storeLimitFor(dir string, free int64) (int64, error) {
	limit := min(free/storeLimitShare, storeLimitMax) >> 20 << 20
	if limit < storeLimitMin {
		return 0, errors.WithHint(
			errors.Wrapf(ErrNoRoom, "%s: %d MiB free, %d MiB needed", dir, free>>20, int64(storeLimitMin*storeLimitShare)>>20),
			"Free space on that file system, or give --data-dir a directory on a larger one.")
	}
	return limit, nil
}

// readLedger reads and checks ledger.json. Errors: ErrNoLedger, ErrFormat,
// ErrDamaged, ErrUnusable.
func readLedger(dir string) (ledger, error) {
	path := filepath.Join(dir, ledgerName)
	// The format comes first: a later one may have members unknown here.
	var versioned struct {
		Format int `json:"format"`
	}
	if err := decodeFile(path, &versioned); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return ledger{}, noLedger(dir)
		}
		return ledger{}, damagedLedger(err)
	}
	if versioned.Format > format {
		return ledger{}, errors.WithHint(errors.Wrapf(ErrFormat, "%s: format %d, this ledgerd knows %d", dir, versioned.Format, format),
			"Use the ledgerd that wrote it, or a later one.")
	}
	var l ledger
	if err := readJSON(path, &l); err != nil {
		return ledger{}, damagedLedger(err)
	}
	if l.Format != format || !ledgerID.MatchString(l.ID) || l.StoreLimit < storeLimitMin {
		return ledger{}, damagedLedger(errors.Wrapf(ErrDamaged,
			"%s: format must be %d, ledger_id 32 hexadecimal digits, store_limit_bytes at least %d", path, format, storeLimitMin))
	}
	return l, nil
}

func damagedLedger(err error) error {
	if !errors.Is(err, ErrDamaged) {
		return unusable(err, "read the ledger's description")
	}
	return errors.WithHint(err, "Put ledger.json right by hand, or bring it back from a backup. The messages are untouched.")
}
