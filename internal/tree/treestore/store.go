package treestore

import (
	"context"
	"database/sql"
	"embed"
	"io/fs"
	"net/url"
	"path/filepath"
	"runtime"

	"github.com/cockroachdb/errors"
	"github.com/pressly/goose/v3"
	"go.uber.org/multierr"
	_ "modernc.org/sqlite" // the driver

	"github.com/ledgerd/ledgerd/internal/follow"
	"github.com/ledgerd/ledgerd/internal/tree"
)

// FileName is the database in a data directory.
const FileName = "tree.sqlite"

const (
	// busyTimeout is how many milliseconds a transaction waits for another
	// process's: a batch takes some.
	busyTimeout = "10000"
	// minReaders are how many questions run at once at least.
	minReaders = 4
)

// Store is a tree.Store in a SQLite file.
type Store struct {
	writer *sql.DB // one connection, whose transactions lock at once
	reader *sql.DB // query_only
	fault  follow.Fault
}

var _ tree.Store = (*Store)(nil)

// Option changes how a store is opened.
type Option func(*Store)

// WithFault sets a hook for tests.
func WithFault(fault follow.Fault) Option { return func(s *Store) { s.fault = fault } }

// File is where a data directory's tree is.
func File(dataDir string) string { return filepath.Join(dataDir, FileName) }

// Open opens the database at path, and makes it when it is not there. Several
// processes may have it open.
func Open(ctx context.Context, path string, options ...Option) (*Store, error) {
	s := &Store{}
	for _, option := range options {
		option(s)
	}
	var err error
	if s.writer, err = sql.Open("sqlite", dsn(path, "_txlock=immediate")); err != nil {
		return nil, errors.Wrapf(err, "treestore: open %s", path)
	}
	s.writer.SetMaxOpenConns(1)
	if s.reader, err = sql.Open("sqlite", dsn(path, "_pragma=query_only(1)")); err != nil {
		return nil, multierr.Append(errors.Wrapf(err, "treestore: open %s", path), s.writer.Close())
	}
	readers := max(minReaders, 2*runtime.GOMAXPROCS(0))
	s.reader.SetMaxOpenConns(readers)
	s.reader.SetMaxIdleConns(readers)
	if err := s.prepare(ctx); err != nil {
		return nil, multierr.Append(errors.Wrapf(err, "treestore: prepare %s", path), s.Close())
	}
	return s, nil
}

// dsn names the file with what every connection starts with. Every commit is
// synced: the stream may be younger than what was signed, and this is how that
// is noticed.
func dsn(path, more string) string {
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}
	return name.String() + "?_pragma=busy_timeout(" + busyTimeout + ")&_pragma=journal_mode(wal)&_pragma=synchronous(full)&" + more
}

//go:embed migrations/*.sql
var migrations embed.FS

// prepare brings the schema up and makes the empty tree the first time.
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
	_, err = s.writer.ExecContext(ctx, `INSERT INTO state VALUES (1, 0, '', '', ?) ON CONFLICT (one) DO NOTHING`, tree.EmptyRoot[:])
	return classify(ctx, err, "make the tree")
}

// Close waits for what runs and closes the file.
func (s *Store) Close() error {
	return errors.Wrap(multierr.Combine(s.reader.Close(), s.writer.Close()), "treestore: close")
}

// transact runs do in a transaction that holds the write lock from its begin.
// It is rolled back when do fails.
func (s *Store) transact(ctx context.Context, what string, do func(*sql.Tx) error) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return classify(ctx, err, what)
	}
	if err := do(tx); err != nil {
		if rollback := tx.Rollback(); !errors.Is(rollback, sql.ErrTxDone) { // a cancelled context has rolled back already
			err = multierr.Append(err, rollback)
		}
		return classify(ctx, err, what)
	}
	return classify(ctx, tx.Commit(), what)
}
