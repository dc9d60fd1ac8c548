package postgres

import (
	"context"

	"github.com/ledgerd/ledgerd/projections"
)

// Abandon does what the end of a process does to a build: its lock and its
// connection are gone, its tables stay. The server notices that a connection
// went only a moment later, so the lock goes first here.
func Abandon(build projections.Build) error {
	b := build.(*builder)
	if err := b.unlock(context.Background()); err != nil {
		return err
	}
	b.closed = true
	return b.conn.Close(context.Background())
}

// AppendNumeric prints a number as it is copied.
var AppendNumeric = appendNumeric
