package postgres

import (
	"context"
	"io"
	"net"

	"github.com/cockroachdb/errors"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"github.com/ledgerd/ledgerd/projections"
)

// Classes of SQLSTATE that another try may mend.
const (
	classConnection   = "08" // connection exception
	classRollback     = "40" // serialization failure, deadlock
	classResources    = "53" // insufficient resources: connections, memory, disk
	classIntervention = "57" // shutdown, crash, cancelled statement
	classSystem       = "58" // I/O error
)

// Codes of their own.
const (
	codeLockNotAvailable = "55P03"
	codeReadOnly         = "25006" // the server became a replica
	codeNoTable          = "42P01"
	codeNoSchema         = "3F000"
	codeDiskFull         = "53100"
)

// classify tells an error that another try may mend from one that it will not.
func classify(ctx context.Context, err error, what string) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return errors.Wrapf(ctx.Err(), "postgres: %s", what)
	}
	err = errors.Wrapf(err, "postgres: %s", what)
	if code := codeOf(err); code != "" {
		switch {
		case code == codeDiskFull:
			return errors.WithHint(errors.Mark(err, projections.ErrUnavailable), "the database's disk is full: make room, the views go on by themselves")
		case code == codeLockNotAvailable, code == codeReadOnly, isMendable(code[:2]):
			return errors.Mark(err, projections.ErrUnavailable)
		}
		return err
	}
	if isConnection(err) {
		return errors.Mark(err, projections.ErrUnavailable)
	}
	return err
}

func isMendable(class string) bool {
	switch class {
	case classConnection, classRollback, classResources, classIntervention, classSystem:
		return true
	}
	return false
}

// codeOf is the SQLSTATE of an error that the server sent, "" for others.
func codeOf(err error) string {
	var failed *pgconn.PgError
	if errors.As(err, &failed) && len(failed.Code) == len(codeReadOnly) {
		return failed.Code
	}
	return ""
}

// isConnection reports whether an error is of the connection and not of what
// was asked.
func isConnection(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err) ||
		errors.IsAny(err, pgconn.ErrConnClosed, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, puddle.ErrNotAvailable)
}
