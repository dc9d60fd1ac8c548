package simci

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/ledgerd/ledgerd/domain"
)

// Preset is the policy that [Cell] and [Opening] are for: paperclip-chat.
func Preset() *domain.Policy {
	policy, ok := domain.Preset(domain.PresetPaperclipChat)
	if !ok {
		panic("simci: the preset is gone")
	}
	return policy
}

// Revision is the source revision of a campaign that [Opening] opens.
func Revision(campaign string) string { return named("revision", campaign).hex(40) }

// Opening is the body of a campaign arrival: every ordinal of the scenarios,
// with frozen definitions. [Cell] fills its slots.
func Opening(campaign string, scenarios ...string) []byte {
	return openingBody(&openingData{
		revision: Revision(campaign), policy: Preset(), preset: domain.PresetPaperclipChat, scenarios: scenarios,
	})
}

// CellOption alters what [Cell] makes.
type CellOption func(*cellOptions)

type cellOptions struct {
	measurement
	run string
}

// Run measures the cell again: another name is another workflow run, with its
// own keys and bytes. The first is "".
func Run(name string) CellOption { return func(o *cellOptions) { o.run = name } }

// Status sets the result's status and cleanup; both are passed otherwise.
func Status(status, cleanup string) CellOption {
	return func(o *cellOptions) { o.status, o.cleanup = status, cleanup }
}

// Usage sets the bill: tokens, and a cost in millionths of a dollar.
func Usage(tokens, micros int64) CellOption {
	return func(o *cellOptions) { o.tokens, o.micros, o.coverage = &tokens, &micros, reported }
}

// NoUsage leaves the bill out.
func NoUsage() CellOption {
	return func(o *cellOptions) { o.tokens, o.micros, o.coverage = nil, nil, "" }
}

// Transcript adds so many bytes to the result.
func Transcript(bytes int) CellOption { return func(o *cellOptions) { o.transcript = bytes } }

// RunAttempt sets the workflow run's attempt; 1 otherwise.
func RunAttempt(n int64) CellOption { return func(o *cellOptions) { o.attempt = n } }

// Branch sets the ref that the workflow ran on; the policy's otherwise.
func Branch(ref string) CellOption { return func(o *cellOptions) { o.branch = ref } }

// Execution sets the execution id; that of the slot otherwise.
func Execution(id string) CellOption {
	return func(o *cellOptions) { o.executionID, o.siblings = id, []string{id} }
}

// Cell is the evidence of one cell that passes every gate of a campaign that
// [Opening] opened, unless an option says otherwise. It is the same for the
// same arguments.
func Cell(campaign, scenario string, ordinal int64, options ...CellOption) *Evidence {
	policy := Preset()
	o := &cellOptions{}
	for _, option := range options {
		option(o) // asked for the run first: all else depends on it
	}
	slot := fmt.Sprintf("%s-r%d", scenario, ordinal)
	r := named("cell", campaign, slot, o.run)
	o.measurement = measurement{
		policy:             policy,
		revision:           Revision(campaign),
		scenario:           scenario,
		ordinal:            ordinal,
		executionID:        ExecutionID(policy, scenario, ordinal),
		siblings:           []string{ExecutionID(policy, scenario, ordinal)},
		runID:              fmt.Sprint(10_000_000_000 + r.below(900_000_000)),
		attempt:            1,
		artifactID:         fmt.Sprint(4_000_000_000 + r.below(900_000_000)),
		accountingCampaign: "framework-" + r.hex(12),
	}
	o.on(r)
	o.measure(r)
	o.defined(define(scenario))
	for _, option := range options {
		option(o)
	}
	execution := o.execution(breakage{})
	return &Evidence{
		Provenance: o.provenance(digestOf(execution.Result.Raw)), // stands for an archive's
		Execution:  execution,
	}
}

// definition is what a scenario is, frozen in digests.
type definition struct{ suite, definition, grader string }

func define(scenario string) definition {
	return definition{
		suite:      named("suite").hex(64),
		definition: named("definition", scenario).hex(64),
		grader:     named("grader", scenario).hex(64),
	}
}

func (m *measurement) defined(by definition) {
	m.suite, m.definition, m.grader = by.suite, by.definition, by.grader
}

// openingData is what a campaign arrival is made of.
type openingData struct {
	revision  string
	label     string
	policy    *domain.Policy
	preset    string // "" sends the policy itself
	scenarios []string
	budget    int64 // dollars, 0 is none
}

type openingDocument struct {
	SourceRevision string             `json:"sourceRevision"`
	Label          string             `json:"label,omitzero"`
	Policy         *domain.Policy     `json:"policy,omitzero"`
	PolicyPreset   string             `json:"policyPreset,omitzero"`
	Scenarios      []scenarioDocument `json:"scenarios"`
	Selected       []domain.Selection `json:"selected"`
	Budget         *domain.Budget     `json:"budget,omitzero"`
}

type scenarioDocument struct {
	ID               string `json:"id"`
	Label            string `json:"label"`
	DefinitionDigest string `json:"definitionDigest"`
	GraderDigest     string `json:"graderDigest"`
}

func openingBody(o *openingData) []byte {
	d := openingDocument{SourceRevision: o.revision, Label: o.label, PolicyPreset: o.preset}
	if o.preset == "" {
		d.Policy = o.policy
	}
	if o.budget > 0 {
		d.Budget = &domain.Budget{CostUSD: float64(o.budget)}
	}
	for _, id := range o.scenarios {
		frozen := define(id)
		d.Scenarios = append(d.Scenarios, scenarioDocument{ID: id, Label: label(id), DefinitionDigest: frozen.definition, GraderDigest: frozen.grader})
		for _, ordinal := range o.policy.Ordinals {
			d.Selected = append(d.Selected, domain.Selection{ScenarioID: id, ExecutionID: ExecutionID(o.policy, id, ordinal), RemoteOrdinal: ordinal})
		}
	}
	raw, err := json.Marshal(&d)
	if err != nil {
		panic("simci: print a campaign: " + err.Error()) // nothing in it can fail
	}
	return raw
}
