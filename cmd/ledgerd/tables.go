package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/projections"
)

// maxColumn is how wide a column of sentences gets before it wraps.
const maxColumn = 60

func newTable(columns ...any) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Options.SeparateRows = false
	t.Style().Options.DrawBorder = false
	t.AppendHeader(columns)
	return t
}

// wrap limits columns of sentences, by name.
func wrap(t table.Writer, columns ...string) {
	var configs []table.ColumnConfig
	for _, name := range columns {
		configs = append(configs, table.ColumnConfig{Name: name, WidthMax: maxColumn, WidthMaxEnforcer: text.WrapSoft})
	}
	t.SetColumnConfigs(configs)
}

func render(t table.Writer) string {
	if t.Length() == 0 {
		return "nothing\n"
	}
	return t.Render() + "\n"
}

// footer says of which moment an answer is and how to go on.
func footer(asOf int64, next *uint64) string {
	note := fmt.Sprintf("as of ledger index %d", asOf)
	if asOf < 0 {
		note = "the ledger is empty"
	}
	if next != nil {
		note += fmt.Sprintf("; more with --after %d", *next)
	}
	return note + "\n"
}

func campaignsTable(campaigns []projections.Campaign) string {
	t := newTable("campaign", "status", "verdict", "cells", "passed", "failed", "missing", "cost", "tokens", "reported")
	for i := range campaigns {
		c := &campaigns[i]
		t.AppendRow(table.Row{c.ID, c.Status, c.Verdict, c.Cells, c.Passed, c.Failed, c.Missing,
			dollars(c.Effective.CostUSD), orUnknown(c.Effective.Tokens), coverage(c.Effective)})
	}
	return render(t)
}

// campaignText is all that a campaign comes to.
func campaignText(c *projections.Campaign) string {
	var b strings.Builder
	fmt.Fprintf(&b, "campaign   %s (%s)%s\n", c.ID, c.Status, label(c.Label))
	fmt.Fprintf(&b, "revision   %s\n", c.SourceRevision)
	fmt.Fprintf(&b, "verdict    %s\n", c.Verdict)
	for _, reason := range c.Reasons {
		fmt.Fprintf(&b, "           %d × %s%s\n", reason.Count, reason.Code, slotsText(reason))
	}
	fmt.Fprintf(&b, "cells      %d: %d passed, %d failed, %d missing\n", c.Cells, c.Passed, c.Failed, c.Missing)
	b.WriteString(takenBack(c))
	fmt.Fprintf(&b, "spent      %s for every measurement once, voided ones included\n", spendText(c.Spent))
	fmt.Fprintf(&b, "effective  %s for what counts\n", spendText(c.Effective))
	if c.BudgetUSD != nil {
		fmt.Fprintf(&b, "budget     %s\n", dollars(c.BudgetUSD))
	}
	return b.String() + "\n"
}

// takenBack says what was voided and refused, "" when nothing was.
func takenBack(c *projections.Campaign) string {
	var b strings.Builder
	if c.Voided > 0 {
		fmt.Fprintf(&b, "voided     %d (%d failed)\n", c.Voided, c.VoidedFailed)
		for _, void := range c.Voids {
			fmt.Fprintf(&b, "           %s (%s) by %s: %s\n", void.Slot, failedWord(void.Failed), strconv.QuoteToASCII(void.Actor), strconv.QuoteToASCII(void.Reason))
		}
	}
	if c.Refused+c.RefusedAfterSeal > 0 {
		fmt.Fprintf(&b, "refused    %d cells (%d failed)", c.Refused, c.RefusedFailed)
		if c.RefusedAfterSeal > 0 {
			fmt.Fprintf(&b, "; after the seal %d", c.RefusedAfterSeal)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// slotsText lists a reason's slots, and what the policy asked for.
func slotsText(reason domain.VerdictReason) string {
	text := ""
	if t := reason.Threshold; t != nil {
		text = fmt.Sprintf(" (%d of %d passed; the policy asks for %d)", t.Passed, t.Slots, t.Asked)
	}
	if len(reason.Slots) == 0 {
		return text
	}
	text += ": " + strings.Join(reason.Slots, ", ")
	if more := reason.Count - int64(len(reason.Slots)); more > 0 && len(reason.Slots) == domain.MaxReasonSlots {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func label(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

// cellsTable is the grid: a row a scenario, a column an ordinal.
func cellsTable(cells []projections.Cell) string {
	type row struct {
		scenario string
		slots    map[int64]string
	}
	var rows []*row
	byScenario := map[string]*row{}
	var ordinals []int64
	seen := map[int64]bool{}
	for i := range cells {
		cell := &cells[i]
		r := byScenario[cell.ScenarioID]
		if r == nil {
			r = &row{scenario: cell.ScenarioID, slots: map[int64]string{}}
			byScenario[cell.ScenarioID], rows = r, append(rows, r)
		}
		if !seen[cell.Ordinal] {
			seen[cell.Ordinal], ordinals = true, append(ordinals, cell.Ordinal)
		}
		r.slots[cell.Ordinal] = cellText(cell)
	}
	header := []any{"scenario"}
	for _, ordinal := range ordinals {
		header = append(header, "r"+strconv.FormatInt(ordinal, 10))
	}
	t := newTable(header...)
	for _, r := range rows {
		line := table.Row{r.scenario}
		for _, ordinal := range ordinals {
			line = append(line, r.slots[ordinal])
		}
		t.AppendRow(line)
	}
	return render(t)
}

func cellText(cell *projections.Cell) string {
	if cell.Import == nil {
		return string(cell.Outcome)
	}
	took := (time.Duration(cell.Import.DurationMS) * time.Millisecond).Round(time.Second)
	note := ""
	if cell.Import.Cleanup != "passed" {
		note = ", cleanup " + orNone(cell.Import.Cleanup)
	}
	return fmt.Sprintf("%s%s, %s, %s", cell.Outcome, note, took, dollars(cell.Import.CostUSD))
}

func importsTable(imports []projections.Import) string {
	t := newTable("index", "campaign", "scenario", "r", "outcome", "import key", "cost", "tokens", "counts")
	for i := range imports {
		m := &imports[i]
		t.AppendRow(table.Row{m.Index, m.Campaign, m.ScenarioID, m.Ordinal, m.Outcome, m.ImportKey, dollars(m.CostUSD), orUnknown(m.Tokens), counts(m)})
	}
	return render(t)
}

func counts(m *projections.Import) string {
	if m.Void == nil {
		return "yes"
	}
	return fmt.Sprintf("no: voided by %s (%d): %s", m.Void.Actor, m.Void.Index, m.Void.Reason)
}

// importsText shows imports whole.
func importsText(imports []projections.Import) string {
	var b strings.Builder
	for i := range imports {
		m := &imports[i]
		for _, line := range [][2]string{
			{"import key", m.ImportKey}, {"measurement key", m.MeasurementKey}, {"campaign", m.Campaign},
			{"slot", fmt.Sprintf("%s/%d", m.ScenarioID, m.Ordinal)}, {"ledger index", strconv.FormatUint(m.Index, 10)},
			{"decided", m.At.Format(time.RFC3339)}, {"counts", counts(m)},
			{"outcome", fmt.Sprintf("%s (status %s, cleanup %s)", m.Outcome, m.Status, orNone(m.Cleanup))},
			{"measured", m.StartedAt + " to " + m.FinishedAt}, {"model", m.Model},
			{"cost", dollars(m.CostUSD)}, {"tokens", orUnknown(m.Tokens)}, {"coverage", m.Coverage}, {"run", m.WorkflowRunURL},
			{"artifact", m.ArtifactID + " sha256 " + m.ArtifactSHA256}, {"result", m.ResultPath + " sha256 " + m.ResultSHA256},
			{"host", "sha256 " + m.HostSHA256}, {"definition", "sha256 " + m.DefinitionSHA256},
		} {
			fmt.Fprintf(&b, "%-16s %s\n", line[0], line[1])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func rejectionsTable(rejections []projections.Rejection) string {
	t := newTable("index", "campaign", "kind", "slot", "reason", "field", "why")
	wrap(t, "field", "why")
	for i := range rejections {
		r := &rejections[i]
		t.AppendRow(table.Row{r.Index, orNone(r.Campaign), orNone(string(r.Kind)), claimedSlot(r), r.Reason, r.Field, r.Detail})
	}
	return render(t)
}

// claimedSlot is the slot that a refused cell claims.
func claimedSlot(r *projections.Rejection) string {
	if r.Claimed == nil || r.Claimed.Slot == nil {
		return orNone("")
	}
	return *r.Claimed.Slot
}

func checkpointsTable(checkpoints []projections.Checkpoint) string {
	t := newTable("index", "campaign", "run", "turn", "request", "outcome", "cells", "why")
	wrap(t, "why")
	for i := range checkpoints {
		c := &checkpoints[i]
		t.AppendRow(table.Row{c.Index, c.Campaign, c.RunID, c.TurnID, c.RequestID, c.Outcome, checkpointCells(c), checkpointWhy(c)})
	}
	return render(t)
}

// demoCheckpointsTable is one campaign's checkpoints, with every answer that a
// read got.
func demoCheckpointsTable(checkpoints []projections.Checkpoint, answers readAnswers) string {
	t := newTable("run", "turn", "request", "outcome", "cells", "answers in turn", "why")
	wrap(t, "why")
	for i := range checkpoints {
		c := &checkpoints[i]
		t.AppendRow(table.Row{c.RunID, c.TurnID, c.RequestID, c.Outcome, checkpointCells(c), answers.of(c), checkpointWhy(c)})
	}
	return render(t)
}

// checkpointCells are the slots whose cells name the run.
func checkpointCells(c *projections.Checkpoint) string {
	var cells []string
	for _, cell := range c.Cells {
		cells = append(cells, fmt.Sprintf("%s/%d", cell.ScenarioID, cell.Ordinal))
	}
	return strings.Join(cells, ", ")
}

func checkpointWhy(c *projections.Checkpoint) string {
	if c.Reason == "" {
		return c.Detail
	}
	return string(c.Reason) + ": " + c.Detail
}

func entriesTable(entries []projections.Entry) string {
	t := newTable("index", "arrival", "arrived", "campaign", "kind", "outcome", "reason", "repeats", "record sha256")
	for i := range entries {
		e := &entries[i]
		repeats := ""
		if e.Repeats != nil {
			repeats = strconv.FormatUint(*e.Repeats, 10)
		}
		t.AppendRow(table.Row{e.Index, e.Index + 1, e.At.Format(time.RFC3339), orNone(e.Campaign), orNone(string(e.Kind)), e.Outcome, e.Reason, repeats, short(e.RecordSHA256)})
	}
	return render(t)
}

// short shows the beginning of a digest.
func short(digest string) string {
	const shown = 12
	if len(digest) <= shown {
		return digest
	}
	return digest[:shown] + "…"
}

func dollars(cost *string) string {
	if cost == nil {
		return "unknown"
	}
	return "$" + *cost
}

func orUnknown(s *string) string {
	if s == nil {
		return "unknown"
	}
	return *s
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// spendText is a sum with what it is a sum of.
func spendText(s projections.Spend) string {
	if s.Cells == 0 {
		return "nothing yet,"
	}
	bound := ""
	if s.CostUSD != nil && s.Reported < s.Cells {
		bound = "≥ "
	}
	return fmt.Sprintf("%s%s (of %s cells reported), %s tokens,", bound, dollars(s.CostUSD), coverage(s), orUnknown(s.Tokens))
}

func coverage(s projections.Spend) string { return fmt.Sprintf("%d/%d", s.Reported, s.Cells) }

// printJSON prints an answer as an indented JSON document.
func printJSON(out io.Writer, answer any) error {
	raw, err := json.Marshal(answer, jsontext.WithIndent("  "))
	if err != nil {
		return errors.Wrap(err, "print the answer")
	}
	_, err = out.Write(append(raw, '\n'))
	return errors.Wrap(err, "print the answer")
}

// printLine prints an answer as one JSON line.
func printLine(out io.Writer, answer any) error {
	raw, err := json.Marshal(answer, json.Deterministic(true))
	if err != nil {
		return errors.Wrap(err, "print the answer")
	}
	_, err = out.Write(append(raw, '\n'))
	return errors.Wrap(err, "print the answer")
}
