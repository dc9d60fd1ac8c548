package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/internal/tables"
)

// snapshot runs do in a transaction that sees one state of the views, and
// gives the index that this state is as of.
func (s *Store) snapshot(ctx context.Context, what string, do func(*sql.Tx) error) (asOf int64, err error) {
	tx, err := s.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
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
	return progress.position.AsOf(), classify(ctx, do(tx), what)
}

// mustBeOpen answers ErrNoCampaign for a campaign that is not.
func mustBeOpen(ctx context.Context, tx *sql.Tx, campaign string) error {
	var one int
	err := tx.QueryRowContext(ctx, "SELECT 1 FROM campaigns WHERE id = ?", projections.Storable(campaign)).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return errors.Wrapf(projections.ErrNoCampaign, "%q", campaign)
	}
	return err
}

// query is a SELECT of a table's rows that grows by conditions.
type query struct {
	where []string
	args  []any
	order string // the column of Page.After
	desc  bool
}

// equal adds a condition, unless the value is empty.
func (q *query) equal(column, value string) {
	if value != "" {
		q.and(column+" = ?", projections.Storable(value))
	}
}

func (q *query) and(condition string, args ...any) {
	q.where = append(q.where, condition)
	q.args = append(q.args, args...)
}

// after begins behind the page before.
func (q *query) after(page projections.Page) {
	if page.After == nil {
		return
	}
	compare := " > ?"
	if q.desc {
		compare = " < ?"
	}
	q.and(q.order+compare, int64(min(*page.After, 1<<63-1)))
}

// text ends a SELECT … FROM … with at most limit rows; 0 is no limit.
func (q *query) text(head string, limit int) string {
	var text strings.Builder
	text.WriteString(head)
	for i, condition := range q.where {
		text.WriteString([]string{" WHERE ", " AND "}[min(i, 1)])
		text.WriteString(condition)
	}
	text.WriteString(" ORDER BY " + q.order)
	if q.desc {
		text.WriteString(" DESC")
	}
	if limit > 0 {
		text.WriteString(" LIMIT ?")
		q.args = append(q.args, limit)
	}
	return text.String()
}

// fetch reads rows of a table.
func fetch[T, R any](ctx context.Context, tx *sql.Tx, table *tables.Table[T, R], q *query, limit int) ([]T, error) {
	head := "SELECT " + strings.Join(table.Columns, ", ") + " FROM " + string(table.View)
	rows, err := tx.QueryContext(ctx, q.text(head, limit), q.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	items := []T{}
	dest := make([]any, len(table.Columns))
	for rows.Next() {
		row := new(R)
		for i, field := range table.Fields(row) {
			dest[i] = fromSQL(field)
		}
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		items = append(items, table.Unpack(row))
	}
	return items, rows.Err()
}

// fetchPage reads a page, and whether there is more behind it.
func fetchPage[T, R any](
	ctx context.Context, tx *sql.Tx, table *tables.Table[T, R], q *query, page projections.Page, place func(*T) uint64,
) (items []T, next *uint64, err error) {
	q.after(page)
	items, err = fetch(ctx, tx, table, q, page.Size()+1)
	items, next = cut(items, page, place)
	return items, next, err
}

// cut takes the item off that only shows that there is more.
func cut[T any](items []T, page projections.Page, place func(*T) uint64) ([]T, *uint64) {
	if len(items) <= page.Size() {
		return items, nil
	}
	items = items[:page.Size()]
	last := place(&items[len(items)-1])
	return items, &last
}
