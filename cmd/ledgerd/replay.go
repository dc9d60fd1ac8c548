package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/cockroachdb/errors"
	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/cli"
)

type replayCommand struct {
	auditFlags
	Campaign string `placeholder:"ID" help:"Only this campaign. There is then no root."`
	JSON     bool   `name:"json" help:"Print one JSON object instead of a table."`
}

// Help is shown below the command's flags.
func (replayCommand) Help() string {
	return `Decides every arrival again, by the rules that its record names, and compares the records byte for byte. Nothing is written. It runs beside a daemon, on a data directory whose daemon is stopped, on a backup and on an export with evidence. The root is the one that tree heads sign. The first difference ends it with exit code 1.

Example:
  ledgerd replay
  ledgerd replay --campaign chat-review
  ledgerd replay /backups/2026-10-01`
}

// errDiffers is what a replay ends in that is not the same.
var errDiffers = errors.New("the ledger is not what the rules give")

// replayAnswer is what --json prints.
type replayAnswer struct {
	Ledger string `json:"ledger"` // where it was read
	Same   bool   `json:"same"`
	*audit.Replayed
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"arrivals_per_second"`
}

func (c *replayCommand) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) (err error) {
	from, err := c.open(ctx, streams, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, from.close()) }()
	bar := newWalkBar(streams, "replayed")
	result, err := audit.Replay(ctx, audit.ReplayConfig{Source: from.source, Campaign: c.Campaign, Progress: bar.show})
	seconds := bar.end()
	if err != nil {
		return err
	}
	if c.Campaign != "" && result.Decisions == 0 && len(result.Found) == 0 && result.Difference == nil {
		return errors.WithHint(errors.Newf("the ledger has no decision on campaign %q", c.Campaign), "`ledgerd query campaigns` lists the campaigns")
	}
	if c.JSON {
		err = printLine(streams.Out, replayAnswer{from.name, result.Same(), result, seconds, perSecond(result.Arrivals, seconds)})
	} else {
		err = printReplay(streams.Out, from.name, result, seconds)
	}
	return errors.CombineErrors(err, differs(result))
}

func printReplay(out io.Writer, name string, r *audit.Replayed, seconds float64) error {
	var b strings.Builder
	fmt.Fprintf(&b, "ledger     %s\n", name)
	fmt.Fprintf(&b, "arrivals   %s\n", rate(r.Arrivals, seconds))
	fmt.Fprintf(&b, "decisions  %d are the same, byte for byte\n", r.Decisions)
	if r.Undecided > 0 {
		fmt.Fprintf(&b, "undecided  %d at the end\n", r.Undecided)
	}
	if r.Root != nil {
		fmt.Fprintf(&b, "root       %s over %d records\n", r.Root, r.Decisions)
	}
	b.WriteString("\n" + outcomesTable(r.Outcomes))
	if len(r.Reasons) > 0 {
		b.WriteString("\n" + reasonsTable(signed(r.Reasons)))
	}
	for _, finding := range r.Found {
		fmt.Fprintf(&b, "damage: %s\n", finding)
	}
	if d := r.Difference; d != nil {
		fmt.Fprintf(&b, "first difference: record %d: %s\n  the ledger holds  %s\n  the rules give    %s\n", d.Index, d.Detail, orNone(d.Stored), orNone(d.Replayed))
	}
	_, err := io.WriteString(out, b.String())
	return errors.Wrap(err, "print the answer")
}

// differs is the error that a replay comes to, nil when all is the same.
func differs(r *audit.Replayed) error {
	hint := "nothing was changed; `ledgerd verify --evidence` tells which stream is damaged, `ledgerd restore` brings both back from a backup"
	switch d := r.Difference; {
	case d != nil && d.Field != "":
		return errors.WithHint(errors.Wrapf(errDiffers, "record %d, field %s", d.Index, d.Field), hint)
	case d != nil:
		return errors.WithHint(errors.Wrapf(errDiffers, "record %d: %s", d.Index, d.Detail), hint)
	case len(r.Found) > 0:
		return errors.WithHint(errors.Wrapf(errDamaged, "%s", r.Found[0]), hint)
	}
	return nil
}

func outcomesTable(outcomes map[domain.Outcome]uint64) string {
	t := newTable("outcome", "decisions")
	for _, outcome := range domain.Outcomes() {
		t.AppendRow(table.Row{outcome, outcomes[outcome]})
	}
	return render(t)
}

// signed gives counts as the views count.
func signed[K comparable](counts map[K]uint64) map[K]int64 {
	all := make(map[K]int64, len(counts))
	for key, n := range counts {
		all[key] = int64(n)
	}
	return all
}
