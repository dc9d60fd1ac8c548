package domain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Limits of a campaign. The expanded campaign must also fit its record.
const (
	MaxScenarios  = 1000
	MaxSelections = 10000
	MaxIDBytes    = 200 // of a scenario's and an execution's id, so that keys fit a record
	MaxLabelBytes = MaxStringBytes
)

// Expand checks an opening and gives the campaign that it freezes: the preset
// replaced by its policy, defaults filled in. The arrival's own is not
// changed. Refusals are campaign_invalid, with the field.
func (o *Opening) Expand(campaign string) (*Opening, *Refusal) {
	expanded := &Opening{
		SourceRevision: o.SourceRevision,
		Label:          o.Label,
		Scenarios:      slices.Clone(o.Scenarios),
		Selected:       slices.Clone(o.Selected),
	}
	if !LegalCampaignID(campaign) {
		return nil, invalid("", "the campaign id %s must be 1 to %d letters, digits, - and _, and begin with a letter or digit",
			quote(campaign), maxCampaignIDBytes)
	}
	if !isRevision(o.SourceRevision) {
		return nil, invalid("/sourceRevision", "the source revision %s must be 40 lower hex digits", quote(o.SourceRevision))
	}
	if refusal := checkLabel("/label", o.Label); refusal != nil {
		return nil, refusal
	}
	var refusal *Refusal
	if expanded.Policy, refusal = o.expandPolicy(); refusal != nil {
		return nil, refusal
	}
	if expanded.Budget, refusal = o.checkBudget(); refusal != nil {
		return nil, refusal
	}
	if refusal = expanded.checkScenarios(); refusal != nil {
		return nil, refusal
	}
	if refusal = expanded.checkSelections(); refusal != nil {
		return nil, refusal
	}
	if refusal = expanded.checkQualifies(); refusal != nil {
		return nil, refusal
	}
	return expanded, nil
}

// Canonical prints an expanded opening. Two openings are the same campaign
// when this is the same. Names come in the struct's order, numbers and strings
// as in canonical JSON.
func (o *Opening) Canonical() []byte {
	raw, err := json.Marshal(o, json.Deterministic(true))
	if err != nil {
		panic("domain: an opening that cannot be printed: " + err.Error()) // it was decoded from JSON
	}
	return raw
}

func (o *Opening) expandPolicy() (*Policy, *Refusal) {
	if o.Policy != nil {
		policy := o.Policy.withDefaults()
		return policy, policy.check()
	}
	policy, ok := Preset(o.PolicyPreset)
	if !ok {
		return nil, invalid("/policyPreset", "no preset is called %s; the presets are %s",
			quote(o.PolicyPreset), strings.Join(PresetNames(), ", "))
	}
	return policy, nil
}

func (o *Opening) checkBudget() (*Budget, *Refusal) {
	switch {
	case o.Budget == nil:
		return nil, nil
	case !(o.Budget.CostUSD >= 0) || o.Budget.CostUSD > maxBudgetUSD:
		return nil, invalid("/budget/costUsd", "the budget must be a number from 0 to %d", int64(maxBudgetUSD))
	}
	return &Budget{CostUSD: o.Budget.CostUSD + 0, Enforce: o.Budget.Enforce}, nil // -0 is 0
}

// maxBudgetUSD keeps a mistyped budget from being shown as one.
const maxBudgetUSD = 1e12

func (o *Opening) checkScenarios() *Refusal {
	if n := len(o.Scenarios); n == 0 || n > MaxScenarios {
		return invalid("/scenarios", "it has %d scenarios and must have 1 to %d", n, MaxScenarios)
	}
	seen := make(map[string]int, len(o.Scenarios))
	for i, scenario := range o.Scenarios {
		field := fmt.Sprintf("/scenarios/%d", i)
		if refusal := checkID(field+"/id", scenario.ID); refusal != nil {
			return refusal
		}
		if first, again := seen[scenario.ID]; again {
			return invalid(field+"/id", "scenario %s is already at /scenarios/%d", quote(scenario.ID), first)
		}
		seen[scenario.ID] = i
		if refusal := checkScenario(field, scenario); refusal != nil {
			return refusal
		}
	}
	return nil
}

func checkScenario(field string, scenario Scenario) *Refusal {
	if refusal := checkLabel(field+"/label", scenario.Label); refusal != nil {
		return refusal
	}
	for _, digest := range []struct{ name, value string }{
		{"definitionDigest", scenario.DefinitionDigest}, {"graderDigest", scenario.GraderDigest},
	} {
		if digest.value != "" && !isDigest(digest.value) {
			return invalid(field+"/"+digest.name, "the digest %s must be 64 lower hex digits", quote(digest.value))
		}
	}
	return nil
}

// checkSelections makes sure that every selection names one slot of one
// scenario, no execution or slot comes twice, and no scenario is left out.
func (o *Opening) checkSelections() *Refusal {
	if n := len(o.Selected); n == 0 || n > MaxSelections {
		return invalid("/selected", "it selects %d cells and must select 1 to %d", n, MaxSelections)
	}
	used := make(map[string]bool, len(o.Scenarios)) // scenario → has a selection
	for _, scenario := range o.Scenarios {
		used[scenario.ID] = false
	}
	executions := make(map[string]int, len(o.Selected))
	slots := make(map[Slot]int, len(o.Selected))
	for i, selection := range o.Selected {
		field := fmt.Sprintf("/selected/%d", i)
		if refusal := checkID(field+"/executionId", selection.ExecutionID); refusal != nil {
			return refusal
		}
		if _, known := used[selection.ScenarioID]; !known {
			return invalid(field+"/scenarioId", "scenario %s is not among the scenarios", quote(selection.ScenarioID))
		}
		if !slices.Contains(o.Policy.Ordinals, selection.RemoteOrdinal) {
			return invalid(field+"/remoteOrdinal", "ordinal %d is not one of the policy's %v", selection.RemoteOrdinal, o.Policy.Ordinals)
		}
		if first, again := executions[selection.ExecutionID]; again {
			return invalid(field+"/executionId", "execution %s is already selected at /selected/%d", quote(selection.ExecutionID), first)
		}
		slot := Slot{ScenarioID: selection.ScenarioID, Ordinal: selection.RemoteOrdinal}
		if first, again := slots[slot]; again {
			return invalid(field, "scenario %s, ordinal %d is already selected at /selected/%d", quote(slot.ScenarioID), slot.Ordinal, first)
		}
		executions[selection.ExecutionID], slots[slot], used[selection.ScenarioID] = i, i, true
	}
	for i, scenario := range o.Scenarios {
		if !used[scenario.ID] {
			return invalid(fmt.Sprintf("/scenarios/%d", i), "scenario %s has no selection; select a cell of it or leave it out", quote(scenario.ID))
		}
	}
	return nil
}

func checkID(field, id string) *Refusal {
	if id == "" || len(id) > MaxIDBytes || strings.ContainsFunc(id, isControl) {
		return invalid(field, "the id %s must be 1 to %d bytes without control characters", quote(id), MaxIDBytes)
	}
	return nil
}

func checkLabel(field, label string) *Refusal {
	if len(label) > MaxLabelBytes || strings.ContainsFunc(label, isControl) {
		return invalid(field, "the label %s must be at most %d bytes without control characters", quote(label), MaxLabelBytes)
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

func invalid(field, format string, args ...any) *Refusal {
	return refuse(ReasonCampaignInvalid, field, fmt.Sprintf(format, args...))
}
