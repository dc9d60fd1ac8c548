package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"strconv"
	"strings"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/projections"
)

//go:embed tables/*.sql
var tableFiles embed.FS

// finishMark parts a table from what is made when it has been loaded.
const finishMark = "\n-- finish\n"

// buildPrefix begins the names of tables that nobody reads yet.
const buildPrefix = "build_"

// runsTable belongs to view imports.
const runsTable = "import_runs"

// names says what the tables of a set of views are called.
type names struct {
	prefix string // "" or buildPrefix
	build  int64  // number of the build; 0 for the first views
}

func (n names) table(name string) string { return n.prefix + name }

func (n names) view(view projections.View) string { return n.table(string(view)) }

// fill replaces {table} by the table's name, and {n} by what ends the names of
// indexes: SQLite keeps those when a table is renamed, and wants them to be
// different.
func (n names) fill(text string) string {
	end := ""
	if n.build > 0 {
		end = "_" + strconv.FormatInt(n.build, 10)
	}
	pairs := []string{"{n}", end, "{" + runsTable + "}", n.table(runsTable)}
	for _, view := range projections.Views() {
		pairs = append(pairs, "{"+string(view)+"}", n.view(view))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// tablesOf lists the tables of a view.
func tablesOf(view projections.View) []string {
	if view == projections.ViewImports {
		return []string{string(view), runsTable}
	}
	return []string{string(view)}
}

func create(ctx context.Context, tx *sql.Tx, view projections.View, names names) error {
	return run(ctx, tx, view, names, 0)
}

func finish(ctx context.Context, tx *sql.Tx, view projections.View, names names) error {
	return run(ctx, tx, view, names, 1)
}

func run(ctx context.Context, tx *sql.Tx, view projections.View, names names, part int) error {
	text, err := tableFiles.ReadFile("tables/" + string(view) + ".sql")
	if err != nil {
		return errors.Wrapf(err, "read the table of view %s", view)
	}
	parts := strings.SplitN(string(text), finishMark, 2)
	if len(parts) != 2 {
		return errors.AssertionFailedf("sqlite: tables/%s.sql has no finish mark", view)
	}
	_, err = tx.ExecContext(ctx, names.fill(parts[part]))
	return errors.Wrapf(err, "make view %s", view)
}

// dropBuild drops every table of a build, also one that crashed or came from
// another version.
func dropBuild(ctx context.Context, tx *sql.Tx) error {
	tables, err := queryTexts(ctx, tx, `SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, ?) = ?`, len(buildPrefix), buildPrefix)
	if err != nil {
		return err
	}
	for _, table := range tables {
		if _, err := tx.ExecContext(ctx, "DROP TABLE "+table); err != nil {
			return errors.Wrapf(err, "drop %s", table)
		}
	}
	return nil
}

func queryTexts(ctx context.Context, tx *sql.Tx, query string, args ...any) (texts []string, err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, rows.Err()
}
