package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"io/fs"
	"net/url"
	"runtime"

	"github.com/cockroachdb/errors"
	"github.com/pressly/goose/v3"
	"go.uber.org/multierr"

	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/internal/reading"
)

const (
	// busyTimeout is how many milliseconds a transaction waits for another
	// process's: longer than any but a switch takes.
	busyTimeout = "10000"
	// writerCache is how many KiB of pages the writing connection keeps: those that
	// a batch changes, and the inner ones of every index.
	writerCache = "65536"
	// maxReaders bounds how many queries run at once; the rest wait. Reading is
	// computing here.
	minReaders = 4
)

// Store is a projections.Store in a SQLite file.
type Store struct {
	reading.Reader
	path   string
	writer *sql.DB // one connection, whose transactions lock at once
	reader *sql.DB // query_only
	fault  projections.Fault
}

var _ projections.Store = (*Store)(nil)

// Option changes how a store is opened.
type Option func(*Store)

// WithFault sets a hook for tests.
func WithFault(fault projections.Fault) Option { return func(s *Store) { s.fault = fault } }

// Open opens the database at path, and makes it when it is not there. Several
// processes may have it open.
func Open(ctx context.Context, path string, options ...Option) (*Store, error) {
	s := &Store{path: path}
	s.Reader.Source = source{s}
	for _, option := range options {
		option(s)
	}
	var err error
	if s.writer, err = sql.Open("sqlite", dsn(path, "_txlock=immediate&_pragma=cache_size(-"+writerCache+")")); err != nil {
		return nil, errors.Wrapf(err, "sqlite: open %s", path)
	}
	s.writer.SetMaxOpenConns(1)
	if s.reader, err = sql.Open("sqlite", dsn(path, "_pragma=query_only(1)")); err != nil {
		return nil, multierr.Append(errors.Wrapf(err, "sqlite: open %s", path), s.writer.Close())
	}
	readers := max(minReaders, 2*runtime.GOMAXPROCS(0))
	s.reader.SetMaxOpenConns(readers)
	s.reader.SetMaxIdleConns(readers)
	if err := s.prepare(ctx); err != nil {
		return nil, multierr.Append(errors.Wrapf(err, "sqlite: prepare %s", path), s.Close())
	}
	return s, nil
}

// dsn names the file with what every connection starts with. In WAL mode a
// commit that was not synced can be lost with the machine's power, and the
// position with it: the rows come again from the ledger.
func dsn(path, more string) string {
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}
	return name.String() + "?_pragma=busy_timeout(" + busyTimeout + ")&_pragma=journal_mode(wal)&_pragma=synchronous(normal)" +
		"&_pragma=foreign_keys(1)&" + more
}

//go:embed migrations/*.sql
var migrations embed.FS

// prepare brings the schema up and makes empty views the first time.
func (s *Store) prepare(ctx context.Context) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return errors.Wrap(err, "read the migrations")
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, s.writer, files, goose.WithTableName("migrations"))
	if err != nil {
		return errors.Wrap(err, "read the migrations")
	}
	if _, err := provider.Up(ctx); err != nil {
		return classify(ctx, err, "migrate")
	}
	return s.transact(ctx, "make the views", func(tx *sql.Tx) error {
		made, err := tx.ExecContext(ctx, `INSERT INTO progress VALUES ('live', ?, 0, '', '', 0) ON CONFLICT (views) DO NOTHING`, projections.FoldVersion)
		if err != nil {
			return err
		}
		if n, err := made.RowsAffected(); err != nil || n == 0 {
			return err // they are there
		}
		names := names{}
		for _, view := range projections.Views() {
			if err := create(ctx, tx, view, names); err != nil {
				return err
			}
			if err := finish(ctx, tx, view, names); err != nil {
				return err
			}
		}
		return nil
	})
}

// Close waits for what runs and closes the file.
func (s *Store) Close() error {
	return errors.Wrap(multierr.Combine(s.reader.Close(), s.writer.Close()), "sqlite: close")
}

// Version is the fold version of the live views.
func (s *Store) Version(ctx context.Context) (int, error) {
	progress, err := readProgress(ctx, s.reader, live)
	return progress.version, classify(ctx, err, "read the views' version")
}

// Position is how far the live views are.
func (s *Store) Position(ctx context.Context) (projections.Position, error) {
	progress, err := readProgress(ctx, s.reader, live)
	return progress.position, classify(ctx, err, "read the views' position")
}

// transact runs do in a transaction that holds the write lock from its begin.
// It is rolled back when do fails.
func (s *Store) transact(ctx context.Context, what string, do func(*sql.Tx) error) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return classify(ctx, err, what)
	}
	if err := do(tx); err != nil {
		return classify(ctx, multierr.Append(err, ignoreDone(tx.Rollback())), what)
	}
	return classify(ctx, tx.Commit(), what)
}

// ignoreDone drops the news that a cancelled context has rolled back already.
func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}
