package sqlite

import (
	"context"
	"database/sql"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/projections"
)

// Rows of table progress.
const (
	live  = "live"
	build = "build"
)

type progress struct {
	version  int
	position projections.Position
	builds   int64
}

// querier is a pool or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func readProgress(ctx context.Context, from querier, views string) (progress, error) {
	var p progress
	err := from.QueryRowContext(ctx, `SELECT version, seq, stream, hash, builds FROM progress WHERE views = ?`, views).
		Scan(&p.version, &p.position.Seq, &p.position.Stream, &p.position.Hash, &p.builds)
	return p, err
}

// move sets the position of a set of views, if it is where it is expected.
func move(ctx context.Context, tx *sql.Tx, views string, from, to projections.Position) error {
	moved, err := tx.ExecContext(ctx,
		`UPDATE progress SET seq = ?, stream = ?, hash = ? WHERE views = ? AND version = ? AND seq = ? AND stream = ? AND hash = ?`,
		int64(to.Seq), to.Stream, to.Hash, views, projections.FoldVersion, int64(from.Seq), from.Stream, from.Hash)
	if err != nil {
		return err
	}
	if n, err := moved.RowsAffected(); err != nil || n == 1 {
		return err
	}
	found, err := readProgress(ctx, tx, views)
	switch {
	case err != nil:
		return err
	case found.version != projections.FoldVersion:
		return anotherVersion(found.version)
	}
	return errors.WithHint(errors.Wrapf(projections.ErrMoved, "expected sequence %d, found %d", from.Seq, found.position.Seq),
		"another process moved these views on; nothing was lost")
}

func anotherVersion(found int) error {
	return errors.WithHint(
		errors.Wrapf(projections.ErrAnotherVersion, "the views have version %d, this program has %d", found, projections.FoldVersion),
		"make the views anew with `ledgerd rebuild`")
}
