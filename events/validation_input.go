package events

import (
	"strings"

	"github.com/ledgerd/ledgerd/domain"
)

// ReasonInputMalformed is the reason of an input that no gate could look at.
const ReasonInputMalformed domain.Reason = "input_malformed"

// ValidationInput is a cell with what it is to be held against, where there is
// no ledger to know it.
type ValidationInput struct {
	Policy *domain.Policy // checked, defaults filled in
	Intent *domain.Intent
	Cell   domain.CellEvidence
}

// DecodeValidation reads an input of stand-alone validation:
//
//	{"policy"?,"intent":{"campaignId","sourceRevision","selected":[…]},"provenance","result","host","definition"}
//
// Without a policy the preset is taken. What a gate looks at is left to the
// gates, as in an arrival. Refusals are [ReasonInputMalformed].
func DecodeValidation(raw []byte) (*ValidationInput, *domain.Refusal) {
	var read validationBody
	refusal := readBody(raw, &read, validationMembers)
	if refusal == nil {
		refusal = read.choosePolicy()
	}
	if refusal != nil {
		return nil, &domain.Refusal{Reason: ReasonInputMalformed, Field: refusal.Field, Message: refusal.Message}
	}
	return &ValidationInput{
		Policy: read.policy,
		Intent: domain.NewIntent(read.intent.CampaignID, read.intent.SourceRevision, read.intent.Selected),
		Cell:   read.cell,
	}, nil
}

type validationBody struct {
	policy *domain.Policy
	intent domain.Intent
	cell   domain.CellEvidence
}

func (v *validationBody) choosePolicy() *domain.Refusal {
	if v.policy == nil {
		v.policy, _ = domain.Preset(domain.PresetPaperclipChat)
		return nil
	}
	var refusal *domain.Refusal
	v.policy, refusal = v.policy.Check()
	return refusal
}

var validationMembers = []member[validationBody]{
	{name: "policy", optional: true, read: func(b *body, v *validationBody) *domain.Refusal {
		v.policy = &domain.Policy{}
		return object(b, v.policy, policyMembers)
	}},
	{name: "intent", read: func(b *body, v *validationBody) *domain.Refusal { return object(b, &v.intent, intentMembers) }},
	{name: "provenance", read: func(b *body, v *validationBody) *domain.Refusal {
		return object(b, &v.cell.Provenance, provenanceMembers)
	}},
	{name: "result", read: func(b *body, v *validationBody) *domain.Refusal { return b.document(&v.cell.Result) }},
	{name: "host", read: func(b *body, v *validationBody) *domain.Refusal { return b.document(&v.cell.Host) }},
	{name: "definition", read: func(b *body, v *validationBody) *domain.Refusal { return b.document(&v.cell.Definition) }},
}

var intentMembers = []member[domain.Intent]{
	gatedText("campaignId", func(i *domain.Intent) *string { return &i.CampaignID }),
	gatedText("sourceRevision", func(i *domain.Intent) *string { return &i.SourceRevision }),
	{name: "selected", read: func(b *body, i *domain.Intent) *domain.Refusal {
		return elements(b, &i.Selected, gatedSelectionMembers)
	}},
}

// gatedSelectionMembers read a selection that nobody checked before.
var gatedSelectionMembers = []member[domain.Selection]{
	gatedText("scenarioId", func(s *domain.Selection) *string { return &s.ScenarioID }),
	gatedText("executionId", func(s *domain.Selection) *string { return &s.ExecutionID }),
	{name: "remoteOrdinal", optional: true, read: func(b *body, s *domain.Selection) *domain.Refusal {
		return b.lenientInteger(&s.RemoteOrdinal)
	}},
}

// DecodePolicy reads a policy as a campaign's opening holds it, checks it and
// fills in the defaults. Refusals are [ReasonInputMalformed], with a field from
// the policy.
func DecodePolicy(raw []byte) (*domain.Policy, *domain.Refusal) {
	var policy domain.Policy
	refusal := readBody(raw, &policy, policyMembers)
	if refusal == nil {
		checked, refusal := policy.Check()
		if refusal == nil {
			return checked, nil
		}
		return nil, &domain.Refusal{Reason: ReasonInputMalformed, Field: strings.TrimPrefix(refusal.Field, "/policy"), Message: refusal.Message}
	}
	return nil, &domain.Refusal{Reason: ReasonInputMalformed, Field: refusal.Field, Message: refusal.Message}
}

// DecodeProvenance reads the provenance that a coordinator wrote down. Here
// nothing is left to the gates: a field that is missing or of another type is
// a mistake of whoever wrote the file. archiveSha256 may be missing, since the
// archive is hashed anyway. Refusals are [ReasonInputMalformed].
func DecodeProvenance(raw []byte) (*domain.Provenance, *domain.Refusal) {
	var provenance domain.Provenance
	if refusal := readBody(raw, &provenance, writtenProvenanceMembers); refusal != nil {
		return nil, &domain.Refusal{Reason: ReasonInputMalformed, Field: refusal.Field, Message: refusal.Message}
	}
	return &provenance, nil
}

var writtenProvenanceMembers = []member[domain.Provenance]{
	text("repository", func(p *domain.Provenance) *string { return &p.Repository }),
	text("workflow", func(p *domain.Provenance) *string { return &p.Workflow }),
	text("workflowRef", func(p *domain.Provenance) *string { return &p.WorkflowRef }),
	text("runId", func(p *domain.Provenance) *string { return &p.RunID }),
	{name: "runAttempt", read: func(b *body, p *domain.Provenance) *domain.Refusal { return b.integer(&p.RunAttempt) }},
	text("artifactId", func(p *domain.Provenance) *string { return &p.ArtifactID }),
	optionalText("archiveSha256", func(p *domain.Provenance) *string { return &p.ArchiveSHA256 }),
	text("targetSourceRevision", func(p *domain.Provenance) *string { return &p.TargetSourceRevision }),
}

// DecodeOpening reads a campaign arrival's body. Refusals are those of
// [DecodeArrival].
func DecodeOpening(raw []byte) (*domain.Opening, *domain.Refusal) {
	var opening domain.Opening
	if refusal := readOpening(raw, &opening); refusal != nil {
		return nil, refusal
	}
	return &opening, nil
}
