package reading

import (
	"math"
	"strconv"
	"strings"

	"github.com/ledgerd/ledgerd/projections"
)

// query is a SELECT that grows by conditions.
type query struct {
	snapshot Snapshot
	text     strings.Builder
	args     []any
	tail     string // GROUP BY, ORDER BY and LIMIT
}

func newQuery(s Snapshot, head string) *query {
	q := &query{snapshot: s}
	q.text.WriteString(head)
	return q
}

// String is the statement.
func (q *query) String() string { return q.text.String() + q.tail }

// and adds a condition that ends with a value.
func (q *query) and(condition string, value any) { q.where(condition + q.param(value)) }

// equal adds a condition, unless the value is empty.
func (q *query) equal(column, value string) {
	if value != "" {
		q.and(column+" = ", projections.Storable(value))
	}
}

func (q *query) where(condition string) {
	if strings.Contains(q.text.String(), " WHERE ") {
		q.text.WriteString(" AND ")
	} else {
		q.text.WriteString(" WHERE ")
	}
	q.text.WriteString(condition)
}

// param names the parameter that holds a value.
func (q *query) param(value any) string {
	q.args = append(q.args, value)
	return q.snapshot.Param(len(q.args))
}

// order ends the statement.
func (q *query) order(columns string) { q.tail = " ORDER BY " + columns }

// ascending ends the statement with a page of it, and one row more.
func (q *query) ascending(column string, page projections.Page) { q.page(column, " > ", "", page) }

// descending is ascending the other way round.
func (q *query) descending(column string, page projections.Page) {
	q.page(column, " < ", " DESC", page)
}

func (q *query) page(column, compare, direction string, page projections.Page) {
	if page.After != nil {
		q.and(column+compare, int64(min(*page.After, math.MaxInt64)))
	}
	q.tail = " ORDER BY " + column + direction + " LIMIT " + strconv.Itoa(page.Size()+1)
}
