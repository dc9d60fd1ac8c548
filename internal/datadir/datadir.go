// Package datadir is the directory under which a ledgerd keeps everything.
//
// Model:
//
//	lock                      held by the one process that may write here
//	holder.json               who holds it: for the message to the next one
//	ledger.json               which ledger this is; never changes on its own
//	credentials/<role>.nk     nkey seeds for operator, coordinator and reader
//	connection.json           where the running daemon is; only while it serves
//	nats/                     the message store; owned by the embedded server
//
// Authority: the lock decides who may write, and nothing else does. A file
// that names a process (holder.json, connection.json) is believed only while
// the lock is held.
//
// Failure: every file is written whole or not at all (temporary file, fsync,
// rename, fsync of the directory). A crash leaves the lock free, and whatever
// the dead process said of itself is then ignored and removed.
package datadir

import (
	"os"
	"path/filepath"
	"syscall"

	"github.com/cockroachdb/errors"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
)

// Errors. Each carries a hint that says what to do.
var (
	// ErrHeld: another process holds the directory; the message says which.
	ErrHeld = errors.New("datadir: held by another process")
	// ErrNoLedger: there is no ledger in that directory.
	ErrNoLedger = errors.New("datadir: no ledger there")
	// ErrNotRunning: no daemon serves that directory.
	ErrNotRunning = errors.New("datadir: no daemon is running there")
	// ErrNoRoom: the file system is too full for a new ledger.
	ErrNoRoom = errors.New("datadir: not enough disk space for a ledger")
	// ErrFormat: a newer ledgerd wrote the directory.
	ErrFormat = errors.New("datadir: written by a newer ledgerd")
	// ErrDamaged: a file does not hold what it must.
	ErrDamaged = errors.New("datadir: damaged")
	// ErrExposed: others than the owner may read or change a credential.
	ErrExposed = errors.New("datadir: credentials are open to other users")
	// ErrUnusable: the operating system refused.
	ErrUnusable = errors.New("datadir: cannot be used")
)

const (
	dirMode  = 0o700
	fileMode = 0o600

	storeName = "nats"
)

// Dir is a data directory that this process holds. It is safe for concurrent
// use.
type Dir struct {
	path   string
	ledger ledger
	lock   *heldLock
}

// Open takes hold of the directory, making the ledger there when there is
// none yet. Errors: ErrHeld, ErrNoRoom, ErrFormat, ErrDamaged, ErrExposed,
// ErrUnusable.
func Open(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, unusable(err, "find the data directory")
	}
	if err := makeDir(path); err != nil {
		return nil, err
	}
	return hold(path, func() (ledger, error) {
		l, err := openLedger(path)
		if err != nil {
			return ledger{}, err
		}
		return l, ensureCredentials(path)
	})
}

// OpenExisting takes hold of a directory that has a ledger, and makes nothing.
// Errors: ErrNoLedger besides Open's.
func OpenExisting(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, unusable(err, "find the data directory")
	}
	if _, err := os.Stat(filepath.Join(path, ledgerName)); errors.Is(err, os.ErrNotExist) {
		return nil, noLedger(path)
	}
	return hold(path, func() (ledger, error) { return readLedger(path) })
}

// hold locks path and fills the Dir by prepare, which runs under the lock.
func hold(path string, prepare func() (ledger, error)) (*Dir, error) {
	lock, err := takeLock(path)
	if err != nil {
		return nil, err
	}
	d := &Dir{path: path, lock: lock}
	if err := removeLeftovers(path); err != nil {
		return nil, errors.CombineErrors(err, d.Close())
	}
	if d.ledger, err = prepare(); err != nil {
		return nil, errors.CombineErrors(err, d.Close())
	}
	return d, nil
}

// removeLeftovers drops what a dead holder left behind. Only the holder writes
// here, so nothing of anybody's is lost.
func removeLeftovers(path string) error {
	if err := removeFile(filepath.Join(path, connectionName)); err != nil {
		return err
	}
	for _, dir := range []string{path, filepath.Join(path, credentialsName)} {
		unfinished, err := filepath.Glob(filepath.Join(dir, "*"+temporarySuffix))
		if err != nil {
			return unusable(err, "look for unfinished files")
		}
		for _, file := range unfinished {
			if err := removeFile(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close takes back the announcement and lets go of the directory. Calling it
// again does nothing.
func (d *Dir) Close() error {
	if !d.lock.held() {
		return nil
	}
	// Between these lines the directory is held and serves nothing, which is
	// what clients are then told. A crash here leaves the lock free.
	err := removeFile(filepath.Join(d.path, connectionName))
	return errors.CombineErrors(err, d.lock.release())
}

// Path is the directory, absolute.
func (d *Dir) Path() string { return d.path }

// StoreDir is the embedded server's message store, inside the directory. It
// may not exist yet.
func (d *Dir) StoreDir() string { return filepath.Join(d.path, storeName) }

// LedgerID is the ledger's random name: 32 hexadecimal digits.
func (d *Dir) LedgerID() string { return d.ledger.ID }

// StoreLimit is how many bytes the message store may take. It was chosen when
// the ledger was made, and streams are bounded by it: it may be raised by hand
// while no daemon runs, and never lowered.
func (d *Dir) StoreLimit() int64 { return d.ledger.StoreLimit }

// PublicKey is the public nkey (U…) of operator, coordinator or reader.
func (d *Dir) PublicKey(role natsdeploy.Role) (string, error) {
	return publicKey(CredentialFile(d.path, role))
}

func makeDir(path string) error {
	_, err := os.Stat(path)
	if err == nil {
		return nil // an existing directory keeps its mode; credentials/ has its own
	}
	if !errors.Is(err, os.ErrNotExist) {
		return unusable(err, "look at the data directory")
	}
	if err := os.MkdirAll(path, dirMode); err != nil {
		return unusable(err, "make the data directory")
	}
	return syncDir(filepath.Dir(path))
}

func noLedger(path string) error {
	return errors.WithHint(errors.Wrapf(ErrNoLedger, "%s", path),
		"Check --data-dir. `ledgerd serve` makes a ledger in the directory it is given.")
}

// unusable wraps what the operating system said.
func unusable(err error, doing string) error {
	hint := "The data directory must be a directory on a local disk that this user may write to."
	if errors.Is(err, syscall.ENOSPC) {
		hint = "Free space on the data directory's file system, or move the whole directory to a larger one."
	}
	return errors.WithHint(errors.Wrap(errors.Mark(err, ErrUnusable), doing), hint)
}
