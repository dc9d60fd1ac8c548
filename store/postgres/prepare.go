package postgres

import (
	"context"
	"database/sql"
	"embed"
	"io/fs"

	"github.com/cockroachdb/errors"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"go.uber.org/multierr"

	"github.com/ledgerd/ledgerd/projections"
)

// Keys of advisory locks; they belong to the database.
const (
	prepareLock = 0x6c656467657264 // one process brings the schema up at a time
	buildLock   = prepareLock + 1  // one build at a time
)

//go:embed migrations/*.sql
var migrations embed.FS

// prepare brings the schema up and makes empty views the first time. Its
// connections are its own: the lock ends with one of them.
func prepare(ctx context.Context, config *pgx.ConnConfig) (err error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return errors.WithHint(err, hintConnect)
	}
	defer func() { err = multierr.Append(err, conn.Close(context.WithoutCancel(ctx))) }()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(prepareLock)); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS ledger_internal"); err != nil {
		return errors.WithHint(err, "the user of the database url needs CREATE on its database")
	}
	if err := migrate(ctx, config); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := makeViews(ctx, tx); err != nil {
			return err
		}
		return letRead(ctx, tx)
	})
}

// letRead makes the reader's role where that is permitted and lets it read, at
// each start: an administrator may have made the role since the last one.
func letRead(ctx context.Context, tx pgx.Tx) error {
	if err := runScript(ctx, tx, makeReader); err != nil {
		return errors.Wrap(err, "make role "+ReaderRole)
	}
	return grant(ctx, tx)
}

// makeReader makes the role. Roles belong to the whole server: another database
// may have made it, and who may not make roles asks an administrator to.
const makeReader = `DO $$ BEGIN
	CREATE ROLE ` + ReaderRole + ` NOLOGIN;
EXCEPTION
	WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN NULL;
END $$`

// hintConnect is for whoever cannot connect.
const hintConnect = "Check that the database runs, and that host, user and password in its url are right."

func migrate(ctx context.Context, config *pgx.ConnConfig) (err error) {
	db := stdlib.OpenDB(*config)
	defer func() { err = multierr.Append(err, db.Close()) }()
	return migrateOn(ctx, db)
}

func migrateOn(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return errors.Wrap(err, "read the migrations")
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithTableName("ledger_internal.migrations"))
	if err != nil {
		return errors.Wrap(err, "read the migrations")
	}
	_, err = provider.Up(ctx)
	return errors.Wrap(err, "migrate")
}

// firstGeneration is of the views that a new database starts with.
const firstGeneration = 1

// makeViews makes the first generation, unless there is one.
func makeViews(ctx context.Context, tx pgx.Tx) error {
	all := generations{}
	for _, view := range projections.Views() {
		all[view] = firstGeneration
	}
	made, err := tx.Exec(ctx, `INSERT INTO ledger_internal.progress VALUES ('live', $1, 0, '', '', $2, $3) ON CONFLICT (views) DO NOTHING`,
		projections.FoldVersion, all, firstGeneration)
	if err != nil || made.RowsAffected() == 0 {
		return err
	}
	if _, err := tx.Exec(ctx, "CREATE SCHEMA "+schemaOf(firstGeneration)); err != nil {
		return err
	}
	for _, view := range projections.Views() {
		if err := create(ctx, tx, view, firstGeneration); err != nil {
			return err
		}
		if err := finish(ctx, tx, view, firstGeneration); err != nil {
			return err
		}
	}
	return publish(ctx, tx, all)
}
