package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/cockroachdb/errors"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/internal/tables"
)

// Compare reads the live tables in the snapshot of a transaction on a
// connection of its own, so that writers go on, and the built ones on the
// build's.
func (b *builder) Compare(ctx context.Context, catchUp func(context.Context, projections.Position) error) (comparison *projections.Comparison, err error) {
	other, err := b.store.connect(ctx)
	if err != nil {
		return nil, classify(ctx, err, "compare")
	}
	defer func() { _ = other.Close(context.WithoutCancel(ctx)) }() // it only read
	reading := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = transact(ctx, other, "compare", reading, func(before pgx.Tx) error {
		current, err := readProgress(ctx, before, live) // the snapshot begins here
		switch {
		case err != nil:
			return err
		case current.version != projections.FoldVersion:
			return anotherVersion(current.version)
		}
		if err := catchUp(ctx, current.position); err != nil {
			return err
		}
		return transact(ctx, b.conn, "compare", reading, func(built pgx.Tx) error {
			comparison, err = b.compareAt(ctx, before, built, current)
			return err
		})
	})
	return comparison, err
}

func (b *builder) compareAt(ctx context.Context, before, built pgx.Tx, current progress) (*projections.Comparison, error) {
	loaded, err := readProgress(ctx, built, build)
	switch {
	case err != nil:
		return nil, err
	case !loaded.position.SameRecord(current.position):
		return nil, errors.AssertionFailedf("postgres: the build is at sequence %d, not at %d", loaded.position.Seq, current.position.Seq)
	}
	comparison := &projections.Comparison{At: current.position}
	for _, view := range b.views {
		digest, err := compareView(ctx, before, built, view, current.generations.table(string(view)), b.built.table(string(view)))
		if err != nil {
			return nil, errors.Wrapf(err, "compare view %s", view)
		}
		comparison.Digests = append(comparison.Digests, digest)
	}
	return comparison, nil
}

// compareView digests both tables at the same time, and looks for the first
// difference only when there is one.
func compareView(ctx context.Context, before, built pgx.Tx, view projections.View, liveTable, builtTable string) (projections.ViewDigest, error) {
	shape := tables.ShapeOf(view)
	digest := projections.ViewDigest{View: view}
	both, hashing := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		digest.Live, _, err = digestOf(hashing, before, shape, liveTable)
		return err
	})
	both.Go(func() (err error) {
		digest.Built, digest.Rows, err = digestOf(hashing, built, shape, builtTable)
		return err
	})
	err := both.Wait()
	if err == nil && digest.Live != digest.Built {
		digest.Difference, err = findDifference(ctx, before, built, view, liveTable, builtTable)
	}
	return digest, err
}

// digestOf sums a hash of 64 bits of each row: that needs no order, and as each
// row has its key no two sets of rows are likely to agree. Hashing values is much
// cheaper than hashing rows as they are printed; numbers of one value are equal
// whatever zeros end them.
func digestOf(ctx context.Context, tx pgx.Tx, shape tables.Shape, table string) (digest string, rows int64, err error) {
	columns := make([]string, len(shape.Columns))
	for i, column := range shape.Columns {
		columns[i] = "t." + column
		if shape.JSON[column] {
			columns[i] += "::text" // json has no equality
		}
	}
	var sum string
	err = tx.QueryRow(ctx, "SELECT count(*), coalesce(sum(hash_record_extended(ROW("+strings.Join(columns, ", ")+"), 1)), 0)::text FROM "+
		table+" AS t").Scan(&rows, &sum)
	return fmt.Sprintf("%d:%s", rows, sum), rows, err
}

// findDifference walks both tables by key, in step. Up to the first difference
// they are the same, so of two keys the lower one is what the other side lacks.
func findDifference(ctx context.Context, before, built pgx.Tx, view projections.View, liveTable, builtTable string) (*projections.Difference, error) {
	shape := tables.ShapeOf(view)
	liveRows, err := openWalk(ctx, before, shape, liveTable)
	if err != nil {
		return nil, err
	}
	defer liveRows.rows.Close()
	builtRows, err := openWalk(ctx, built, shape, builtTable)
	if err != nil {
		return nil, err
	}
	defer builtRows.rows.Close()
	for {
		if err := liveRows.next(); err != nil {
			return nil, err
		}
		if err := builtRows.next(); err != nil {
			return nil, err
		}
		order := tables.CompareKeys(liveRows.key, builtRows.key)
		switch {
		case liveRows.key == nil && builtRows.key == nil:
			return nil, errors.AssertionFailedf("postgres: view %s has two digests and no difference", view)
		case order < 0:
			return &projections.Difference{View: view, Key: tables.KeyJSON(shape, liveRows.key), Live: liveRows.row}, nil
		case order > 0:
			return &projections.Difference{View: view, Key: tables.KeyJSON(shape, builtRows.key), Built: builtRows.row}, nil
		case liveRows.row != builtRows.row:
			return &projections.Difference{View: view, Key: tables.KeyJSON(shape, liveRows.key), Live: liveRows.row, Built: builtRows.row}, nil
		}
	}
}

// walk goes through a table by key.
type walk struct {
	rows pgx.Rows
	key  []any  // nil at the end
	row  string // as JSON
}

func openWalk(ctx context.Context, tx pgx.Tx, shape tables.Shape, table string) (*walk, error) {
	key := strings.Join(shape.Columns[:shape.Key], ", ")
	rows, err := tx.Query(ctx, "SELECT row_to_json(t)::text, "+key+" FROM "+table+" AS t ORDER BY "+key)
	return &walk{rows: rows}, err
}

func (w *walk) next() error {
	w.key, w.row = nil, ""
	if !w.rows.Next() {
		return w.rows.Err()
	}
	values, err := w.rows.Values()
	if err != nil {
		return err
	}
	w.row, w.key = values[0].(string), values[1:] // the statement's own types
	return nil
}
