package domain

// Tally is where a campaign stands.
type Tally struct {
	Selected  int64 `json:"selected"`  // slots: passed + failed + missing
	Passed    int64 `json:"passed"`    // status and cleanup passed
	Failed    int64 `json:"failed"`    // status or cleanup anything else
	Missing   int64 `json:"missing"`   // no unvoided import
	Spent     Spend `json:"spent"`     // every measurement once, voided ones included
	Effective Spend `json:"effective"` // unvoided only
}

// counts is kept up with every fold, so that a tally costs the same for every
// size of campaign.
type counts struct {
	selected int64
	passed   int64
	failed   int64
}

func (n *counts) change(imported *Import, by int64) {
	if imported.passed() {
		n.passed += by
	} else {
		n.failed += by
	}
}

// Tally gives the campaign's counts and spend.
func (c *Campaign) Tally() Tally {
	tally := c.counts.tally()
	tally.Spent = c.spent.Spend()
	tally.Effective = c.effective.Spend()
	return tally
}

// ScenarioTally gives one scenario's counts, without spend; false for a
// scenario that the campaign does not have.
func (c *Campaign) ScenarioTally(scenarioID string) (Tally, bool) {
	scenario, ok := c.byScenario[scenarioID]
	if !ok {
		return Tally{}, false
	}
	return scenario.tally(), true
}

func (n *counts) tally() Tally {
	return Tally{Selected: n.selected, Passed: n.passed, Failed: n.failed, Missing: n.selected - n.passed - n.failed}
}

// Word is the verdict's word alone, at the same cost for every size of campaign.
func (c *Campaign) Word() VerdictWord {
	switch tally := c.counts.tally(); {
	case tally.Failed > 0:
		return NotQualified
	case tally.Missing > 0:
		return Incomplete
	default:
		return Qualified
	}
}
