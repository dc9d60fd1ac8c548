package sqlite

import (
	"context"

	"github.com/ledgerd/ledgerd/projections"
)

// SetVersion says that another fold made the live views.
func (s *Store) SetVersion(ctx context.Context, version int) error {
	_, err := s.writer.ExecContext(ctx, `UPDATE progress SET version = ? WHERE views = 'live'`, version)
	return err
}

// Abandon does what the end of a process does to a build: its lock is gone,
// its tables stay.
func Abandon(build projections.Build) error { return build.(*builder).lock.Close() }
