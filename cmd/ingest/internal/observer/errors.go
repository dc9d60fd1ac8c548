package observer

import (
	"context"

	"github.com/cockroachdb/errors"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Errors of a read. The first two may pass; see [Retryable].
var (
	// ErrUnavailable: the database cannot be reached, or went away.
	ErrUnavailable = errors.New("observer: the runner's database is not there")
	// ErrSlow: a query took longer than the statement time-out.
	ErrSlow = errors.New("observer: a query took too long")

	// ErrPublication: the claim lacks an id.
	ErrPublication = errors.New("observer: the publication is not complete")
	// ErrNotOwned: no active lease, run, issue and workspace match the claim.
	ErrNotOwned = errors.New("observer: nothing owns what is claimed")
	// ErrAmbiguous: more than one does.
	ErrAmbiguous = errors.New("observer: more than one row owns what is claimed")
	// ErrBinding: the run's profile binds it to something else.
	ErrBinding = errors.New("observer: the run's profile says otherwise")
	// ErrSchema: tables or columns are not as configured, or not readable.
	ErrSchema = errors.New("observer: the database is not laid out as configured")
	// ErrTooMuch: the run keeps more than is read.
	ErrTooMuch = errors.New("observer: the checkpoint is too large to read")
	// ErrConfig: the configuration cannot be used.
	ErrConfig = errors.New("observer: unusable configuration")
	// ErrNotIsolated: the instance is not the one that was set apart.
	ErrNotIsolated = errors.New("observer: the instance is not isolated")
)

// Retryable reports whether the same read may succeed later.
func Retryable(err error) bool { return errors.IsAny(err, ErrUnavailable, ErrSlow) }

// SQLSTATE codes that a read tells apart.
const (
	stateQueryCanceled         = "57014"
	stateAdminShutdown         = "57P01"
	stateCrashShutdown         = "57P02"
	stateCannotConnectNow      = "57P03"
	stateTooManyConnections    = "53300"
	stateInvalidText           = "22P02" // an id that is no uuid, where ids are
	stateUndefinedTable        = "42P01"
	stateUndefinedColumn       = "42703"
	stateInsufficientPrivilege = "42501"
	stateInvalidAuthorization  = "28000" // a role that is not there, or not let in
	stateInvalidPassword       = "28P01"
	stateInvalidCatalogName    = "3D000" // a database that is not there
)

// classify marks a driver's error by its code.
func classify(ctx context.Context, connection *pgx.Conn, err error) error {
	if err == nil || marked(err) {
		return err
	}
	if ctx.Err() != nil {
		return errors.CombineErrors(errors.WithStack(ctx.Err()), err)
	}
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		if connection == nil || connection.IsClosed() {
			return unavailable(err)
		}
		return errors.Wrap(err, "observer: read the runner's database")
	}
	switch refused.Code {
	case stateQueryCanceled:
		return errors.WithHint(errors.Mark(errors.Wrap(err, ErrSlow.Error()), ErrSlow), "the statement time-out cut it: look for locks and missing indexes in the runner's database")
	case stateAdminShutdown, stateCrashShutdown, stateCannotConnectNow, stateTooManyConnections:
		return unavailable(err)
	case stateInvalidAuthorization, stateInvalidPassword, stateInvalidCatalogName:
		return errors.WithHint(errors.Mark(errors.Wrap(err, ErrConfig.Error()), ErrConfig), "see that the url names a database and a role that may connect to it")
	case stateUndefinedTable, stateUndefinedColumn, stateInsufficientPrivilege:
		return errors.WithHint(errors.Mark(errors.Wrap(err, ErrSchema.Error()), ErrSchema), "name the tables and columns of this deployment, and let the role select from them")
	}
	return errors.Wrap(err, "observer: read the runner's database")
}

func unavailable(err error) error {
	return errors.WithHint(errors.Mark(errors.Wrap(err, ErrUnavailable.Error()), ErrUnavailable), "see that the runner's database runs and that the url is right")
}

// marked reports whether an error already is one of this package's.
func marked(err error) bool {
	return errors.IsAny(err, ErrNotOwned, ErrAmbiguous, ErrBinding, ErrSchema, ErrTooMuch)
}

// hasState reports whether an error has a SQLSTATE.
func hasState(err error, state string) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == state
}
