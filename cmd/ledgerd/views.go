package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/postgres"
	"github.com/ledgerd/ledgerd/store/sqlite"
)

// viewsName is the SQLite database in the data directory.
const viewsName = "views.sqlite"

// viewsProjection names the projection in logs, metrics and errors.
const viewsProjection = "views"

// openViews opens the store of the views: SQLite in the data directory, or the
// database that is named.
func openViews(ctx context.Context, dataDir, databaseURL string) (projections.Store, error) {
	if databaseURL != "" {
		return postgres.Open(ctx, databaseURL)
	}
	if _, err := os.Stat(filepath.Join(dataDir, elsewhereName)); err == nil {
		return nil, errors.WithHint(errors.Newf("the views of %s are kept in Postgres", dataDir),
			"give --database-url (or LEDGERD_DATABASE_URL) what the daemon is given")
	}
	return sqlite.Open(ctx, filepath.Join(dataDir, viewsName))
}

// elsewhereName is a file that says that the daemon keeps its views in a
// database: those that may lie in the directory as well are old.
const elsewhereName = "views-are-in-postgres"

// viewsStay refuses to make a second set of views because a setting was
// forgotten: people would go on reading the old ones, which nobody updates.
func (c *serveCommand) viewsStay() error {
	inPostgres := exists(filepath.Join(c.DataDir, elsewhereName))
	inSQLite := !inPostgres && exists(filepath.Join(c.DataDir, viewsName))
	switch {
	case c.MoveViews:
		return nil
	case inPostgres && c.DatabaseURL == "":
		return errors.WithHint(cli.Usagef("the views of %s are kept in Postgres, and --database-url is not given", c.DataDir),
			"Give --database-url (or LEDGERD_DATABASE_URL) as before. To keep the views in SQLite from now on, add --move-views once.")
	case inSQLite && c.DatabaseURL != "":
		return errors.WithHint(cli.Usagef("the views of %s are kept in SQLite there, and --database-url names another place", c.DataDir),
			"Leave --database-url out. To keep the views in Postgres from now on, add --move-views once.")
	}
	return nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// warnOfReaders says when nobody but the views' owner can read them.
func warnOfReaders(ctx context.Context, store projections.Store, log *slog.Logger) error {
	database, ok := store.(*postgres.Store)
	if !ok {
		return nil
	}
	missing, err := database.ReaderMissing(ctx)
	if missing {
		log.Warn("nobody but the views' owner can read them: the role is missing and the daemon may not make it",
			"role", postgres.ReaderRole, "hint", "Let an administrator run `CREATE ROLE "+postgres.ReaderRole+" NOLOGIN`, then restart the daemon.")
	}
	return err
}

// noteViews leaves word of where the daemon keeps its views, for commands that
// are not told.
func noteViews(dataDir, databaseURL string) error {
	note := filepath.Join(dataDir, elsewhereName)
	if databaseURL != "" {
		return errors.Wrap(os.WriteFile(note, nil, 0o600), "note where the views are")
	}
	if err := os.Remove(note); err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Wrap(err, "note where the views are")
	}
	return nil
}

// runViews brings the views up to this program's fold version, and then
// follows the ledger.
func (d *daemon) runViews(ctx context.Context) error {
	version, err := d.store.Version(ctx)
	if err != nil {
		return err
	}
	if version != projections.FoldVersion {
		d.log.Warn("the views were made by another version; they are rebuilt before they are served", "found", version, "wanted", projections.FoldVersion)
		if err := d.rebuildViews(ctx); err != nil {
			return err
		}
	}
	close(d.viewsFit)
	return d.runner.Run(ctx)
}

// tailRetryDelay lies between two questions for the ledger's end.
const tailRetryDelay = 500 * time.Millisecond

// awaitViews waits until the views have all that was decided before the start.
func (d *daemon) awaitViews(ctx context.Context) error {
	select {
	case <-d.viewsFit:
	case <-ctx.Done():
		return nil
	}
	for {
		tail, err := d.ledger.Tail(ctx)
		if err == nil {
			if _, err := d.runner.WaitFor(ctx, tail.Last); err == nil {
				close(d.viewsReady)
			} // else the runner has stopped, and said why
			<-ctx.Done()
			return nil
		}
		select {
		case <-time.After(tailRetryDelay):
		case <-ctx.Done():
			return nil
		}
	}
}

func (d *daemon) rebuildViews(ctx context.Context) error {
	watch := d.metrics.Rebuild()
	_, err := projections.Rebuild(ctx, projections.RebuildConfig{
		Log: d.ledger, Store: d.store, Logger: d.log,
		Progress: watch.Progress,
	})
	watch.End(err)
	return err
}
