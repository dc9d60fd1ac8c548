package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/errors"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/internal/tables"
)

// maxUpsertRows is how many rows one statement replaces: they are all in memory
// twice.
const maxUpsertRows = 10_000

// Apply writes the changes and moves the live position, in one transaction.
func (s *Store) Apply(ctx context.Context, from, to projections.Position, changes *projections.Changes) error {
	err := transact(ctx, s.pool, "apply", pgx.TxOptions{}, func(tx pgx.Tx) error {
		all, err := move(ctx, tx, live, from, to)
		if err != nil {
			return err
		}
		if err := write(ctx, tx, all, changes); err != nil {
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
func write(ctx context.Context, tx pgx.Tx, all generations, changes *projections.Changes) error {
	return writeFresh(ctx, tx, all, changes, func(string) bool { return false })
}

// writeFresh is write where the tables certainly hold no rows of some
// campaigns: what cannot be there is not looked for.
func writeFresh(ctx context.Context, tx pgx.Tx, all generations, changes *projections.Changes, fresh func(campaign string) bool) error {
	w := &writer{ctx: ctx, tx: tx, all: all, fresh: fresh}
	put(w, &tables.Campaigns, changes.Campaigns, func(c *projections.Campaign) string { return c.ID })
	put(w, &tables.Scenarios, changes.Scenarios, func(s *projections.Scenario) string { return s.Campaign })
	put(w, &tables.Slots, changes.Slots, func(s *projections.Slot) string { return s.Campaign })
	w.voids(changes.ImportVoids) // before imports: a freed slot may be filled again
	add(w, &tables.Imports, changes.Imports)
	w.runs(changes.Imports)
	add(w, &tables.Rejections, changes.Rejections)
	upsert(w, &tables.Checkpoints, changes.Checkpoints)
	put(w, &tables.Usage, changes.Usage, func(u *projections.Usage) string { return u.Campaign })
	add(w, &tables.Entries, changes.Entries)
	return w.err
}

// writer puts rows; the first error stays.
type writer struct {
	ctx   context.Context
	tx    pgx.Tx
	all   generations
	fresh func(campaign string) bool // no row of it is in the tables
	err   error
}

// put replaces rows by key, and copies those of fresh campaigns.
func put[T, R any](w *writer, table *tables.Table[T, R], rows []T, campaign func(*T) string) {
	var added, replaced []T
	for i := range rows {
		if w.fresh(campaign(&rows[i])) {
			added = append(added, rows[i])
		} else {
			replaced = append(replaced, rows[i])
		}
	}
	add(w, table, added)
	upsert(w, table, replaced)
}

// upsert replaces rows by key.
func upsert[T, R any](w *writer, table *tables.Table[T, R], rows []T) {
	for len(rows) > 0 && w.err == nil {
		portion := rows[:min(len(rows), maxUpsertRows)]
		rows = rows[len(portion):]
		arrays := make([]any, len(table.Columns))
		types := table.Values(&portion[0])
		for j := range arrays {
			arrays[j] = make([]any, len(portion))
		}
		for i := range portion {
			for j, field := range table.Values(&portion[i]) {
				arrays[j].([]any)[i] = toSQL(field)
			}
		}
		_, err := w.tx.Exec(w.ctx, upsertText(w.all.table(string(table.View)), table.Columns, table.Key, types), arrays...)
		w.err = errors.Wrapf(err, "replace %d rows of %s", len(portion), table.View)
	}
}

// upsertText takes an array a column.
func upsertText(table string, columns []string, key int, fields []any) string {
	params := make([]string, len(columns))
	for i := range columns {
		params[i] = fmt.Sprintf("$%d::%s[]", i+1, typeOf(fields[i]))
	}
	sets := make([]string, 0, len(columns)-key)
	for _, column := range columns[key:] {
		sets = append(sets, column+" = excluded."+column)
	}
	return "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") SELECT * FROM unnest(" + strings.Join(params, ", ") +
		") ON CONFLICT (" + strings.Join(columns[:key], ", ") + ") DO UPDATE SET " + strings.Join(sets, ", ")
}

// voids sets the void of imports that are there.
func (w *writer) voids(voids []projections.ImportVoid) {
	if w.err != nil || len(voids) == 0 {
		return
	}
	batch := &pgx.Batch{}
	text := "UPDATE " + w.all.table("imports") + " SET void_index = $1, void_at = $2, void_by = $3, void_reason = $4 WHERE ledger_index = $5 AND void_index IS NULL"
	for i := range voids {
		batch.Queue(text, append(tables.VoidValues(&voids[i].Void), &voids[i].Index)...).Exec(func(done pgconn.CommandTag) error {
			if n := done.RowsAffected(); n != 1 {
				return errors.AssertionFailedf("postgres: void import %d: %d rows have it unvoided", voids[i].Index, n)
			}
			return nil
		})
	}
	w.err = errors.Wrapf(w.tx.SendBatch(w.ctx, batch).Close(), "void %d imports", len(voids))
}

// runsOf is a table of the runs that imports name.
var runsOf = tables.Table[importRun, importRun]{
	View: runsTable, Columns: []string{"campaign", "run_id", "ledger_index"}, Key: 3,
	Pack:   func(r *importRun) *importRun { return r },
	Fields: func(r *importRun) []any { return []any{&r.campaign, &r.run, &r.index} },
}

type importRun struct {
	campaign, run string
	index         uint64
}

// runs writes which runs an import names.
func (w *writer) runs(imports []projections.Import) {
	var rows []importRun
	for i := range imports {
		for j, run := range imports[i].RunIDs {
			if !slices.Contains(imports[i].RunIDs[:j], run) { // a result may name a run twice
				rows = append(rows, importRun{imports[i].Campaign, run, imports[i].Index})
			}
		}
	}
	add(w, &runsOf, rows)
}
