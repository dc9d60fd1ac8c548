package domain

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Limits of a policy.
const (
	MaxOrdinals       = 100
	MaxImageIDs       = 100
	MaxSources        = 16
	MaxPolicyTextSize = MaxStringBytes
)

// withDefaults gives a copy with what a policy may leave out.
func (p *Policy) withDefaults() *Policy {
	policy := *p
	policy.Ordinals = slices.Clone(p.Ordinals)
	policy.Database.ImageIDs = slices.Clone(p.Database.ImageIDs)
	policy.Provenance = slices.Clone(p.Provenance)
	policy.VerdictRules = p.VerdictRules.withDefaults()
	defaults := defaultDocuments()
	for _, pattern := range []struct {
		value    *string
		fallback string
	}{
		{&policy.Documents.Result, defaults.Result},
		{&policy.Documents.Host, defaults.Host},
		{&policy.Documents.Definition, defaults.Definition},
	} {
		if *pattern.value == "" {
			*pattern.value = pattern.fallback
		}
	}
	if len(policy.Provenance) == 0 {
		policy.Provenance = []string{provenanceGitHubAPI}
	}
	return &policy
}

// Check reports what keeps cells from being decided by p, nil when nothing
// does. What a policy may leave out is filled in first.
func (p *Policy) Check() (*Policy, *Refusal) {
	policy := p.withDefaults()
	return policy, policy.check()
}

// check refuses a policy with holes: a demand that is empty would let nothing
// or everything through.
func (p *Policy) check() *Refusal {
	for _, demand := range p.texts() {
		if demand.value == "" || len(demand.value) > MaxPolicyTextSize || strings.ContainsFunc(demand.value, isControl) {
			return invalid("/policy/"+demand.name, "the policy's %s is %s and must be 1 to %d bytes without control characters",
				demand.name, quote(demand.value), MaxPolicyTextSize)
		}
	}
	if refusal := p.checkOrdinals(); refusal != nil {
		return refusal
	}
	if refusal := checkTexts("/policy/database/imageIds", p.Database.ImageIDs, MaxImageIDs); refusal != nil {
		return refusal
	}
	if refusal := checkTexts("/policy/provenance", p.Provenance, MaxSources); refusal != nil {
		return refusal
	}
	if refusal := p.Documents.check(); refusal != nil {
		return refusal
	}
	return p.VerdictRules.check(len(p.Ordinals))
}

type demand struct{ name, value string }

func (p *Policy) texts() []demand {
	return []demand{
		{"repository", p.Repository},
		{"workflow", p.Workflow},
		{"workflowRef", p.WorkflowRef},
		{"resultsPrefix", p.ResultsPrefix},
		{"resultSchema", p.ResultSchema},
		{"hostSchema", p.HostSchema},
		{"profileId", p.ProfileID},
		{"provider", p.Provider},
		{"model", p.Model},
		{"environmentId", p.EnvironmentID},
		{"host/lifecycle", p.Host.Lifecycle},
		{"host/architecture", p.Host.Architecture},
		{"host/region", p.Host.Region},
		{"database/lane", p.Database.Lane},
		{"database/image", p.Database.Image},
		{"database/version", p.Database.Version},
		{"database/architecture", p.Database.Architecture},
	}
}

func (p *Policy) checkOrdinals() *Refusal {
	if n := len(p.Ordinals); n == 0 || n > MaxOrdinals {
		return invalid("/policy/ordinals", "the policy has %d ordinals and must have 1 to %d", n, MaxOrdinals)
	}
	seen := make(map[int64]bool, len(p.Ordinals))
	for i, ordinal := range p.Ordinals {
		if ordinal < 1 || seen[ordinal] {
			return invalid(fmt.Sprintf("/policy/ordinals/%d", i), "ordinal %d must be at least 1 and come once", ordinal)
		}
		seen[ordinal] = true
	}
	return nil
}

func checkTexts(field string, texts []string, limit int) *Refusal {
	if n := len(texts); n == 0 || n > limit {
		return invalid(field, "it has %d values and must have 1 to %d", n, limit)
	}
	for i, text := range texts {
		if text == "" || len(text) > MaxPolicyTextSize || strings.ContainsFunc(text, isControl) || slices.Index(texts, text) != i {
			return invalid(fmt.Sprintf("%s/%d", field, i), "the value %s must be 1 to %d bytes without control characters, and come once",
				quote(text), MaxPolicyTextSize)
		}
	}
	return nil
}

// check makes sure that the patterns are ones, for a file's own name.
func (d Documents) check() *Refusal {
	for _, pattern := range []demand{{"result", d.Result}, {"host", d.Host}, {"definition", d.Definition}} {
		if _, err := path.Match(pattern.value, "x"); err != nil || len(pattern.value) > MaxPolicyTextSize || strings.Contains(pattern.value, "/") {
			return invalid("/policy/documents/"+pattern.name, "the pattern %s must be a file name's, like *.json, in at most %d bytes",
				quote(pattern.value), MaxPolicyTextSize)
		}
	}
	return nil
}
