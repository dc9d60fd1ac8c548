package domain

// Tally is where a campaign stands.
type Tally struct {
	Selected int64 `json:"selected"` // slots: passed + failed + missing
	Passed   int64 `json:"passed"`   // status and cleanup passed
	Failed   int64 `json:"failed"`   // status or cleanup anything else
	Missing  int64 `json:"missing"`  // no unvoided import

	Voided        int64 `json:"voided"`        // imports that were voided
	VoidedFailed  int64 `json:"voidedFailed"`  // of them, those that had failed or not cleaned up
	Refused       int64 `json:"refused"`       // rejected cells, a repeated arrival each time
	RefusedFailed int64 `json:"refusedFailed"` // of them, those that claim a selected slot that did not pass

	Voids []VoidShown `json:"voids"` // the first maxVoidsShown
	Spend TallySpend  `json:"spend"`
}

// TallySpend is what a campaign's measurements cost, each once. What refused
// cells claim is no part of it: that is a fold over all decisions, and in views.
type TallySpend struct {
	Counted Spend `json:"counted"` // fills a slot
	Voided  Spend `json:"voided"`
}

// VoidShown is a void as a verdict shows it.
type VoidShown struct {
	Slot      string `json:"slot"` // scenario/ordinal
	ImportKey string `json:"importKey"`
	Index     uint64 `json:"index"`  // of the void's decision
	Failed    bool   `json:"failed"` // the import had failed or not cleaned up
	Actor     string `json:"actor"`
	Reason    string `json:"reason"`
}

// maxVoidsShown bounds a tally's list of voids; the counts beside it are exact.
const maxVoidsShown = 20

// counts is kept up with every fold, so that a tally costs the same for every
// size of campaign.
type counts struct {
	selected int64
	passed   int64
	failed   int64
}

func (n *counts) change(imported *Import, by int64) {
	if imported.Passed() {
		n.passed += by
	} else {
		n.failed += by
	}
}

// Tally gives the campaign's counts and spend.
func (c *Campaign) Tally() Tally {
	tally := c.counts.tally()
	tally.Voided, tally.VoidedFailed = c.voided, c.voidedFailed
	tally.Refused, tally.RefusedFailed = int64(c.refused.cells), int64(c.refused.failed)
	tally.Voids = append([]VoidShown{}, c.voids...)
	tally.Spend = TallySpend{Counted: c.counted.Spend(), Voided: c.voidedSpend.Spend()}
	return tally
}

// Spent is what counted and voided measurements cost together.
func (c *Campaign) Spent() Spend { return c.counted.Plus(&c.voidedSpend).Spend() }

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
