package storetest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// question is a query that any reader can be asked.
type question struct {
	name string
	ask  func(context.Context, projections.Reader) (any, error)
}

// same holds a store to the answers of a model.
func same(t *testing.T, model, store projections.Reader, questions []question) {
	t.Helper()
	ctx := contextFor(t)
	for _, q := range questions {
		want, wantErr := q.ask(ctx, model)
		got, err := q.ask(ctx, store)
		if wantErr != nil {
			if !errors.Is(err, wantErr) {
				t.Errorf("%s: got %v, want %v", q.name, err, wantErr)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %+v", q.name, err)
			continue
		}
		if reflect.DeepEqual(want, got) { // many times faster than cmp, which tells more
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", q.name, diff)
		}
	}
}

// questions asks everything about some campaigns, and what is like them.
func questions(campaigns []string, page projections.Page) []question {
	var all []question
	add := func(name string, ask func(context.Context, projections.Reader) (any, error)) {
		all = append(all, question{name, ask})
	}
	add("position", func(ctx context.Context, r projections.Reader) (any, error) { return r.Position(ctx) })
	for _, q := range []projections.CampaignQuery{
		{}, {Status: projections.StatusOpen}, {Status: projections.StatusSealed}, {Verdict: domain.NotQualified},
		{Status: projections.StatusSealed, Verdict: domain.Incomplete}, {Verdict: "none"},
	} {
		q.Page = page
		add(fmt.Sprintf("campaigns %+v", q), func(ctx context.Context, r projections.Reader) (any, error) { return r.Campaigns(ctx, q) })
	}
	add("shared measurements", func(ctx context.Context, r projections.Reader) (any, error) { return r.SharedMeasurements(ctx, page) })
	for _, campaign := range append(slices.Clone(campaigns), "", projectionstest.Hostile) {
		all = append(all, questionsOn(campaign, page)...)
	}
	return all
}

// questionsOn asks about one campaign.
func questionsOn(campaign string, page projections.Page) []question {
	var all []question
	add := func(name string, ask func(context.Context, projections.Reader) (any, error)) {
		all = append(all, question{fmt.Sprintf("campaign %q: %s", campaign, name), ask})
	}
	add("campaign", func(ctx context.Context, r projections.Reader) (any, error) { return r.Campaign(ctx, campaign) })
	add("scenarios", func(ctx context.Context, r projections.Reader) (any, error) { return r.Scenarios(ctx, campaign) })
	add("summary", func(ctx context.Context, r projections.Reader) (any, error) { return r.Summary(ctx, campaign) })
	for _, q := range []projections.CellQuery{
		{}, {ScenarioID: projectionstest.ScenarioID(0)}, {Outcome: projections.CellMissing},
		{ScenarioID: projectionstest.ScenarioID(1), Outcome: projections.CellFailed},
	} {
		q.Campaign, q.Page = campaign, page
		add(fmt.Sprintf("cells %+v", q), func(ctx context.Context, r projections.Reader) (any, error) { return r.Cells(ctx, q) })
	}
	passed := projectionstest.StoryPassed
	for _, q := range []projections.ImportQuery{
		{}, {ImportKey: passed.ImportKey()}, {MeasurementKey: passed.MeasurementKey()},
		{ImportKey: passed.ImportKey(), MeasurementKey: projectionstest.StoryFailed.MeasurementKey()},
	} {
		q.Campaign, q.Page = campaign, page
		add(fmt.Sprintf("imports %+v", q), func(ctx context.Context, r projections.Reader) (any, error) { return r.Imports(ctx, q) })
	}
	for _, q := range []projections.RejectionQuery{
		{}, {Kind: domain.KindCell}, {Reason: domain.ReasonArrivalMalformed}, {Kind: domain.KindVoid, Reason: domain.ReasonImportUnknown},
	} {
		q.Campaign, q.Page = campaign, page
		add(fmt.Sprintf("rejections %+v", q), func(ctx context.Context, r projections.Reader) (any, error) { return r.Rejections(ctx, q) })
	}
	for _, q := range []projections.CheckpointQuery{
		{}, {RunID: "run-1"}, {Outcome: projections.CheckpointPending}, {RunID: "run-2", Outcome: projections.CheckpointRejected},
	} {
		q.Campaign, q.Page = campaign, page
		add(fmt.Sprintf("checkpoints %+v", q), func(ctx context.Context, r projections.Reader) (any, error) { return r.Checkpoints(ctx, q) })
	}
	for _, q := range []projections.UsageQuery{
		{}, {From: "2026-01-03"}, {To: "2026-01-02"}, {From: "2026-01-02", To: "2026-01-10"},
	} {
		q.Campaign = campaign
		add(fmt.Sprintf("usage %+v", q), func(ctx context.Context, r projections.Reader) (any, error) { return r.Usage(ctx, q) })
	}
	for _, q := range []projections.EntryQuery{
		{}, {Kind: domain.KindCheckpoint}, {Outcome: domain.Duplicate}, {Kind: domain.KindCell, Outcome: domain.Rejected},
	} {
		q.Campaign, q.Page = campaign, page
		add(fmt.Sprintf("entries %+v", q), func(ctx context.Context, r projections.Reader) (any, error) { return r.Entries(ctx, q) })
	}
	return all
}
