package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"

	"github.com/cockroachdb/errors"
	"golang.org/x/sync/errgroup"

	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/internal/tables"
)

// Compare reads the live tables in the snapshot of one transaction, so that
// writers go on, and the built ones, to which nobody writes meanwhile.
func (b *builder) Compare(ctx context.Context, catchUp func(context.Context, projections.Position) error) (*projections.Comparison, error) {
	before, err := b.store.reader.BeginTx(ctx, nil)
	if err != nil {
		return nil, classify(ctx, err, "compare")
	}
	defer func() { _ = before.Rollback() }()        // it only read
	current, err := readProgress(ctx, before, live) // the snapshot begins here
	switch {
	case err != nil:
		return nil, classify(ctx, err, "compare")
	case current.version != projections.FoldVersion:
		return nil, anotherVersion(current.version)
	}
	if err := catchUp(ctx, current.position); err != nil {
		return nil, err
	}
	built, err := b.store.reader.BeginTx(ctx, nil)
	if err != nil {
		return nil, classify(ctx, err, "compare")
	}
	defer func() { _ = built.Rollback() }()
	found, err := readProgress(ctx, built, build)
	switch {
	case err != nil:
		return nil, classify(ctx, err, "compare")
	case !found.position.SameRecord(current.position):
		return nil, errors.AssertionFailedf("sqlite: the build is at sequence %d, not at %d", found.position.Seq, current.position.Seq)
	}
	comparison := &projections.Comparison{At: current.position}
	for _, view := range b.views {
		digest, err := b.compareView(ctx, before, built, view)
		if err != nil {
			return nil, classify(ctx, err, "compare view "+string(view))
		}
		comparison.Digests = append(comparison.Digests, digest)
	}
	return comparison, nil
}

// compareView hashes both tables at the same time, and looks for the first
// difference only when there is one.
func (b *builder) compareView(ctx context.Context, before, built *sql.Tx, view projections.View) (projections.ViewDigest, error) {
	shape := tables.ShapeOf(view)
	digest := projections.ViewDigest{View: view}
	both, hashing := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		digest.Live, _, err = digestOf(hashing, before, string(view), shape)
		return err
	})
	both.Go(func() (err error) {
		digest.Built, digest.Rows, err = digestOf(hashing, built, b.names.view(view), shape)
		return err
	})
	err := both.Wait()
	if err == nil && digest.Live != digest.Built {
		digest.Difference, err = b.findDifference(ctx, before, built, view)
	}
	return digest, err
}

func digestOf(ctx context.Context, tx *sql.Tx, table string, shape tables.Shape) (digest string, n int64, err error) {
	w, err := openWalk(ctx, tx, table, shape)
	if err != nil {
		return "", 0, err
	}
	defer w.rows.Close()
	sum := sha256.New()
	for {
		if err := w.next(); err != nil {
			return "", 0, err
		}
		if w.row == nil {
			return hex.EncodeToString(sum.Sum(nil)), n, nil
		}
		sum.Write(w.buf)
		n++
	}
}

// findDifference walks both tables in step.
func (b *builder) findDifference(ctx context.Context, before, built *sql.Tx, view projections.View) (*projections.Difference, error) {
	shape := tables.ShapeOf(view)
	liveRows, err := openWalk(ctx, before, string(view), shape)
	if err != nil {
		return nil, err
	}
	defer liveRows.rows.Close()
	builtRows, err := openWalk(ctx, built, b.names.view(view), shape)
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
		switch {
		case liveRows.row == nil && builtRows.row == nil:
			return nil, errors.AssertionFailedf("sqlite: view %s has two digests and no difference", view)
		case liveRows.row == nil || builtRows.row == nil || !bytes.Equal(liveRows.buf, builtRows.buf):
			return difference(view, shape, liveRows.row, builtRows.row), nil
		}
	}
}

// walk goes through a table by key.
type walk struct {
	rows *sql.Rows
	row  []any // nil at the end
	dest []any
	buf  []byte // the row as it is hashed
}

func openWalk(ctx context.Context, tx *sql.Tx, table string, shape tables.Shape) (*walk, error) {
	rows, err := tx.QueryContext(ctx, "SELECT "+strings.Join(shape.Columns, ", ")+" FROM "+table+" ORDER BY "+strings.Join(shape.Columns[:shape.Key], ", "))
	if err != nil {
		return nil, errors.Wrapf(err, "read %s", table)
	}
	w := &walk{rows: rows, row: make([]any, len(shape.Columns)), dest: make([]any, len(shape.Columns))}
	for i := range w.row {
		w.dest[i] = &w.row[i]
	}
	return w, nil
}

func (w *walk) next() error {
	if w.row == nil {
		return nil
	}
	if !w.rows.Next() {
		w.row = nil
		return w.rows.Err()
	}
	if err := w.rows.Scan(w.dest...); err != nil {
		return err
	}
	w.buf = w.buf[:0]
	for _, value := range w.row {
		w.buf = appendValue(w.buf, value)
	}
	return nil
}

// appendValue prints a value so that no two rows print the same.
func appendValue(buf []byte, value any) []byte {
	switch value := value.(type) {
	case nil:
		return append(buf, 'n')
	case int64:
		return binary.BigEndian.AppendUint64(append(buf, 'i'), uint64(value))
	case float64:
		return binary.BigEndian.AppendUint64(append(buf, 'f'), math.Float64bits(value))
	case string:
		return append(binary.BigEndian.AppendUint64(append(buf, 't'), uint64(len(value))), value...)
	case []byte:
		return append(binary.BigEndian.AppendUint64(append(buf, 'b'), uint64(len(value))), value...)
	}
	panic("sqlite: a value of no type of SQLite's")
}

// difference compares the rows at which two walks are. Up to there they were
// the same, so the lower key is the one that the other side lacks.
func difference(view projections.View, shape tables.Shape, liveRow, builtRow []any) *projections.Difference {
	liveKey, builtKey := keyOf(shape, liveRow), keyOf(shape, builtRow)
	order := tables.CompareKeys(liveKey, builtKey)
	d := &projections.Difference{View: view}
	if order <= 0 {
		d.Key, d.Live = tables.KeyJSON(shape, liveKey), tables.RowJSON(shape.Columns, liveRow)
	}
	if order >= 0 {
		d.Key, d.Built = tables.KeyJSON(shape, builtKey), tables.RowJSON(shape.Columns, builtRow)
	}
	return d
}

// keyOf is nil at the end of a walk.
func keyOf(shape tables.Shape, row []any) []any {
	if row == nil {
		return nil
	}
	return row[:shape.Key]
}
