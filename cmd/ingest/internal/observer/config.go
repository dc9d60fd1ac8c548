package observer

import (
	"strings"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/jackc/pgx/v5"

	"github.com/ledgerd/ledgerd/domain/checkpoint"
)

// Time limits of a read.
const (
	// StatementTimeout bounds each query, in the server.
	StatementTimeout = 5 * time.Second
	// ConnectTimeout bounds connecting.
	ConnectTimeout = 5 * time.Second
	// readLimit bounds a whole read, should the server fall silent: connecting,
	// five round trips and the queries, each within its own limit.
	readLimit = 30 * time.Second
)

// Config says what to read and as which claim.
type Config struct {
	URL     string // postgres://…, as pgx reads it
	Layout  Layout
	Profile checkpoint.Profile

	StatementTimeout time.Duration   // 0: StatementTimeout
	Tracer           pgx.QueryTracer // sees every query; nil: nobody does
}

// Layout is where a deployment keeps its checkpoints: a table with one row a
// run and its recovery evidence, and a table with the records. Both name the
// run in the same three columns. A table may be written schema.table.
type Layout struct {
	Checkpoints string // table
	Evidence    string // column: JSON, as text, json or jsonb

	Records string // table
	Key     string // column: text
	Text    string // column: the record, as text (json keeps it as well; jsonb would change it)
	Order   string // column: the records' order

	CompanyID, IssueID, RunID string // columns, in both tables
}

// DefaultLayout is what is read when nothing else is configured.
func DefaultLayout() Layout {
	return Layout{
		Checkpoints: "native_runner_checkpoints",
		Evidence:    "recovery_evidence",
		Records:     "native_runner_checkpoint_records",
		Key:         "record_key",
		Text:        "record_text",
		Order:       "position",
		CompanyID:   "company_id",
		IssueID:     "issue_id",
		RunID:       "run_id",
	}
}

// check refuses a layout with a hole.
func (l Layout) check() error {
	for _, name := range []struct{ what, value string }{
		{"checkpoints table", l.Checkpoints}, {"evidence column", l.Evidence}, {"records table", l.Records},
		{"key column", l.Key}, {"text column", l.Text}, {"order column", l.Order},
		{"company column", l.CompanyID}, {"issue column", l.IssueID}, {"run column", l.RunID},
	} {
		if name.value == "" {
			return errors.WithHintf(errors.Wrapf(ErrConfig, "the layout names no %s", name.what), "begin with the default layout: %+v", DefaultLayout())
		}
	}
	return nil
}

// table quotes a table's name.
func table(name string) string { return pgx.Identifier(strings.Split(name, ".")).Sanitize() }

// column quotes a column's name.
func column(name string) string { return pgx.Identifier{name}.Sanitize() }

// connection gives the driver's settings.
func (c Config) connection() (*pgx.ConnConfig, error) {
	if err := c.Layout.check(); err != nil {
		return nil, err
	}
	settings, err := pgx.ParseConfig(c.URL)
	if err != nil {
		return nil, errors.WithHint(errors.Mark(errors.Wrap(err, ErrConfig.Error()), ErrConfig), "a database url is like postgres://user@host:5432/database")
	}
	settings.ConnectTimeout = ConnectTimeout
	settings.Tracer = c.Tracer
	settings.RuntimeParams["application_name"] = "ledgerd-observer"
	// Prepared statements would outlive a transaction, which poolers refuse.
	settings.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	return settings, nil
}
