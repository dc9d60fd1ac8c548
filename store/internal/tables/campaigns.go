package tables

import (
	"slices"
	"time"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/projections"
)

// CampaignRow is a stored campaign.
type CampaignRow struct {
	projections.Campaign
	reasons     []byte
	voids       []byte
	sealedIndex *uint64
	sealedAt    *time.Time
	sealedBy    *string
}

// Campaigns are replaced by id.
var Campaigns = Table[projections.Campaign, CampaignRow]{
	View: projections.ViewCampaigns,
	Columns: []string{
		"id", "status", "label", "source_revision", "verdict", "reasons", "scenarios", "cells", "passed", "failed", "missing",
		"voided", "voided_failed", "refused", "refused_failed", "refused_after_seal", "voids",
		"spent_cost_usd", "spent_tokens", "spent_reported", "spent_cells",
		"effective_cost_usd", "effective_tokens", "effective_reported", "effective_cells", "budget_usd",
		"accepted", "opened_index", "opened_at", "last_index", "last_at", "sealed_index", "sealed_at", "sealed_by",
	},
	Key: 1,
	Pack: func(c *projections.Campaign) *CampaignRow {
		row := &CampaignRow{Campaign: *c, reasons: printJSON(c.Reasons), voids: printJSON(c.Voids)}
		if c.Sealed != nil {
			row.sealedIndex, row.sealedAt, row.sealedBy = &c.Sealed.Index, &c.Sealed.At, &c.Sealed.Actor
		}
		return row
	},
	Unpack: func(r *CampaignRow) projections.Campaign {
		r.Reasons = parseJSON[[]domain.VerdictReason](r.reasons)
		r.Voids = parseJSON[[]projections.VoidShown](r.voids)
		if r.sealedIndex != nil {
			r.Sealed = &projections.SealedRow{Moment: projections.Moment{Index: *r.sealedIndex, At: *r.sealedAt}, Actor: *r.sealedBy}
		}
		return r.Campaign
	},
	Fields: func(r *CampaignRow) []any {
		return slices.Concat(
			[]any{&r.ID, &r.Status, &r.Label, &r.SourceRevision, &r.Verdict, JSON{&r.reasons},
				&r.Scenarios, &r.Cells, &r.Passed, &r.Failed, &r.Missing,
				&r.Voided, &r.VoidedFailed, &r.Refused, &r.RefusedFailed, &r.RefusedAfterSeal, JSON{&r.voids}},
			spend(&r.Spent), spend(&r.Effective),
			[]any{Decimal{&r.BudgetUSD}, &r.Accepted, &r.Opened.Index, &r.Opened.At, &r.Last.Index, &r.Last.At,
				&r.sealedIndex, &r.sealedAt, &r.sealedBy},
		)
	},
}

func spend(s *projections.Spend) []any {
	return []any{Decimal{&s.CostUSD}, Decimal{&s.Tokens}, &s.Reported, &s.Cells}
}

// Scenarios are replaced by campaign and position.
var Scenarios = Table[projections.Scenario, projections.Scenario]{
	View: projections.ViewScenarios,
	Columns: []string{
		"campaign", "position", "scenario", "label", "definition_digest", "grader_digest", "cells", "passed", "failed", "missing",
	},
	Key: 2, Pack: same[projections.Scenario], Unpack: value[projections.Scenario],
	Fields: func(r *projections.Scenario) []any {
		return []any{&r.Campaign, &r.Position, &r.ID, &r.Label, &r.DefinitionDigest, &r.GraderDigest, &r.Cells, &r.Passed, &r.Failed, &r.Missing}
	},
}

// Slots are replaced by campaign and position.
var Slots = Table[projections.Slot, projections.Slot]{
	View:    projections.ViewCells,
	Columns: []string{"campaign", "position", "scenario", "ordinal", "execution_id", "outcome", "import_index"},
	Key:     2, Pack: same[projections.Slot], Unpack: value[projections.Slot],
	Fields: func(r *projections.Slot) []any {
		return []any{&r.Campaign, &r.Position, &r.ScenarioID, &r.Ordinal, &r.ExecutionID, &r.Outcome, &r.ImportIndex}
	},
}

// Usage is replaced by campaign, day and model.
var Usage = Table[projections.Usage, projections.Usage]{
	View: projections.ViewUsage,
	Columns: []string{
		"campaign", "day", "model", "spent_cost_usd", "spent_tokens", "spent_reported", "spent_cells",
		"effective_cost_usd", "effective_tokens", "effective_reported", "effective_cells",
	},
	Key: 3, Pack: same[projections.Usage], Unpack: value[projections.Usage],
	Fields: func(r *projections.Usage) []any {
		return slices.Concat([]any{&r.Campaign, &r.Day, &r.Model}, spend(&r.Spent), spend(&r.Effective))
	},
}
