package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/errors"

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
