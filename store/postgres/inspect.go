package postgres

import (
	"context"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Inspection is what a database says before anything is made in it.
type Inspection struct {
	Version       string // the server's, as it prints it
	User          string
	MayCreate     bool          // schemas in the database
	MayCreateRole bool          // roles, for ReaderRole
	Reader        bool          // ReaderRole is there
	Clock         time.Duration // the server's clock less this machine's
}

// ErrURL: the database's url cannot be used. It is not repeated in the error:
// nobody can tell where the password is in what cannot be parsed.
var ErrURL = errors.New("postgres: the database url cannot be used")

// parseURL reads a url or the key=value settings of libpq. Error: ErrURL.
func parseURL(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.WithHint(ErrURL, "It looks like postgres://user:password@host:5432/database?sslmode=require. "+
			"Write a special character of the password as %XX (@ is %40, / is %2F, % is %25), and check the settings behind the question mark. "+
			"The url is not shown, because it holds the password.")
	}
	prepareConfig(config.ConnConfig)
	return config, nil
}

// Inspect reads what the user of url may do. It changes nothing. Errors:
// ErrURL, those of connecting.
func Inspect(ctx context.Context, url string) (found Inspection, err error) {
	config, err := parseURL(url)
	if err != nil {
		return found, err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return found, errors.WithHint(errors.Wrap(err, "postgres: connect"), hintConnect)
	}
	defer func() { err = errors.CombineErrors(err, conn.Close(context.WithoutCancel(ctx))) }()
	before := time.Now()
	var now time.Time
	err = conn.QueryRow(ctx, `SELECT current_setting('server_version'), current_user,
			has_database_privilege(current_database(), 'CREATE'),
			(SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user),
			EXISTS (SELECT FROM pg_roles WHERE rolname = $1), clock_timestamp()`, ReaderRole).
		Scan(&found.Version, &found.User, &found.MayCreate, &found.MayCreateRole, &found.Reader, &now)
	middle := before.Add(time.Since(before) / 2)
	found.Clock = now.Sub(middle)
	return found, errors.Wrap(err, "postgres: ask for rights and clock")
}
