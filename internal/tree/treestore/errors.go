package treestore

import (
	"context"

	"github.com/cockroachdb/errors"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/ledgerd/ledgerd/internal/follow"
	"github.com/ledgerd/ledgerd/internal/tree"
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
		return errors.Wrapf(ctx.Err(), "treestore: %s", what)
	}
	err = errors.Wrapf(err, "treestore: %s", what)
	var failed *sqlite.Error
	if !errors.As(err, &failed) {
		return err
	}
	switch failed.Code() & primaryCode {
	case sqlite3.SQLITE_FULL:
		return errors.WithHint(errors.Mark(err, follow.ErrUnavailable), "the disk is full: make room, the tree goes on by itself")
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM,
		sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_INTERRUPT:
		return errors.Mark(err, follow.ErrUnavailable)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return errors.WithHint(errors.Mark(err, tree.ErrTreeDamaged),
			"the file of the tree is damaged, and the signed heads in it are the memory of what was promised: bring tree.sqlite back from a copy "+
				"if there is one; otherwise move it away with its -wal and -shm, and the hashes are made from the ledger again")
	case sqlite3.SQLITE_CONSTRAINT:
		if failed.Code() == sqlite3.SQLITE_CONSTRAINT_TRIGGER {
			return errors.Mark(err, tree.ErrSplitView)
		}
	}
	return err
}
