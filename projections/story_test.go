package projections_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events/eventstest"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// storyRows are the rows of the story, folded in one batch.
func storyRows(t *testing.T) *projections.Changes {
	t.Helper()
	ledger := projectionstest.Story(t)
	return foldAll(t, ledger, projections.NewFold(ledger.Log), ledger.Last()).Rows()
}

func at(index uint64) time.Time { return eventstest.TimeOf(index + 1) }

func moment(index uint64) projections.Moment { return projections.Moment{Index: index, At: at(index)} }

// hostile is how the views keep projectionstest.Hostile.
var hostile = projections.Storable(projectionstest.Hostile)

const model = "openrouter/deepseek/deepseek-v3.2"

func compare(t *testing.T, want, got any, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Error(diff)
	}
}

// TestStoryCampaigns: sums are exact (0.1 + 0.2 is 0.3, and 5e-324 on top),
// what was not reported is null, voided ones stay spent.
func TestStoryCampaigns(t *testing.T) {
	tiny := "0." + strings.Repeat("0", 323) + "5"
	compare(t, []projections.Campaign{
		{
			ID: "alpha", Status: projections.StatusOpen, Label: "the first ␀␀", SourceRevision: projectionstest.Revision,
			Verdict: domain.NotQualified,
			Reasons: []domain.VerdictReason{
				{Code: domain.CodeCleanupFailed, Count: 1, Slots: []string{"scenario-1/1"}},
				{Code: domain.CodeCellMissing, Count: 1, Slots: []string{"scenario-1/2"}},
				{Code: domain.CodeCellVoided, Count: 1, Slots: []string{"scenario-0/2"}},
				{Code: domain.CodeFailedCellVoided, Count: 1, Slots: []string{"scenario-0/2"}},
				{Code: domain.CodeFailedCellRefused, Count: 1, Slots: []string{}},
				{Code: domain.CodeMeasuredBeforeOpening, Count: 3, Slots: []string{"scenario-0/1", "scenario-0/2", "scenario-1/1"}},
				{Code: domain.CodeClockImplausible, Count: 3, Slots: []string{"scenario-0/1", "scenario-0/2", "scenario-1/1"}},
				{Code: domain.CodeDefinitionsUnpinned, Count: 2, Slots: []string{"scenario-0/1", "scenario-0/2"}},
				{Code: domain.CodeBudgetUnproven, Count: 1, Slots: []string{"scenario-1/1"}},
			},
			Scenarios: 2, Cells: 4, Passed: 2, Failed: 1, Missing: 1,
			Voided: 1, VoidedFailed: 1, Refused: 1, RefusedFailed: 1,
			Voids: []projections.VoidShown{{Slot: "scenario-0/2", ImportKey: "178452631822767/1/chat.local.scenario-0-r2", Index: 10, Failed: true,
				Actor: "ops@example.org", Reason: projections.Storable(projectionstest.Hostile)}},
			Spent:     projections.Spend{CostUSD: ptr("0.3" + tiny[3:]), Tokens: ptr("1000"), Reported: 3, Cells: 4},
			Effective: projections.Spend{CostUSD: ptr("0.1" + tiny[3:]), Tokens: ptr("1000"), Reported: 2, Cells: 3},
			BudgetUSD: ptr("12.5"), Accepted: 7, Opened: moment(3), Last: moment(25),
		},
		{
			ID: "beta", Status: projections.StatusSealed, SourceRevision: projectionstest.Revision, Verdict: domain.Incomplete,
			Reasons: []domain.VerdictReason{
				{Code: domain.CodeCellMissing, Count: 2, Slots: []string{"scenario-0/1", "scenario-0/2"}},
				{Code: domain.CodeCellVoided, Count: 1, Slots: []string{"scenario-0/1"}},
				{Code: domain.CodeDefinitionsUnpinned, Count: 2, Slots: []string{"scenario-0/1", "scenario-0/2"}},
			},
			Scenarios: 1, Cells: 2, Missing: 2, Voided: 1, RefusedAfterSeal: 1,
			Voids: []projections.VoidShown{{Slot: "scenario-0/1", ImportKey: "151920247683455/1/chat.local.scenario-0-r1", Index: 26,
				Actor: "ops@example.org", Reason: "the machine was wrong"}},
			Spent:    projections.Spend{CostUSD: ptr("0.1"), Tokens: ptr("1000"), Reported: 1, Cells: 1},
			Accepted: 4, Opened: moment(4), Last: moment(30),
			Sealed: &projections.SealedRow{Moment: moment(27), Actor: "ops@example.org"},
		},
	}, storyRows(t).Campaigns)
}

func TestStoryGrid(t *testing.T) {
	rows := storyRows(t)
	compare(t, []projections.Scenario{
		{Campaign: "alpha", Position: 0, ID: "scenario-0", Cells: 2, Passed: 2},
		{Campaign: "alpha", Position: 1, ID: "scenario-1", Cells: 2, Failed: 1, Missing: 1},
		{Campaign: "beta", Position: 0, ID: "scenario-0", Cells: 2, Missing: 2},
	}, rows.Scenarios, cmpopts.IgnoreFields(projections.Scenario{}, "Label", "DefinitionDigest", "GraderDigest"))
	if rows.Scenarios[0].DefinitionDigest != "" || len(rows.Scenarios[1].GraderDigest) != 64 {
		t.Errorf("digests of scenarios: %+v", rows.Scenarios)
	}
	compare(t, []projections.Slot{
		{Campaign: "alpha", Position: 0, ScenarioID: "scenario-0", Ordinal: 1, Outcome: projections.CellPassed, ImportIndex: ptr(uint64(5))},
		{Campaign: "alpha", Position: 1, ScenarioID: "scenario-0", Ordinal: 2, Outcome: projections.CellPassed, ImportIndex: ptr(uint64(13))},
		{Campaign: "alpha", Position: 2, ScenarioID: "scenario-1", Ordinal: 1, Outcome: projections.CellFailed, ImportIndex: ptr(uint64(8))},
		{Campaign: "alpha", Position: 3, ScenarioID: "scenario-1", Ordinal: 2, Outcome: projections.CellMissing},
		{Campaign: "beta", Position: 0, ScenarioID: "scenario-0", Ordinal: 1, Outcome: projections.CellMissing},
		{Campaign: "beta", Position: 1, ScenarioID: "scenario-0", Ordinal: 2, Outcome: projections.CellMissing},
	}, rows.Slots, cmpopts.IgnoreFields(projections.Slot{}, "ExecutionID"))
}

func TestStoryImports(t *testing.T) {
	type facts struct {
		Index                   uint64
		ImportKey, Measured     string
		Status, Cleanup, CaseID string
		Outcome                 projections.CellOutcome
		Day                     string
		Tokens, CostUSD         *string
		RunIDs                  []string
		Void                    *projections.Void
	}
	var got []facts
	for _, row := range storyRows(t).Imports {
		got = append(got, facts{row.Index, row.ImportKey, row.MeasurementKey, row.Status, row.Cleanup, row.CaseID, row.Outcome,
			row.Day, row.Tokens, row.CostUSD, row.RunIDs, row.Void})
		if row.At != at(row.Index) || len(row.ResultSHA256) != 64 || row.RunAttempt != 1 || row.Model != model || row.DurationMS != 604160.25 {
			t.Errorf("facts of import %d: %+v", row.Index, row)
		}
	}
	passed, failed, unclean, again, shared := projectionstest.StoryPassed, projectionstest.StoryFailed, projectionstest.StoryUnclean,
		projectionstest.StoryAgain, projectionstest.StoryShared
	compare(t, []facts{
		{5, passed.ImportKey(), passed.MeasurementKey(), "passed", "passed", "case", projections.CellPassed,
			"2026-01-03", ptr("1000"), ptr("0.1"), []string{"run-1", "run-2"}, nil}, // the finish has an offset
		{7, failed.ImportKey(), failed.MeasurementKey(), "failed", "passed", hostile, projections.CellFailed,
			"2026-01-02", nil, ptr("0.2"), []string{"run-1"},
			&projections.Void{Moment: moment(10), Actor: "ops@example.org", Reason: hostile}},
		{8, unclean.ImportKey(), unclean.MeasurementKey(), "passed", "left " + hostile, "case", projections.CellFailed,
			"2026-01-02", nil, nil, []string{}, nil},
		{13, again.ImportKey(), again.MeasurementKey(), "passed", "passed", "case", projections.CellPassed,
			"2026-01-02", ptr("0"), ptr("0." + strings.Repeat("0", 323) + "5"), []string{}, nil},
		{15, shared.ImportKey(), shared.MeasurementKey(), "passed", "passed", "case", projections.CellPassed,
			"2026-01-01", ptr("1000"), ptr("0.1"), []string{}, // a finish in the year 0 counts on the day of the decision
			&projections.Void{Moment: moment(26), Actor: "ops@example.org", Reason: "the machine was wrong"}},
	}, got)
	if passed.MeasurementKey() != shared.MeasurementKey() {
		t.Error("no measurement is shared")
	}
}

func TestStoryUsage(t *testing.T) {
	tiny := "0." + strings.Repeat("0", 323) + "5"
	compare(t, []projections.Usage{
		{Campaign: "alpha", Day: "2026-01-02", Model: model,
			Spent:     projections.Spend{CostUSD: ptr("0.2" + tiny[3:]), Tokens: ptr("0"), Reported: 2, Cells: 3},
			Effective: projections.Spend{CostUSD: &tiny, Tokens: ptr("0"), Reported: 1, Cells: 2}},
		{Campaign: "alpha", Day: "2026-01-03", Model: model,
			Spent:     projections.Spend{CostUSD: ptr("0.1"), Tokens: ptr("1000"), Reported: 1, Cells: 1},
			Effective: projections.Spend{CostUSD: ptr("0.1"), Tokens: ptr("1000"), Reported: 1, Cells: 1}},
		{Campaign: "beta", Day: "2026-01-01", Model: model,
			Spent: projections.Spend{CostUSD: ptr("0.1"), Tokens: ptr("1000"), Reported: 1, Cells: 1}},
	}, storyRows(t).Usage)
}

func TestStoryCheckpoints(t *testing.T) {
	rows := storyRows(t).Checkpoints
	compare(t, []projections.Checkpoint{
		{Campaign: "alpha", RunID: "run-1", TurnID: "turn " + hostile, RequestID: "request", Outcome: projections.CheckpointBound,
			Index: 17, At: at(17), ObservedRecords: 7, ObservedBytes: 18},
		{Campaign: "alpha", RunID: "run-2", TurnID: "turn", RequestID: "request", Outcome: projections.CheckpointRejected,
			Index: 21, At: at(21), Reason: domain.ReasonCheckpointContradicted, Field: "/publication/turnId", Detail: "another turn",
			ObservedRecords: 7, ObservedBytes: 22},
		{Campaign: "alpha", RunID: "run-3", TurnID: "turn", RequestID: "request", Outcome: projections.CheckpointPending,
			Index: 23, At: at(23), Detail: "the result was not delivered yet", ObservedRecords: 7, ObservedBytes: 24},
	}, rows, cmpopts.IgnoreFields(projections.Checkpoint{}, "Authority", "AuthoritySHA256", "ObservedSHA256"))
	if !strings.Contains(string(rows[0].Authority), `"runId":"run-1"`) || len(rows[0].AuthoritySHA256) != 64 || rows[1].Authority != nil {
		t.Errorf("authorities: %s, %s", rows[0].Authority, rows[1].Authority)
	}
}

func TestStoryRejectionsAndEntries(t *testing.T) {
	ledger := projectionstest.Story(t)
	rows := storyRows(t)
	rejected := map[uint64]projections.Rejection{}
	for _, row := range rows.Rejections {
		rejected[row.Index] = row
	}
	for i, d := range ledger.Decisions {
		entry := rows.Entries[i]
		compare(t, projections.Entry{
			Index: uint64(i), At: at(uint64(i)), Campaign: d.Campaign, Kind: d.Kind, Outcome: d.Outcome, Reason: d.Reason, Repeats: d.Repeats,
			ArrivalID: d.Arrival.ID, ArrivalSHA256: d.Arrival.SHA256, RecordSHA256: ledger.Hashes[i],
		}, entry)
		if row, ok := rejected[uint64(i)]; ok != (d.Outcome == domain.Rejected) || ok && (row.Reason != d.Reason || row.Detail != projections.Storable(d.Detail)) {
			t.Errorf("decision %d: rejection %+v", i, row)
		}
	}
	foreign := rejected[9].Provenance
	if foreign == nil || foreign.Repository != "someone/else "+hostile || foreign.RunAttempt != 1 {
		t.Errorf("provenance of a foreign cell: %+v", foreign)
	}
	if rejected[14].ImportKey != projectionstest.StoryFailed.ImportKey() || rejected[12].ImportKey != "none" || rejected[1].Provenance != nil {
		t.Errorf("what the rejections name: %+v %+v %+v", rejected[14], rejected[12], rejected[1])
	}
}

// TestOneBatchOfStory: a batch holds each key once, and an import that was
// voided in its own batch carries the void.
func TestOneBatchOfStory(t *testing.T) {
	ledger := projectionstest.Story(t)
	changes := ledger.Fold(0, ledger.Last())
	if len(changes.ImportVoids) != 0 || len(changes.Campaigns) != 2 || len(changes.Checkpoints) != 3 || changes.Decisions != 32 {
		t.Errorf("%d voids, %d campaigns, %d checkpoints, %d decisions",
			len(changes.ImportVoids), len(changes.Campaigns), len(changes.Checkpoints), changes.Decisions)
	}
	if got := ledger.Fold(10, 11); len(got.ImportVoids) != 1 || got.ImportVoids[0].Index != 7 || len(got.Slots) != 1 || got.Rows() != 6 {
		t.Errorf("a void alone changes %+v", got)
	}
	only := changes.Only(map[projections.View]bool{projections.ViewUsage: true})
	if only.Rows() != len(changes.Usage) || only.Decisions != changes.Decisions {
		t.Errorf("only usage: %+v", only)
	}
}
