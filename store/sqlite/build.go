package sqlite

import (
	"context"
	"database/sql"

	"github.com/cockroachdb/errors"
	"github.com/gofrs/flock"
	"go.uber.org/multierr"

	"github.com/ledgerd/ledgerd/projections"
)

// lockSuffix ends the name of the file whose lock keeps other builds out. The
// lock ends with its process.
const lockSuffix = ".rebuild.lock"

// builder is a projections.Build.
type builder struct {
	store    *Store
	lock     *flock.Flock
	names    names
	views    []projections.View
	wanted   map[projections.View]bool
	switched bool
	closed   bool
}

// Build starts empty views beside the live ones. Live views of another version
// are rebuilt all together.
func (s *Store) Build(ctx context.Context, views ...projections.View) (projections.Build, error) {
	b := &builder{store: s, lock: flock.New(s.path + lockSuffix), wanted: map[projections.View]bool{}}
	if len(views) == 0 {
		views = projections.Views()
	}
	for _, view := range views {
		if !view.Known() {
			return nil, errors.AssertionFailedf("sqlite: there is no view %q", view)
		}
		b.wanted[view] = true
	}
	for _, view := range projections.Views() {
		if b.wanted[view] {
			b.views = append(b.views, view)
		}
	}
	held, err := b.lock.TryLock()
	switch {
	case err != nil:
		return nil, errors.Mark(errors.Wrapf(err, "sqlite: lock %s", b.lock.Path()), projections.ErrUnavailable)
	case !held:
		return nil, errors.WithHint(errors.Wrapf(projections.ErrRebuildRunning, "%s is locked", b.lock.Path()), "wait until it ends, or stop it")
	}
	if err := s.transact(ctx, "start a build", func(tx *sql.Tx) error { return b.start(ctx, tx) }); err != nil {
		return nil, multierr.Append(err, b.lock.Close())
	}
	return b, nil
}

// start drops what a crashed build left and makes the tables.
func (b *builder) start(ctx context.Context, tx *sql.Tx) error {
	progress, err := readProgress(ctx, tx, live)
	if err != nil {
		return err
	}
	if progress.version != projections.FoldVersion && len(b.views) < len(projections.Views()) {
		return anotherVersion(progress.version)
	}
	b.names = names{prefix: buildPrefix, build: progress.builds + 1}
	if err := dropBuild(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE progress SET builds = ? WHERE views = 'live'`, b.names.build); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO progress VALUES ('build', ?, 0, '', '', 0)`, projections.FoldVersion); err != nil {
		return err
	}
	for _, view := range b.views {
		if err := create(ctx, tx, view, b.names); err != nil {
			return err
		}
	}
	return nil
}

// Load adds changes and moves the build's position, in one transaction.
func (b *builder) Load(ctx context.Context, from, to projections.Position, changes *projections.Changes) error {
	return b.store.transact(ctx, "load", func(tx *sql.Tx) error {
		if err := move(ctx, tx, build, from, to); err != nil {
			return err
		}
		if err := write(ctx, tx, b.names, changes.Only(b.wanted)); err != nil {
			return err
		}
		return b.store.fault.At(projections.BeforeLoadCommit)
	})
}

// Finish makes the indexes, a transaction each: each keeps Apply out for as
// long as it takes.
func (b *builder) Finish(ctx context.Context) error {
	for _, view := range b.views {
		if err := b.store.transact(ctx, "finish a build", func(tx *sql.Tx) error { return finish(ctx, tx, view, b.names) }); err != nil {
			return err
		}
	}
	return nil
}

// Switch drops the live tables and renames the built ones.
func (b *builder) Switch(
	ctx context.Context, rest func(context.Context, projections.Position, projections.Position) (projections.Position, *projections.Changes, error),
) error {
	err := b.store.transact(ctx, "switch", func(tx *sql.Tx) error {
		to, err := b.catchUp(ctx, tx, rest)
		if err != nil {
			return err
		}
		if err := b.rename(ctx, tx, to); err != nil {
			return err
		}
		return b.store.fault.At(projections.BeforeSwitchCommit)
	})
	if err != nil {
		return err
	}
	// Readers see the new rows from here. A crash before left the old ones.
	b.switched = true
	return b.store.fault.At(projections.AfterSwitchCommit)
}

// catchUp writes what the build lacks, with the write lock held.
func (b *builder) catchUp(
	ctx context.Context, tx *sql.Tx, rest func(context.Context, projections.Position, projections.Position) (projections.Position, *projections.Changes, error),
) (projections.Position, error) {
	built, err := readProgress(ctx, tx, build)
	if err != nil {
		return projections.Position{}, err
	}
	current, err := readProgress(ctx, tx, live)
	if err != nil {
		return projections.Position{}, err
	}
	to, changes, err := rest(ctx, built.position, current.position)
	if err != nil {
		return projections.Position{}, err
	}
	if len(b.views) < len(projections.Views()) && !to.SameRecord(current.position) {
		return projections.Position{}, errors.AssertionFailedf("sqlite: some views would be at sequence %d, the others at %d", to.Seq, current.position.Seq)
	}
	if changes == nil {
		return to, nil
	}
	return to, write(ctx, tx, b.names, changes.Only(b.wanted))
}

func (b *builder) rename(ctx context.Context, tx *sql.Tx, to projections.Position) error {
	for _, view := range b.views {
		for _, table := range tablesOf(view) {
			if _, err := tx.ExecContext(ctx, "DROP TABLE IF EXISTS "+table); err != nil {
				return errors.Wrapf(err, "drop %s", table)
			}
			if _, err := tx.ExecContext(ctx, "ALTER TABLE "+b.names.table(table)+" RENAME TO "+table); err != nil {
				return errors.Wrapf(err, "rename %s", table)
			}
		}
	}
	if _, err := tx.ExecContext(ctx, `UPDATE progress SET version = ?, seq = ?, stream = ?, hash = ? WHERE views = 'live'`,
		projections.FoldVersion, int64(to.Seq), to.Stream, to.Hash); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM progress WHERE views = 'build'`)
	return err
}

// Close drops what was built, unless it was switched, and gives the lock back.
func (b *builder) Close(ctx context.Context) error {
	if b.closed {
		return nil
	}
	b.closed = true
	var err error
	if !b.switched {
		err = b.store.transact(ctx, "drop a build", func(tx *sql.Tx) error {
			if err := dropBuild(ctx, tx); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, `DELETE FROM progress WHERE views = 'build'`)
			return err
		})
	}
	return multierr.Append(err, errors.Wrap(b.lock.Close(), "sqlite: unlock the build"))
}
