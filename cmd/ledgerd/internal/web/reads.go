package web

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/projections"
)

// campaignInput names a campaign.
type campaignInput struct {
	ID string `path:"id" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$" doc:"The campaign."`
	Freshness
}

type campaignsInput struct {
	Status  projections.CampaignStatus `query:"status" enum:"open,sealed"`
	Verdict domain.VerdictWord         `query:"verdict" enum:"qualified,not_qualified,incomplete"`
	Paging
	Freshness
}

type cellsInput struct {
	ID       string                  `path:"id" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$" doc:"The campaign."`
	Scenario string                  `query:"scenario" maxLength:"512" doc:"Of this scenario only."`
	Outcome  projections.CellOutcome `query:"outcome" enum:"missing,passed,failed"`
	Paging
	Freshness
}

type campaignRejectionsInput struct {
	ID     string        `path:"id" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$" doc:"The campaign, open or not."`
	Kind   domain.Kind   `query:"kind" enum:"campaign,cell,checkpoint,void,seal"`
	Reason domain.Reason `query:"reason" pattern:"^[a-z0-9_]{1,100}$" doc:"A reason code."`
	Paging
	Freshness
}

type checkpointsInput struct {
	ID      string                        `path:"id" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$" doc:"The campaign."`
	RunID   string                        `query:"run_id" maxLength:"512" doc:"Of this run only."`
	Outcome projections.CheckpointOutcome `query:"outcome" enum:"bound,pending,rejected"`
	Paging
	Freshness
}

// campaignOperations are the answers about one campaign, and the list of all.
func (s *server) campaignOperations(api huma.API) {
	list(api, s, operation("list-campaigns", "/v1/campaigns", "campaigns", "Campaigns, the last opened first"),
		func(ctx context.Context, in *campaignsInput) (projections.List[projections.Campaign], error) {
			return s.Reader.Campaigns(ctx, projections.CampaignQuery{Status: in.Status, Verdict: in.Verdict, Page: in.page()})
		})
	one(api, s, operation("get-campaign", "/v1/campaigns/{id}", "campaigns", "One campaign: status, verdict with reasons, counts, spend"),
		func(ctx context.Context, in *campaignInput) (projections.One[projections.Campaign], error) {
			return s.Reader.Campaign(ctx, in.ID)
		})
	list(api, s, operation("list-scenarios", "/v1/campaigns/{id}/scenarios", "campaigns", "All scenarios of a campaign, in the opening's order"),
		func(ctx context.Context, in *campaignInput) (projections.List[projections.Scenario], error) {
			return s.Reader.Scenarios(ctx, in.ID)
		})
	list(api, s, operation("list-cells", "/v1/campaigns/{id}/cells", "campaigns", "The grid: every selected slot, with the import that fills it"),
		func(ctx context.Context, in *cellsInput) (projections.List[projections.Cell], error) {
			return s.Reader.Cells(ctx, projections.CellQuery{Campaign: in.ID, ScenarioID: in.Scenario, Outcome: in.Outcome, Page: in.page()})
		})
	list(api, s, operation("list-campaign-rejections", "/v1/campaigns/{id}/rejections", "campaigns", "What was refused for a campaign, also before it was open"),
		func(ctx context.Context, in *campaignRejectionsInput) (projections.List[projections.Rejection], error) {
			return s.Reader.Rejections(ctx, projections.RejectionQuery{Campaign: in.ID, Kind: in.Kind, Reason: in.Reason, Page: in.page()})
		})
	list(api, s, operation("list-checkpoints", "/v1/campaigns/{id}/checkpoints", "campaigns", "Checkpoint reads, by the index of the decision that stands"),
		func(ctx context.Context, in *checkpointsInput) (projections.List[projections.Checkpoint], error) {
			return s.Reader.Checkpoints(ctx, projections.CheckpointQuery{Campaign: in.ID, RunID: in.RunID, Outcome: in.Outcome, Page: in.page()})
		})
}

type importsInput struct {
	ImportKey      string `query:"import_key" maxLength:"2048" doc:"CI run id, run attempt and execution id, with slashes between."`
	MeasurementKey string `query:"measurement_key" maxLength:"2048" doc:"Accounting campaign, attempt and execution id, with slashes between."`
	Campaign       string `query:"campaign" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$"`
	Paging
	Freshness
}

type entriesInput struct {
	EntryFilter
	Paging
	Freshness
}

// EntryFilter selects entries.
type EntryFilter struct {
	Campaign string         `query:"campaign" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$"`
	Kind     domain.Kind    `query:"kind" enum:"campaign,cell,checkpoint,void,seal"`
	Outcome  domain.Outcome `query:"outcome" enum:"accepted,duplicate,pending,rejected"`
}

func (f *EntryFilter) query(page projections.Page) projections.EntryQuery {
	return projections.EntryQuery{Campaign: f.Campaign, Kind: f.Kind, Outcome: f.Outcome, Page: page}
}

type rejectionsInput struct {
	Campaign string        `query:"campaign" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$"`
	Kind     domain.Kind   `query:"kind" enum:"campaign,cell,checkpoint,void,seal"`
	Reason   domain.Reason `query:"reason" pattern:"^[a-z0-9_]{1,100}$" doc:"A reason code."`
	Paging
	Freshness
}

type usageInput struct {
	Campaign string `query:"campaign" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$" doc:"Without one: over all campaigns, each measurement once."`
	From     string `query:"from" format:"date" doc:"First day, 2006-01-02, UTC."`
	To       string `query:"to" format:"date" doc:"Last day, 2006-01-02, UTC; not before the first."`
	Freshness
}

// Resolve checks what the schema cannot say. It stands in front of
// Freshness's, which huma then does not call itself.
func (in *usageInput) Resolve(ctx huma.Context) []error {
	wrong := in.Freshness.Resolve(ctx)
	if in.To != "" && in.From > in.To { // days are in the order of their text
		wrong = append(wrong, &huma.ErrorDetail{Message: "after the last day, to", Location: "query.from", Value: in.From})
	}
	return wrong
}

type pageInput struct {
	Paging
	Freshness
}

type summaryInput struct {
	Campaign string `query:"campaign" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$" doc:"Without one: all decisions."`
	Freshness
}

// ledgerOperations are the answers over all campaigns.
func (s *server) ledgerOperations(api huma.API) {
	imports := operation("list-imports", "/v1/imports", "ledger", "Imports by index, by either key; voided ones stay")
	imports.Description = "An import is listed when everything that is given fits it, both keys too."
	list(api, s, imports,
		func(ctx context.Context, in *importsInput) (projections.List[projections.Import], error) {
			return s.Reader.Imports(ctx, projections.ImportQuery{Campaign: in.Campaign, ImportKey: in.ImportKey, MeasurementKey: in.MeasurementKey, Page: in.page()})
		})
	list(api, s, operation("list-entries", "/v1/entries", "ledger", "The ledger's index: one entry for every decision"),
		func(ctx context.Context, in *entriesInput) (projections.List[projections.Entry], error) {
			return s.Reader.Entries(ctx, in.query(in.page()))
		})
	list(api, s, operation("list-rejections", "/v1/rejections", "ledger", "What was refused, by index, with reason, field and a sentence"),
		func(ctx context.Context, in *rejectionsInput) (projections.List[projections.Rejection], error) {
			return s.Reader.Rejections(ctx, projections.RejectionQuery{Campaign: in.Campaign, Kind: in.Kind, Reason: in.Reason, Page: in.page()})
		})
	list(api, s, operation("list-usage", "/v1/usage", "ledger", "Spend by day and model"),
		func(ctx context.Context, in *usageInput) (projections.List[projections.Usage], error) {
			return s.Reader.Usage(ctx, projections.UsageQuery{Campaign: in.Campaign, From: in.From, To: in.To})
		})
	list(api, s, operation("list-shared-measurements", "/v1/measurements/shared", "ledger", "Imports whose measurement several campaigns imported"),
		func(ctx context.Context, in *pageInput) (projections.List[projections.SharedImport], error) {
			return s.Reader.SharedMeasurements(ctx, in.page())
		})
	one(api, s, operation("get-summary", "/v1/summary", "ledger", "How many decisions of each outcome, and refusals of each reason"),
		func(ctx context.Context, in *summaryInput) (projections.One[projections.Summary], error) {
			return s.Reader.Summary(ctx, in.Campaign)
		})
}
