package reading

import (
	"context"
	"strings"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/internal/tables"
)

// Source is where a Reader reads.
type Source interface {
	// Snapshot runs do on one state of the views and gives the index that it
	// is as of. what says what for, in errors. do may run again, on a later
	// state.
	Snapshot(ctx context.Context, what string, do func(Snapshot) error) (asOf int64, err error)
}

// Snapshot is one state of the views.
type Snapshot interface {
	Query(ctx context.Context, text string, args ...any) (Rows, error)
	// Table is the name of a table in SQL.
	Table(name string) string
	// Param is the nth parameter in SQL, from 1.
	Param(n int) string
	// Select is a column in a SELECT, as it is scanned into the field.
	Select(column string, field any) string
	// Dest is what a field is scanned by.
	Dest(field any) any
	// UsageOfAll sums over all campaigns, each measurement once: as its first
	// import says, and, for what is effective, as its first unvoided one.
	UsageOfAll(ctx context.Context, query projections.UsageQuery) ([]projections.Usage, error)
}

// Rows is a result that is walked.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// Reader is the part of projections.Reader that asks for rows.
type Reader struct{ Source Source }

// exists answers ErrNoCampaign for a campaign that is not open.
func exists(ctx context.Context, s Snapshot, campaign string) error {
	q := newQuery(s, "SELECT 1 FROM "+s.Table("campaigns"))
	q.and("id = ", projections.Storable(campaign))
	found := false
	err := each(ctx, s, q, func(Rows) error { found = true; return nil })
	if err == nil && !found {
		err = errors.Wrapf(projections.ErrNoCampaign, "%q", campaign)
	}
	return err
}

// existsIfNamed is exists, but "" stands for all campaigns.
func existsIfNamed(ctx context.Context, s Snapshot, campaign string) error {
	if campaign == "" {
		return nil
	}
	return exists(ctx, s, campaign)
}

// each walks a query's rows.
func each(ctx context.Context, s Snapshot, q *query, do func(Rows) error) error {
	rows, err := s.Query(ctx, q.String(), q.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// from begins a SELECT of a table's rows.
func from[T, R any](s Snapshot, table *tables.Table[T, R]) *query {
	columns := make([]string, len(table.Columns))
	for i, field := range table.Fields(new(R)) {
		columns[i] = s.Select(table.Columns[i], field)
	}
	return newQuery(s, "SELECT "+strings.Join(columns, ", ")+" FROM "+s.Table(string(table.View)))
}

// fetch reads rows of a table.
func fetch[T, R any](ctx context.Context, s Snapshot, table *tables.Table[T, R], q *query) ([]T, error) {
	items := []T{}
	dest := make([]any, len(table.Columns))
	err := each(ctx, s, q, func(rows Rows) error {
		row := new(R)
		for i, field := range table.Fields(row) {
			dest[i] = s.Dest(field)
		}
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		items = append(items, table.Unpack(row))
		return nil
	})
	return items, err
}

// cut takes off the item that only shows that there is more.
func cut[T any](items []T, page projections.Page, place func(*T) uint64) ([]T, *uint64) {
	if len(items) <= page.Size() {
		return items, nil
	}
	items = items[:page.Size()]
	last := place(&items[len(items)-1])
	return items, &last
}
