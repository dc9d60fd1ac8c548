package sqlite

import (
	"context"
	"database/sql"
	"strconv"

	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/internal/reading"
)

// source reads a store's live views.
type source struct{ store *Store }

// Snapshot runs do in a transaction, which in WAL mode sees one state of the
// file.
func (s source) Snapshot(ctx context.Context, what string, do func(reading.Snapshot) error) (asOf int64, err error) {
	tx, err := s.store.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return 0, classify(ctx, err, what)
	}
	defer func() { _ = tx.Rollback() }()         // it only read
	progress, err := readProgress(ctx, tx, live) // the snapshot begins here
	switch {
	case err != nil:
		return 0, classify(ctx, err, what)
	case progress.version != projections.FoldVersion:
		return 0, anotherVersion(progress.version)
	}
	return progress.position.AsOf(), classify(ctx, do(snapshot{tx}), what)
}

// snapshot is a reading.Snapshot.
type snapshot struct{ tx *sql.Tx }

func (s snapshot) Query(ctx context.Context, text string, args ...any) (reading.Rows, error) {
	return s.tx.QueryContext(ctx, text, args...)
}

func (snapshot) Table(name string) string { return name }

func (snapshot) Param(n int) string { return "?" + strconv.Itoa(n) }

func (snapshot) Select(column string, _ any) string { return column }

func (snapshot) Dest(field any) any { return fromSQL(field) }
