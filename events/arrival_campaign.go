package events

import "github.com/ledgerd/ledgerd/domain"

// readOpening reads a campaign arrival:
//
//	{"sourceRevision","label"?,"policy":{…}|"policyPreset","scenarios":[{"id","label"?,"definitionDigest"?,"graderDigest"?}…],
//	 "selected":[{"scenarioId","executionId","remoteOrdinal"}…],"budget"?:{"costUsd","enforce"?}}
//
// A policy may have holes here: whether a campaign can be decided by it is the
// domain's to say.
func readOpening(data []byte, opening *domain.Opening) *domain.Refusal {
	read := openingBody{Opening: opening}
	if refusal := readBody(data, &read, openingMembers); refusal != nil {
		return refusal
	}
	switch {
	case opening.Policy != nil && read.preset:
		return malformed("/policyPreset", "it has a policy and a policyPreset and must have one of them")
	case opening.Policy == nil && !read.preset:
		return malformed("/policy", "policy is missing, and so is policyPreset")
	}
	return nil
}

type openingBody struct {
	*domain.Opening
	preset bool // policyPreset is there
}

var openingMembers = []member[openingBody]{
	text("sourceRevision", func(o *openingBody) *string { return &o.SourceRevision }),
	optionalText("label", func(o *openingBody) *string { return &o.Label }),
	{name: "policy", optional: true, read: func(b *body, o *openingBody) *domain.Refusal {
		o.Policy = &domain.Policy{}
		return object(b, o.Policy, policyMembers)
	}},
	{name: "policyPreset", optional: true, read: func(b *body, o *openingBody) *domain.Refusal {
		o.preset = true
		return b.text(&o.PolicyPreset)
	}},
	{name: "scenarios", read: func(b *body, o *openingBody) *domain.Refusal {
		return elements(b, &o.Scenarios, scenarioMembers)
	}},
	{name: "selected", read: func(b *body, o *openingBody) *domain.Refusal {
		return elements(b, &o.Selected, selectionMembers)
	}},
	{name: "budget", optional: true, read: func(b *body, o *openingBody) *domain.Refusal {
		o.Budget = &domain.Budget{}
		return object(b, o.Budget, budgetMembers)
	}},
}

var scenarioMembers = []member[domain.Scenario]{
	text("id", func(s *domain.Scenario) *string { return &s.ID }),
	optionalText("label", func(s *domain.Scenario) *string { return &s.Label }),
	optionalText("definitionDigest", func(s *domain.Scenario) *string { return &s.DefinitionDigest }),
	optionalText("graderDigest", func(s *domain.Scenario) *string { return &s.GraderDigest }),
}

var selectionMembers = []member[domain.Selection]{
	text("scenarioId", func(s *domain.Selection) *string { return &s.ScenarioID }),
	text("executionId", func(s *domain.Selection) *string { return &s.ExecutionID }),
	{name: "remoteOrdinal", read: func(b *body, s *domain.Selection) *domain.Refusal { return b.integer(&s.RemoteOrdinal) }},
}

var budgetMembers = []member[domain.Budget]{
	{name: "costUsd", read: func(b *body, u *domain.Budget) *domain.Refusal { return b.number(&u.CostUSD) }},
	{name: "enforce", optional: true, read: func(b *body, u *domain.Budget) *domain.Refusal { return b.flag(&u.Enforce) }},
}

var policyMembers = []member[domain.Policy]{
	optionalText("repository", func(p *domain.Policy) *string { return &p.Repository }),
	optionalText("workflow", func(p *domain.Policy) *string { return &p.Workflow }),
	optionalText("workflowRef", func(p *domain.Policy) *string { return &p.WorkflowRef }),
	optionalText("resultsPrefix", func(p *domain.Policy) *string { return &p.ResultsPrefix }),
	optionalText("resultSchema", func(p *domain.Policy) *string { return &p.ResultSchema }),
	optionalText("hostSchema", func(p *domain.Policy) *string { return &p.HostSchema }),
	optionalText("profileId", func(p *domain.Policy) *string { return &p.ProfileID }),
	optionalText("provider", func(p *domain.Policy) *string { return &p.Provider }),
	optionalText("model", func(p *domain.Policy) *string { return &p.Model }),
	optionalText("environmentId", func(p *domain.Policy) *string { return &p.EnvironmentID }),
	{name: "ordinals", optional: true, read: func(b *body, p *domain.Policy) *domain.Refusal { return b.integers(&p.Ordinals) }},
	{name: "host", optional: true, read: func(b *body, p *domain.Policy) *domain.Refusal { return object(b, &p.Host, hostMembers) }},
	{name: "database", optional: true, read: func(b *body, p *domain.Policy) *domain.Refusal {
		return object(b, &p.Database, databaseMembers)
	}},
	{name: "documents", optional: true, read: func(b *body, p *domain.Policy) *domain.Refusal {
		return object(b, &p.Documents, documentsMembers)
	}},
	{name: "provenance", optional: true, read: func(b *body, p *domain.Policy) *domain.Refusal { return b.texts(&p.Provenance) }},
	{name: "qualifies", optional: true, read: func(b *body, p *domain.Policy) *domain.Refusal {
		if b.null() {
			return nil
		}
		p.Qualifies = &domain.Qualifies{}
		return object(b, p.Qualifies, qualifiesMembers)
	}},
	{name: "plausible", optional: true, read: func(b *body, p *domain.Policy) *domain.Refusal {
		p.Plausible = domain.DefaultPlausible()
		return object(b, p.Plausible, plausibleMembers)
	}},
	disclosure("voidedFailures", func(p *domain.Policy) *domain.Disclosure { return &p.VoidedFailures }),
	disclosure("measuredBefore", func(p *domain.Policy) *domain.Disclosure { return &p.MeasuredBefore }),
	disclosure("definitionChanged", func(p *domain.Policy) *domain.Disclosure { return &p.DefinitionChanged }),
}

func disclosure(name string, of func(*domain.Policy) *domain.Disclosure) member[domain.Policy] {
	return member[domain.Policy]{name: name, optional: true, read: func(b *body, p *domain.Policy) *domain.Refusal {
		return b.text((*string)(of(p)))
	}}
}

// What a policy leaves out may be written as null, as an opened campaign's is.
var qualifiesMembers = []member[domain.Qualifies]{
	{name: "scenarioPasses", optional: true, read: func(b *body, q *domain.Qualifies) *domain.Refusal {
		if b.null() {
			return nil
		}
		q.ScenarioPasses = new(int64)
		return b.integer(q.ScenarioPasses)
	}},
	{name: "passRate", optional: true, read: func(b *body, q *domain.Qualifies) *domain.Refusal {
		if b.null() {
			return nil
		}
		q.PassRate = new(float64)
		return b.number(q.PassRate)
	}},
}

var plausibleMembers = []member[domain.Plausible]{
	{name: "costUsd", optional: true, read: func(b *body, p *domain.Plausible) *domain.Refusal { return b.bounds(&p.CostUSD) }},
	{name: "tokens", optional: true, read: func(b *body, p *domain.Plausible) *domain.Refusal { return b.bounds(&p.Tokens) }},
	{name: "durationMs", optional: true, read: func(b *body, p *domain.Plausible) *domain.Refusal {
		if b.null() {
			return nil
		}
		p.DurationMS = &domain.Range{}
		return b.bounds(p.DurationMS)
	}},
}

var hostMembers = []member[domain.Host]{
	optionalText("lifecycle", func(h *domain.Host) *string { return &h.Lifecycle }),
	optionalText("architecture", func(h *domain.Host) *string { return &h.Architecture }),
	optionalText("region", func(h *domain.Host) *string { return &h.Region }),
}

var databaseMembers = []member[domain.Database]{
	optionalText("lane", func(d *domain.Database) *string { return &d.Lane }),
	optionalText("image", func(d *domain.Database) *string { return &d.Image }),
	{name: "imageIds", optional: true, read: func(b *body, d *domain.Database) *domain.Refusal { return b.texts(&d.ImageIDs) }},
	optionalText("version", func(d *domain.Database) *string { return &d.Version }),
	optionalText("architecture", func(d *domain.Database) *string { return &d.Architecture }),
}

var documentsMembers = []member[domain.Documents]{
	optionalText("result", func(d *domain.Documents) *string { return &d.Result }),
	optionalText("host", func(d *domain.Documents) *string { return &d.Host }),
	optionalText("definition", func(d *domain.Documents) *string { return &d.Definition }),
}
