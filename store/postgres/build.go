package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/jackc/pgx/v5"
	"go.uber.org/multierr"

	"github.com/ledgerd/ledgerd/projections"
)

const (
	// dropPatience bounds how long a build waits for readers of the tables that
	// it drops; what it cannot drop the next build does.
	dropPatience = "1s"
	// noticePatience bounds how long the server may take to notice that a
	// connection went, statement and all.
	noticePatience = "10s"
	// switchPatience bounds how long a switch waits for transactions that read
	// the SQL views: Apply, and new readers of those views, wait behind it.
	switchPatience = "1s"
	// switchAttempts and switchPause bound how often it tries again: over a
	// minute in all.
	switchAttempts = 30
	switchPause    = time.Second
)

// finishSettings give a build room to sort what it indexes, and make it look at
// some thousand rows of each table for the planner: looking at ten times as
// many takes longer than all indexes.
const finishSettings = "SET LOCAL maintenance_work_mem = '256MB'; SET LOCAL default_statistics_target = 20"

// builder is a projections.Build. All its work goes over one connection, which
// holds the lock: when that is lost, so is the build.
type builder struct {
	store      *Store
	conn       *pgx.Conn
	generation int
	built      generations
	views      []projections.View
	wanted     map[projections.View]bool
	loaded     map[string]bool // campaigns whose rows were loaded
	closed     bool
}

// Build starts empty views in a new generation. Live views of another version
// are rebuilt all together.
func (s *Store) Build(ctx context.Context, views ...projections.View) (projections.Build, error) {
	b := &builder{store: s, built: generations{}, wanted: map[projections.View]bool{}, loaded: map[string]bool{}}
	if len(views) == 0 {
		views = projections.Views()
	}
	for _, view := range views {
		if !view.Known() {
			return nil, errors.AssertionFailedf("postgres: there is no view %q", view)
		}
		b.wanted[view] = true
	}
	for _, view := range projections.Views() {
		if b.wanted[view] {
			b.views = append(b.views, view)
		}
	}
	var err error
	if b.conn, err = s.connect(ctx); err != nil {
		return nil, classify(ctx, err, "start a build")
	}
	if err := b.start(ctx); err != nil {
		return nil, multierr.Append(err, b.disconnect(ctx))
	}
	return b, nil
}

// start takes the lock, drops what a crashed build left and makes the tables.
func (b *builder) start(ctx context.Context) error {
	var held bool
	if err := b.conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", int64(buildLock)).Scan(&held); err != nil {
		return classify(ctx, err, "lock the build")
	}
	if !held {
		return errors.WithHint(errors.Wrap(projections.ErrRebuildRunning, "another connection holds its lock"), "wait until it ends, or stop it")
	}
	if err := b.sweep(ctx); err != nil {
		return err
	}
	return transact(ctx, b.conn, "start a build", pgx.TxOptions{}, func(tx pgx.Tx) error {
		current, err := lockProgress(ctx, tx, live)
		if err != nil {
			return err
		}
		if current.version != projections.FoldVersion && len(b.views) < len(projections.Views()) {
			return anotherVersion(current.version)
		}
		b.generation = current.builds + 1
		for _, view := range b.views {
			b.built[view] = b.generation
		}
		if _, err := tx.Exec(ctx, "UPDATE ledger_internal.progress SET builds = $1 WHERE views = 'live'", b.generation); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM ledger_internal.progress WHERE views = 'build'"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "INSERT INTO ledger_internal.progress VALUES ('build', $1, 0, '', '', $2, $3)",
			projections.FoldVersion, b.built, b.generation); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "CREATE SCHEMA "+schemaOf(b.generation)); err != nil {
			return err
		}
		for _, view := range b.views {
			if err := create(ctx, tx, view, b.generation); err != nil {
				return err
			}
		}
		return nil
	})
}

// sweep drops every table that the live views do not lie in. Tables that
// somebody still reads, in a snapshot before the last switch, are left for the
// next build.
func (b *builder) sweep(ctx context.Context) error {
	err := transact(ctx, b.conn, "drop old tables", pgx.TxOptions{}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '"+dropPatience+"'"); err != nil {
			return err
		}
		current, err := readProgress(ctx, tx, live)
		if err != nil {
			return err
		}
		return dropUnused(ctx, tx, current.generations)
	})
	if codeOf(err) == codeLockNotAvailable {
		return nil
	}
	return err
}

func dropUnused(ctx context.Context, tx pgx.Tx, used generations) error {
	kept := map[string]bool{}
	for _, view := range projections.Views() {
		kept[schemaOf(used[view])] = true
		for _, table := range tablesOf(view) {
			kept[used.table(table)] = true
		}
	}
	rows, err := tx.Query(ctx, `
		SELECT n.nspname, coalesce(c.relname, '')
		FROM pg_namespace AS n LEFT JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relkind = 'r'
		WHERE n.nspname ~ ('^' || $1 || '[0-9]+$')`, generationPrefix)
	if err != nil {
		return err
	}
	type found struct{ Schema, Table string }
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[found])
	if err != nil {
		return err
	}
	dropped := map[string]bool{}
	for _, f := range all {
		name := "TABLE " + f.Schema + "." + f.Table
		switch {
		case kept[f.Schema+"."+f.Table] || kept[f.Schema] && f.Table == "":
			continue
		case !kept[f.Schema]:
			name = "SCHEMA " + f.Schema + " CASCADE"
		}
		if dropped[name] {
			continue
		}
		dropped[name] = true
		if _, err := tx.Exec(ctx, "DROP "+name); err != nil {
			return errors.Wrapf(err, "drop %s", strings.ToLower(name))
		}
	}
	return nil
}

// Load adds changes and moves the build's position, in one transaction.
func (b *builder) Load(ctx context.Context, from, to projections.Position, changes *projections.Changes) error {
	// Noted first: after a load that failed their rows may be there.
	fresh := map[string]bool{}
	for i := range changes.Campaigns {
		if id := changes.Campaigns[i].ID; !b.loaded[id] {
			b.loaded[id], fresh[id] = true, true
		}
	}
	return transact(ctx, b.conn, "load", pgx.TxOptions{}, func(tx pgx.Tx) error {
		if _, err := move(ctx, tx, build, from, to); err != nil {
			return err
		}
		if err := writeFresh(ctx, tx, b.built, changes.Only(b.wanted), func(campaign string) bool { return fresh[campaign] }); err != nil {
			return err
		}
		return b.store.fault.At(projections.BeforeLoadCommit)
	})
}

// Finish makes the constraints and indexes, and counts the rows for the
// planner.
func (b *builder) Finish(ctx context.Context) error {
	return transact(ctx, b.conn, "finish a build", pgx.TxOptions{}, func(tx pgx.Tx) error {
		if err := runScript(ctx, tx, finishSettings); err != nil {
			return err
		}
		for _, view := range b.views {
			if err := finish(ctx, tx, view, b.generation); err != nil {
				return err
			}
			for _, table := range tablesOf(view) {
				if _, err := tx.Exec(ctx, "ANALYZE "+b.built.table(table)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Switch points the live views at the build's tables.
func (b *builder) Switch(
	ctx context.Context, rest func(context.Context, projections.Position, projections.Position) (projections.Position, *projections.Changes, error),
) error {
	if err := b.switchWhenFree(ctx, rest); err != nil {
		return err
	}
	// Readers see the new rows from here. A crash before left the old ones; the
	// old tables are dropped by Close, or by the next build.
	return b.store.fault.At(projections.AfterSwitchCommit)
}

// switchWhenFree tries again while transactions read the SQL views. Between
// the tries Apply and other readers go on.
func (b *builder) switchWhenFree(
	ctx context.Context, rest func(context.Context, projections.Position, projections.Position) (projections.Position, *projections.Changes, error),
) error {
	for attempt := 1; ; attempt++ {
		err := b.switchOnce(ctx, rest)
		switch {
		case codeOf(err) != codeLockNotAvailable:
			return err
		case attempt == switchAttempts:
			return errors.WithHint(err, "a transaction reads the SQL views and does not end: find it in pg_stat_activity, end it, then rebuild again")
		}
		timer := time.NewTimer(switchPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return errors.Wrap(ctx.Err(), "postgres: switch")
		}
	}
}

// switchOnce points the SQL views first: they may have to be waited for, and
// rest is asked once.
func (b *builder) switchOnce(
	ctx context.Context, rest func(context.Context, projections.Position, projections.Position) (projections.Position, *projections.Changes, error),
) error {
	return transact(ctx, b.conn, "switch", pgx.TxOptions{}, func(tx pgx.Tx) error {
		current, err := lockProgress(ctx, tx, live)
		if err != nil {
			return err
		}
		all, err := b.repoint(ctx, tx, current)
		if err != nil {
			return err
		}
		to, err := b.catchUp(ctx, tx, current.position, rest)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE ledger_internal.progress SET version = $1, seq = $2, stream = $3, hash = $4, generations = $5 WHERE views = 'live'",
			projections.FoldVersion, int64(to.Seq), to.Stream, to.Hash, all); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM ledger_internal.progress WHERE views = 'build'"); err != nil {
			return err
		}
		return b.store.fault.At(projections.BeforeSwitchCommit)
	})
}

// catchUp writes what the build lacks, with Apply kept out.
func (b *builder) catchUp(
	ctx context.Context, tx pgx.Tx, current projections.Position,
	rest func(context.Context, projections.Position, projections.Position) (projections.Position, *projections.Changes, error),
) (projections.Position, error) {
	loaded, err := readProgress(ctx, tx, build)
	if err != nil {
		return projections.Position{}, err
	}
	to, changes, err := rest(ctx, loaded.position, current)
	if err != nil {
		return projections.Position{}, err
	}
	if len(b.views) < len(projections.Views()) && !to.SameRecord(current) {
		return projections.Position{}, errors.AssertionFailedf("postgres: some views would be at sequence %d, the others at %d", to.Seq, current.Seq)
	}
	if changes == nil {
		return to, nil
	}
	return to, write(ctx, tx, b.built, changes.Only(b.wanted))
}

// repoint points the SQL views at the build's tables and gives the generations
// of all of them.
func (b *builder) repoint(ctx context.Context, tx pgx.Tx, current progress) (generations, error) {
	all := generations{}
	for _, view := range projections.Views() {
		all[view] = current.generations[view]
		if b.wanted[view] {
			all[view] = b.generation
		}
	}
	if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '"+switchPatience+"'"); err != nil {
		return nil, err
	}
	if current.version != projections.FoldVersion {
		if err := unpublish(ctx, tx); err != nil {
			return nil, err
		}
	}
	return all, publish(ctx, tx, all)
}

// Close drops what nobody reads any more: the build's tables, or after a
// switch the ones that it replaced. Then it gives the lock back.
func (b *builder) Close(ctx context.Context) error {
	if b.closed {
		return nil
	}
	b.closed = true
	if b.conn.IsClosed() {
		if err := b.reconnect(ctx); err != nil {
			return classify(ctx, err, "end a build whose connection was lost; the next build drops its tables")
		}
	}
	err := b.sweep(ctx)
	if !b.conn.IsClosed() {
		err = multierr.Append(err, classify(ctx, b.unlock(ctx), "unlock the build"))
	}
	return multierr.Append(err, b.disconnect(ctx))
}

// reconnect takes the place of a connection that was lost, by a cancelled
// context mostly, as soon as the server has noticed and given its lock back.
func (b *builder) reconnect(ctx context.Context) error {
	conn, err := b.store.connect(ctx)
	if err != nil {
		return err
	}
	b.conn = conn
	if _, err := conn.Exec(ctx, "SET lock_timeout = '"+noticePatience+"'"); err != nil {
		return multierr.Append(err, b.disconnect(ctx))
	}
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(buildLock)); err != nil {
		return multierr.Append(err, b.disconnect(ctx))
	}
	return nil
}

// unlock gives the lock back now: the server takes a moment to notice that a
// connection has gone.
func (b *builder) unlock(ctx context.Context) error {
	_, err := b.conn.Exec(ctx, "SELECT pg_advisory_unlock($1)", int64(buildLock))
	return err
}

// disconnectTimeout bounds saying goodbye to a server that may not answer.
const disconnectTimeout = 5 * time.Second

func (b *builder) disconnect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), disconnectTimeout)
	defer cancel()
	return errors.Wrap(b.conn.Close(ctx), "postgres: end a build")
}
