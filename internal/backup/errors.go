package backup

import "github.com/cockroachdb/errors"

// Errors. Each carries a hint that says what to do.
var (
	// ErrTaken: there is something where a backup, or a ledger, is to be.
	ErrTaken = errors.New("backup: the place is taken")
	// ErrNoBackup: the directory holds no backup, or one that was never
	// finished.
	ErrNoBackup = errors.New("backup: there is no backup")
	// ErrDamaged: a backup, or the ledger that one is made of, is not sound.
	// The findings say where.
	ErrDamaged = errors.New("backup: it is damaged")
	// ErrMovedOn: the target holds, or remembers, more of the ledger than the
	// backup has.
	ErrMovedOn = errors.New("backup: the ledger has moved on since")
	// ErrOtherLedger: the target is another ledger's.
	ErrOtherLedger = errors.New("backup: that is another ledger")
)
