package postgres

import (
	"context"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/internal/reading"
)

// connectTimeout bounds one try to connect.
const connectTimeout = 10 * time.Second

// Store is a projections.Store in a PostgreSQL database.
type Store struct {
	reading.Reader
	pool  *pgxpool.Pool
	fault projections.Fault
}

var _ projections.Store = (*Store)(nil)

// Option changes how a store is opened.
type Option func(*Store)

// WithFault sets a hook for tests.
func WithFault(fault projections.Fault) Option { return func(s *Store) { s.fault = fault } }

// Open connects to the database that url names (postgres://…, with the
// settings of libpq and pgxpool) and brings its schema up. The user owns what
// is made; it needs CREATE on the database, and CREATEROLE for the role
// ledger_reader. Several processes may have the database open.
func Open(ctx context.Context, url string, options ...Option) (*Store, error) {
	config, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		inUTC(conn)
		return nil
	}
	s := &Store{}
	s.Reader.Source = source{s}
	for _, option := range options {
		option(s)
	}
	if err := prepare(ctx, config.ConnConfig); err != nil {
		return nil, errors.Wrap(err, "postgres: prepare the database")
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, errors.Wrap(err, "postgres: connect")
	}
	return s, nil
}

// ReaderMissing tells whether there is no ReaderRole, so that nobody but the
// views' owner can read them.
func (s *Store) ReaderMissing(ctx context.Context) (bool, error) {
	var exists bool
	err := s.pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", ReaderRole).Scan(&exists)
	return !exists, classify(ctx, err, "look for role "+ReaderRole)
}

// prepareConfig sets what every connection starts with: rows that are printed
// as text must not depend on a server's settings.
func prepareConfig(config *pgx.ConnConfig) {
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	for name, value := range map[string]string{"application_name": "ledgerd", "timezone": "UTC", "datestyle": "ISO", "extra_float_digits": "1"} {
		if _, set := config.RuntimeParams[name]; !set || name != "application_name" {
			config.RuntimeParams[name] = value
		}
	}
}

// inUTC makes a connection give times in UTC.
func inUTC(conn *pgx.Conn) {
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
}

// connect gives a connection of its own, outside the pool.
func (s *Store) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return nil, err
	}
	inUTC(conn)
	return conn, nil
}

// Close waits for what runs and closes the connections.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// Version is the fold version of the live views.
func (s *Store) Version(ctx context.Context) (int, error) {
	progress, err := readProgress(ctx, s.pool, live)
	return progress.version, classify(ctx, err, "read the views' version")
}

// Position is how far the live views are.
func (s *Store) Position(ctx context.Context) (projections.Position, error) {
	progress, err := readProgress(ctx, s.pool, live)
	return progress.position, classify(ctx, err, "read the views' position")
}

// beginner is a pool or a connection.
type beginner interface {
	BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
}

// rollbackTimeout bounds giving a connection back after an error, when the
// caller's context has ended already.
const rollbackTimeout = 5 * time.Second

// transact runs do in a transaction. It is rolled back when do fails.
func transact(ctx context.Context, on beginner, what string, options pgx.TxOptions, do func(pgx.Tx) error) error {
	tx, err := on.BeginTx(ctx, options)
	if err != nil {
		return classify(ctx, err, what)
	}
	if err := do(tx); err != nil {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer cancel()
		_ = tx.Rollback(closing) // a connection that cannot is closed, which rolls back too
		return classify(ctx, err, what)
	}
	return classify(ctx, tx.Commit(ctx), what)
}
