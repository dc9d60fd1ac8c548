package domain

// Opening is a campaign arrival's data, and, expanded, what its accepted
// decision holds: the campaign as it was frozen.
type Opening struct {
	SourceRevision string      `json:"sourceRevision"`
	Label          string      `json:"label"`
	Policy         *Policy     `json:"policy"`
	PolicyPreset   string      `json:"policyPreset,omitzero"` // only as it arrives; an expanded opening has none
	Scenarios      []Scenario  `json:"scenarios"`
	Selected       []Selection `json:"selected"`
	Budget         *Budget     `json:"budget"`
}

// Scenario is a row of a campaign's grid. Empty digests bind nothing.
type Scenario struct {
	ID               string `json:"id"`
	Label            string `json:"label"`
	DefinitionDigest string `json:"definitionDigest"`
	GraderDigest     string `json:"graderDigest"`
}

// Budget is shown beside the spend. Enforced, a campaign over it is not
// qualified, and one whose spend is only a lower bound is incomplete.
type Budget struct {
	CostUSD float64 `json:"costUsd"`
	Enforce bool    `json:"enforce"`
}

// rules are the policy's rules of a verdict.
func (o *Opening) rules() *VerdictRules { return &o.Policy.VerdictRules }
