package postgres

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/internal/reading"
)

// source reads a store's live views.
type source struct{ store *Store }

// maxSnapshots bounds how often a read starts over. Each time a whole rebuild
// has switched and dropped tables in between.
const maxSnapshots = 5

// Snapshot runs do in a repeatable-read transaction.
func (s source) Snapshot(ctx context.Context, what string, do func(reading.Snapshot) error) (asOf int64, err error) {
	for range maxSnapshots {
		asOf, err = s.once(ctx, what, do)
		// The tables of this snapshot's generation were dropped under it: the
		// next snapshot sees the generation that took its place.
		if code := codeOf(err); code != codeNoTable && code != codeNoSchema {
			break
		}
	}
	return asOf, err
}

func (s source) once(ctx context.Context, what string, do func(reading.Snapshot) error) (asOf int64, err error) {
	err = transact(ctx, s.store.pool, what, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		progress, err := readProgress(ctx, tx, live) // the snapshot begins here
		switch {
		case err != nil:
			return err
		case progress.version != projections.FoldVersion:
			return anotherVersion(progress.version)
		}
		asOf = progress.position.AsOf()
		return do(snapshot{tx: tx, generations: progress.generations})
	})
	return asOf, err
}

// snapshot is a reading.Snapshot. It names tables by generation: the SQL views
// may point at newer ones, whose rows this snapshot does not see.
type snapshot struct {
	tx          pgx.Tx
	generations generations
}

func (s snapshot) Query(ctx context.Context, text string, args ...any) (reading.Rows, error) {
	result, err := s.tx.Query(ctx, text, args...)
	return rows{result}, err
}

func (s snapshot) Table(name string) string { return s.generations.table(name) }

func (snapshot) Param(n int) string { return "$" + strconv.Itoa(n) }

func (snapshot) Select(column string, field any) string { return selected(column, field) }

func (snapshot) Dest(field any) any { return fromSQL(field) }

// rows is a reading.Rows.
type rows struct{ pgx.Rows }

func (r rows) Close() error {
	r.Rows.Close()
	return r.Err()
}
