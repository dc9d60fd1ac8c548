package postgres

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"github.com/cockroachdb/errors"
	"github.com/jackc/pgx/v5"

	"github.com/ledgerd/ledgerd/projections"
)

//go:embed tables/*.sql
var tableFiles embed.FS

//go:embed views/*.sql
var viewFiles embed.FS

// finishMark parts a table from what is made when it has been loaded.
const finishMark = "\n-- finish\n"

// runsTable belongs to view imports.
const runsTable = "import_runs"

// ReaderRole may read the SQL views and nothing else. People's own roles are
// granted it.
const ReaderRole = "ledger_reader"

// generationPrefix begins the names of the schemas that hold rows.
const generationPrefix = "ledger_g"

// generations says which generation each view is of.
type generations map[projections.View]int

func schemaOf(generation int) string { return fmt.Sprintf("%s%d", generationPrefix, generation) }

// table is the whole name of a table.
func (g generations) table(name string) string {
	view := projections.View(name)
	if name == runsTable {
		view = projections.ViewImports
	}
	return schemaOf(g[view]) + "." + name
}

func tablesOf(view projections.View) []string {
	if view == projections.ViewImports {
		return []string{string(view), runsTable}
	}
	return []string{string(view)}
}

func create(ctx context.Context, tx pgx.Tx, view projections.View, generation int) error {
	return runTable(ctx, tx, view, generation, 0)
}

func finish(ctx context.Context, tx pgx.Tx, view projections.View, generation int) error {
	return runTable(ctx, tx, view, generation, 1)
}

func runTable(ctx context.Context, tx pgx.Tx, view projections.View, generation, part int) error {
	text, err := tableFiles.ReadFile("tables/" + string(view) + ".sql")
	if err != nil {
		return errors.Wrapf(err, "read the table of view %s", view)
	}
	parts := strings.SplitN(string(text), finishMark, 2)
	if len(parts) != 2 {
		return errors.AssertionFailedf("postgres: tables/%s.sql has no finish mark", view)
	}
	return errors.Wrapf(runScript(ctx, tx, strings.ReplaceAll(parts[part], "{schema}", schemaOf(generation))), "make view %s", view)
}

// runScript runs statements without parameters in one go.
func runScript(ctx context.Context, tx pgx.Tx, text string) error {
	_, err := tx.Conn().PgConn().Exec(ctx, text).ReadAll()
	return err
}

// sqlViews lists the SQL views, in the order in which they are made.
var sqlViews = []string{
	"progress", "campaigns", "scenarios", "cells", "imports", "rejections", "checkpoints", "usage", "entries", "shared_measurements",
}

// publish points the SQL views at generations, and lets the reader role read
// them. Views that others built upon these stay.
func publish(ctx context.Context, tx pgx.Tx, all generations) error {
	pairs := []string{"{" + runsTable + "}", all.table(runsTable)}
	for _, view := range projections.Views() {
		pairs = append(pairs, "{"+string(view)+"}", all.table(string(view)))
	}
	names := strings.NewReplacer(pairs...)
	for _, view := range sqlViews {
		text, err := viewFiles.ReadFile("views/" + view + ".sql")
		if err != nil {
			return errors.Wrapf(err, "read SQL view %s", view)
		}
		if err := runScript(ctx, tx, names.Replace(string(text))); err != nil {
			return errors.Wrapf(err, "publish view ledger.%s", view)
		}
	}
	return grant(ctx, tx)
}

func grant(ctx context.Context, tx pgx.Tx) error {
	var exists bool
	if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", ReaderRole).Scan(&exists); err != nil || !exists {
		return err
	}
	return errors.Wrap(runScript(ctx, tx, "GRANT USAGE ON SCHEMA ledger TO "+ReaderRole+"; GRANT SELECT ON ALL TABLES IN SCHEMA ledger TO "+ReaderRole),
		"let "+ReaderRole+" read")
}

// unpublish drops the SQL views, whose columns may be others in another
// version.
func unpublish(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, "SELECT quote_ident(viewname) FROM pg_views WHERE schemaname = 'ledger'")
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) == 0 {
		return err
	}
	_, err = tx.Exec(ctx, "DROP VIEW ledger."+strings.Join(names, ", ledger."))
	return errors.WithHint(errors.Wrap(err, "drop the views of another version"), "views that were built upon them have to be dropped by hand first")
}
