package postgres

import (
	"context"

	"github.com/cockroachdb/errors"
	"github.com/jackc/pgx/v5"

	"github.com/ledgerd/ledgerd/projections"
)

// Rows of ledger_internal.progress.
const (
	live  = "live"
	build = "build"
)

type progress struct {
	version     int
	position    projections.Position
	generations generations
	builds      int
}

// querier is a pool, a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

const selectProgress = `SELECT version, seq, stream, hash, generations, builds FROM ledger_internal.progress WHERE views = $1`

func readProgress(ctx context.Context, from querier, views string) (progress, error) {
	return scanProgress(from.QueryRow(ctx, selectProgress, views))
}

// lockProgress keeps Apply and Switch out until the transaction ends.
func lockProgress(ctx context.Context, tx pgx.Tx, views string) (progress, error) {
	return scanProgress(tx.QueryRow(ctx, selectProgress+" FOR UPDATE", views))
}

func scanProgress(row pgx.Row) (progress, error) {
	var p progress
	err := row.Scan(&p.version, &p.position.Seq, &p.position.Stream, &p.position.Hash, &p.generations, &p.builds)
	return p, err
}

// move sets the position of a set of views, if it is where it is expected, and
// gives the generations that rows belong in. The row stays locked.
func move(ctx context.Context, tx pgx.Tx, views string, from, to projections.Position) (generations, error) {
	var all generations
	err := tx.QueryRow(ctx, `
		UPDATE ledger_internal.progress SET seq = $1, stream = $2, hash = $3
		WHERE views = $4 AND version = $5 AND seq = $6 AND stream = $7 AND hash = $8
		RETURNING generations`,
		int64(to.Seq), to.Stream, to.Hash, views, projections.FoldVersion, int64(from.Seq), from.Stream, from.Hash).Scan(&all)
	if !errors.Is(err, pgx.ErrNoRows) {
		return all, err
	}
	found, err := readProgress(ctx, tx, views)
	switch {
	case err != nil:
		return nil, err
	case found.version != projections.FoldVersion:
		return nil, anotherVersion(found.version)
	}
	return nil, errors.WithHint(errors.Wrapf(projections.ErrMoved, "expected sequence %d, found %d", from.Seq, found.position.Seq),
		"another process moved these views on; nothing was lost")
}

func anotherVersion(found int) error {
	return errors.WithHint(
		errors.Wrapf(projections.ErrAnotherVersion, "the views have version %d, this program has %d", found, projections.FoldVersion),
		"make the views anew with `ledgerd rebuild`")
}
