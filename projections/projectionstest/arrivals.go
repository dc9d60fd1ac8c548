package projectionstest

import (
	"encoding/json"
	"fmt"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest"
)

// Revision is the source revision of every campaign here.
const Revision = "431c72fa01eac861c0da8c8101375b849495e13e"

// Ordinals of every scenario.
var Ordinals = []int64{1, 2}

// Campaign says what is opened: so many scenarios, with [Ordinals] each.
type Campaign struct {
	ID        string
	Label     string
	Scenarios int
	BudgetUSD *float64
}

// ScenarioID names a campaign's nth scenario, from 0.
func ScenarioID(n int) string { return fmt.Sprintf("scenario-%d", n) }

// Opening is the campaign as it arrives.
func (c Campaign) Opening() *domain.Opening {
	opening := &domain.Opening{SourceRevision: Revision, Label: c.Label, PolicyPreset: domain.PresetPaperclipChat}
	for n := range c.Scenarios {
		scenario := domain.Scenario{ID: ScenarioID(n), Label: fmt.Sprintf("the scenario number %d", n)}
		if n%2 == 1 {
			scenario.DefinitionDigest, scenario.GraderDigest = digest("definition", scenario.ID), digest("grader", scenario.ID)
		}
		opening.Scenarios = append(opening.Scenarios, scenario)
		for _, ordinal := range Ordinals {
			opening.Selected = append(opening.Selected, domain.Selection{
				ScenarioID: scenario.ID, ExecutionID: executionID(scenario.ID, ordinal), RemoteOrdinal: ordinal,
			})
		}
	}
	if c.BudgetUSD != nil {
		opening.Budget = &domain.Budget{CostUSD: *c.BudgetUSD}
	}
	return opening
}

// Open opens a campaign.
func (l *Ledger) Open(c Campaign) *domain.Decision {
	l.t.Helper()
	return l.Arrive(domain.Arrival{Campaign: c.ID, Kind: domain.KindCampaign, Opening: c.Opening()})
}

// Void takes an import back.
func (l *Ledger) Void(campaign, importKey, reason string) *domain.Decision {
	l.t.Helper()
	return l.Arrive(domain.Arrival{Campaign: campaign, Kind: domain.KindVoid,
		Void: &domain.VoidRequest{ImportKey: importKey, Actor: "ops@example.org", Reason: reason}})
}

// Seal closes a campaign.
func (l *Ledger) Seal(campaign string) *domain.Decision {
	l.t.Helper()
	return l.Arrive(domain.Arrival{Campaign: campaign, Kind: domain.KindSeal, Seal: &domain.SealRequest{Actor: "ops@example.org"}})
}

// Malformed is an arrival that cannot be read, and whose subject names the
// campaign and kind, or neither.
func (l *Ledger) Malformed(campaign string, kind domain.Kind) *domain.Decision {
	l.t.Helper()
	return l.Arrive(domain.Arrival{Campaign: campaign, Kind: kind,
		Malformed: &domain.Refusal{Reason: domain.ReasonArrivalMalformed, Field: "/a~1b\x00", Message: "not \"JSON\"\n\x00␀ 'at all'"}})
}

// Checkpoint appends a decision on a checkpoint read, with the outcome that a
// test wants: accepted, pending, duplicate (of repeats) or rejected. The
// campaign is open.
func (l *Ledger) Checkpoint(campaign string, key domain.CheckpointKey, outcome domain.Outcome, repeats uint64) *domain.Decision {
	l.t.Helper()
	seq := l.Last() + 1
	accepted := l.states[campaign].Accepted()
	observed := checkpoint.Observed{Records: 7, Bytes: int64(seq), SHA256: digest("checkpoint", seq)}
	d := l.decision(campaign, domain.KindCheckpoint, outcome)
	d.Data = &domain.CheckpointReference{Key: key, Observed: observed}
	switch outcome {
	case domain.Accepted:
		accepted++
		d.Data = &domain.CheckpointBound{Key: key, Authority: &checkpoint.Authority{RunID: key.RunID}, Observed: observed}
	case domain.Pending:
		d.Detail = "the result was not delivered yet"
	case domain.Duplicate:
		d.Repeats = &repeats
	case domain.Rejected:
		d.Reason, d.Field, d.Detail = domain.ReasonCheckpointContradicted, "/publication/turnId", "another turn"
	}
	d.Accepted = &accepted
	return l.Append(d)
}

// decision is the next decision, but for its data and count.
func (l *Ledger) decision(campaign string, kind domain.Kind, outcome domain.Outcome) *domain.Decision {
	seq := l.Last() + 1
	id := fmt.Sprintf("arrival-%d", seq)
	return &domain.Decision{
		V: domain.RuleVersion, Index: seq - 1, Campaign: campaign, Kind: kind, Outcome: outcome,
		Arrival: domain.ArrivalRef{Seq: seq, ID: id, SHA256: digest("arrival", id), Time: eventstest.TimeOf(seq)},
	}
}

// Cell is a measured cell. Zero fields get defaults that pass every gate.
type Cell struct {
	Campaign string
	Scenario string
	Ordinal  int64

	Run        int    // of the CI; part of the import key
	Accounting string // the framework's campaign; part of the measurement key
	Attempt    int    // likewise
	Status     string // passed
	Cleanup    string // passed
	CaseID     string
	Finished   string   // 2026-01-02T…
	CostUSD    *float64 // unknown
	Tokens     *float64 // unknown
	RunIDs     []string
	Repository string // another one is foreign
}

func executionID(scenario string, ordinal int64) string {
	return fmt.Sprintf("chat.local.%s-r%d", scenario, ordinal)
}

// ImportKey is the key that the cell is imported by.
func (c Cell) ImportKey() string {
	return c.runID() + "/1/" + executionID(c.Scenario, c.Ordinal)
}

// MeasurementKey is the key that the framework accounts the cell by.
func (c Cell) MeasurementKey() string {
	c.fill()
	return c.Accounting + "/" + c.attemptID() + "/" + executionID(c.Scenario, c.Ordinal)
}

func (c Cell) runID() string     { return decimalDigits("run", c.Run) }
func (c Cell) attemptID() string { return hexDigits(32, "attempt", c.Attempt) }

func (c *Cell) fill() {
	for _, field := range []struct {
		value    *string
		fallback string
	}{
		{&c.Accounting, "framework-" + c.Campaign},
		{&c.Status, "passed"},
		{&c.Cleanup, "passed"},
		{&c.CaseID, "case"},
		{&c.Finished, "2026-01-02T10:00:00.000Z"},
		{&c.Repository, "paperclipai/paperclip"},
	} {
		if *field.value == "" {
			*field.value = field.fallback
		}
	}
}

// Measure publishes a cell.
func (l *Ledger) Measure(c Cell) *domain.Decision {
	l.t.Helper()
	c.fill()
	return l.Arrive(domain.Arrival{Campaign: c.Campaign, Kind: domain.KindCell, Cell: c.evidence()})
}

type object map[string]any

// evidence is what the preset policy lets pass.
func (c Cell) evidence() *domain.CellEvidence {
	policy, _ := domain.Preset(domain.PresetPaperclipChat)
	execution := executionID(c.Scenario, c.Ordinal)
	engine, suite := digest("engine"), digest("suite")
	database := object{
		"image": policy.Database.Image, "imageId": policy.Database.ImageIDs[0],
		"version": policy.Database.Version, "architecture": policy.Database.Architecture,
	}
	result := object{
		"schema": policy.ResultSchema, "executionId": execution, "attempt": 1, "status": c.Status, "cleanup": c.Cleanup,
		"profileId": policy.ProfileID, "provider": policy.Provider, "model": policy.Model, "environmentId": policy.EnvironmentID,
		"caseId": c.CaseID, "suiteDefinitionHash": suite, "runIds": c.RunIDs,
		"source":    object{"sha": Revision, "workflowRunUrl": "https://github.com/" + policy.Repository + "/actions/runs/" + c.runID()},
		"startedAt": "0000-01-01T00:00:00Z", "finishedAt": c.Finished, "durationMs": 604160.25,
		"accountingIdentity": object{"campaignId": c.Accounting, "attemptId": c.attemptID()},
		"databaseIdentity":   with(database, object{"lane": policy.Database.Lane, "engineSha256": engine}),
		"billing":            object{"llm": object{"totalTokens": c.Tokens, "reportedCostUsd": c.CostUSD, "costStatus": "reported"}},
	}
	host := object{
		"schema": policy.HostSchema, "status": "qualified-host-only", "scope": "before-evaluation", "evaluationAdmitted": false,
		"spotVerified": true, "lifecycle": policy.Host.Lifecycle, "architecture": policy.Host.Architecture, "region": policy.Host.Region,
		"workflowRef":   policy.Repository + "/.github/workflows/" + policy.Workflow + "@" + policy.WorkflowRef,
		"workflowRunId": c.runID(), "workflowAttempt": 1, "sourceRevision": Revision, "executionIds": []string{execution},
		"automaticRetries": 0, "dockerEngineSha256": engine, "postgres": database,
	}
	definition := object{
		"scenarioId": c.Scenario, "definitionDigest": digest("definition", c.Scenario), "graderDigest": digest("grader", c.Scenario),
		"suiteDefinitionHash": suite,
	}
	folder := policy.ResultsPrefix + c.runID() + "-1/" + execution + "/"
	return &domain.CellEvidence{
		Provenance: domain.Provenance{
			Repository: c.Repository, Workflow: policy.Workflow, WorkflowRef: policy.WorkflowRef,
			RunID: c.runID(), RunAttempt: 1, ArtifactID: decimalDigits("artifact", c.Run),
			ArchiveSHA256: digest("archive", c.Run), TargetSourceRevision: Revision,
		},
		Result:     document(folder+"result.json", result),
		Host:       document(folder+"host.json", host),
		Definition: document(folder+"definition.json", definition),
	}
}

func with(base, more object) object {
	all := object{}
	for _, part := range []object{base, more} {
		for name, value := range part {
			all[name] = value
		}
	}
	return all
}

func document(path string, content object) domain.Document {
	raw, err := json.Marshal(content)
	if err != nil {
		panic(err) // numbers and strings only
	}
	return domain.ReadDocument(path, raw, events.RecordHash(raw))
}
