package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/internal/tables"
)

const (
	// maxParameters is SQLite's own limit for one statement.
	maxParameters = 32766
	// maxStatementRows is where longer statements stop being faster.
	maxStatementRows = 100
)

// Apply writes the changes and moves the live position, in one transaction.
func (s *Store) Apply(ctx context.Context, from, to projections.Position, changes *projections.Changes) error {
	err := s.transact(ctx, "apply", func(tx *sql.Tx) error {
		if err := move(ctx, tx, live, from, to); err != nil {
			return err
		}
		if err := write(ctx, tx, names{}, changes); err != nil {
			return err
		}
		return s.fault.At(projections.BeforeApplyCommit)
	})
	if err != nil {
		return err
	}
	// Durable from here. Who does not hear of it finds the position moved.
	return s.fault.At(projections.AfterApplyCommit)
}

// write puts every row into its table.
func write(ctx context.Context, tx *sql.Tx, names names, changes *projections.Changes) error {
	w := &writer{ctx: ctx, tx: tx, names: names}
	put(w, &tables.Campaigns, replaced, changes.Campaigns)
	put(w, &tables.Scenarios, replaced, changes.Scenarios)
	put(w, &tables.Slots, replaced, changes.Slots)
	w.voids(changes.ImportVoids) // before imports: a freed slot may be filled again
	put(w, &tables.Imports, added, changes.Imports)
	w.runs(changes.Imports)
	put(w, &tables.Rejections, added, changes.Rejections)
	put(w, &tables.Checkpoints, replaced, changes.Checkpoints)
	put(w, &tables.Usage, replaced, changes.Usage)
	put(w, &tables.Entries, added, changes.Entries)
	return w.err
}

// How rows are put: those that are new for certain, and those that may replace
// one.
const (
	added = iota
	replaced
	ignored // when they are there
)

// writer puts rows; the first error stays.
type writer struct {
	ctx   context.Context
	tx    *sql.Tx
	names names
	err   error
}

func put[T, R any](w *writer, table *tables.Table[T, R], how int, rows []T) {
	if len(rows) == 0 {
		return
	}
	w.insert(w.names.view(table.View), table.Columns, table.Key, how, len(rows), func(i int) []any { return table.Values(&rows[i]) })
}

// insert puts n rows, many in one statement.
func (w *writer) insert(table string, columns []string, key, how, n int, values func(int) []any) {
	if w.err != nil {
		return
	}
	portion := min(n, maxStatementRows, maxParameters/len(columns))
	full, err := w.tx.PrepareContext(w.ctx, insertText(table, columns, key, how, portion))
	if err != nil {
		w.err = errors.Wrapf(err, "insert into %s", table)
		return
	}
	defer full.Close()
	args := make([]any, 0, portion*len(columns))
	for i := 0; i < n && w.err == nil; {
		args = args[:0]
		end := min(i+portion, n)
		rows := end - i
		for ; i < end; i++ {
			for _, field := range values(i) {
				args = append(args, toSQL(field))
			}
		}
		if rows == portion {
			_, err = full.ExecContext(w.ctx, args...)
		} else {
			_, err = w.tx.ExecContext(w.ctx, insertText(table, columns, key, how, rows), args...)
		}
		w.err = errors.Wrapf(err, "insert %d rows into %s", rows, table)
	}
}

func insertText(table string, columns []string, key, how, rows int) string {
	row := "(" + strings.Repeat("?, ", len(columns)-1) + "?)"
	text := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES " + strings.Repeat(row+", ", rows-1) + row
	switch how {
	case ignored:
		return text + " ON CONFLICT DO NOTHING"
	case replaced:
		sets := make([]string, 0, len(columns)-key)
		for _, column := range columns[key:] {
			sets = append(sets, column+" = excluded."+column)
		}
		return text + " ON CONFLICT (" + strings.Join(columns[:key], ", ") + ") DO UPDATE SET " + strings.Join(sets, ", ")
	}
	return text
}

// voids sets the void of imports that are there.
func (w *writer) voids(voids []projections.ImportVoid) {
	if w.err != nil || len(voids) == 0 {
		return
	}
	set, err := w.tx.PrepareContext(w.ctx,
		"UPDATE "+w.names.view(projections.ViewImports)+" SET "+strings.Join(tables.VoidColumns, " = ?, ")+" = ? WHERE ledger_index = ? AND void_index IS NULL")
	if err != nil {
		w.err = errors.Wrap(err, "void imports")
		return
	}
	defer set.Close()
	for i := range voids {
		var args []any
		for _, field := range append(tables.VoidValues(&voids[i].Void), &voids[i].Index) {
			args = append(args, toSQL(field))
		}
		done, err := set.ExecContext(w.ctx, args...)
		if err != nil {
			w.err = errors.Wrapf(err, "void import %d", voids[i].Index)
			return
		}
		if n, err := done.RowsAffected(); err != nil || n != 1 {
			w.err = errors.CombineErrors(errors.AssertionFailedf("sqlite: void import %d: %d rows have it unvoided", voids[i].Index, n), err)
			return
		}
	}
}

type importRun struct {
	campaign, run string
	index         uint64
}

// runs writes which runs an import names.
func (w *writer) runs(imports []projections.Import) {
	var rows []importRun
	for i := range imports {
		for _, run := range imports[i].RunIDs {
			rows = append(rows, importRun{imports[i].Campaign, run, imports[i].Index})
		}
	}
	if len(rows) == 0 {
		return
	}
	// A result may name a run twice.
	w.insert(w.names.table(runsTable), []string{"campaign", "run_id", "ledger_index"}, 3, ignored, len(rows), func(i int) []any {
		return []any{&rows[i].campaign, &rows[i].run, &rows[i].index}
	})
}
