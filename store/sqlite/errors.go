package sqlite

import (
	"context"

	"github.com/cockroachdb/errors"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/ledgerd/ledgerd/projections"
)

// primaryCode is the part of a result code that says what went wrong; the rest
// says where.
const primaryCode = 0xff

// classify tells an error that another try may mend from one that it will not.
func classify(ctx context.Context, err error, what string) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return errors.Wrapf(ctx.Err(), "sqlite: %s", what)
	}
	err = errors.Wrapf(err, "sqlite: %s", what)
	var failed *sqlite.Error
	if !errors.As(err, &failed) {
		return err
	}
	switch failed.Code() & primaryCode {
	case sqlite3.SQLITE_FULL:
		return errors.WithHint(errors.Mark(err, projections.ErrUnavailable), "the disk is full: make room, the views go on by themselves")
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM,
		sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_INTERRUPT:
		return errors.Mark(err, projections.ErrUnavailable)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return errors.WithHint(err, "the views' file is damaged; the ledger is not in it: stop the daemon, delete the file with its -wal and -shm, and start again")
	}
	return err
}
