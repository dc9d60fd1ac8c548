package domain

import "time"

// What a campaign knows of its parts, for whoever shows them.

// UsageKey is what usages are added up by within a campaign.
type UsageKey struct {
	Day   string // UTC, like 2006-01-02, on which the measurement finished
	Model string
}

// Years that every store and JSON can hold as a date.
const (
	firstYear = 1
	lastYear  = 9999
)

// UsageKeyOf gives the key of a measurement that was decided at some time. A
// finish that is no calendar day of the years 1 to 9999 (a gate lets year 0
// pass) counts on the day the import was decided.
func UsageKeyOf(facts *CellFacts, decided time.Time) UsageKey {
	finished, err := time.Parse(time.RFC3339Nano, facts.FinishedAt)
	day := finished.UTC()
	if err != nil || day.Year() < firstYear || day.Year() > lastYear {
		day = decided.UTC()
	}
	return UsageKey{Day: day.Format(time.DateOnly), Model: facts.Model}
}

// usageAccounts are what the measurements under one key cost.
type usageAccounts struct {
	key     UsageKey
	counted Account // what fills a slot
	voided  Account // what was taken back
}

// accountsOf gives the accounts that a measurement is counted in.
func (c *Campaign) accountsOf(key UsageKey) *usageAccounts {
	accounts := c.usage[key]
	if accounts == nil {
		accounts = &usageAccounts{key: key}
		if c.usage == nil {
			c.usage = map[UsageKey]*usageAccounts{}
		}
		c.usage[key] = accounts
	}
	return accounts
}

// UsageKey is what the cell's usage is added up by.
func (i *Import) UsageKey() UsageKey { return i.accounts.key }

// Passed reports whether the cell counts as passed: a clean end included.
func (i *Import) Passed() bool { return passed(i.status, i.cleanup) }

// Passed reports whether the cell counts as passed: a clean end included.
func (f *CellFacts) Passed() bool { return passed(f.Status, f.Cleanup) }

func passed(status, cleanup string) bool { return status == statusPassed && cleanup == cleanupPassed }

// UsageBy gives what the measurements under a key cost: spent counts every one
// once, effective unvoided ones only.
func (c *Campaign) UsageBy(key UsageKey) (spent, effective Spend) {
	accounts := c.usage[key]
	if accounts == nil {
		accounts = &usageAccounts{}
	}
	return accounts.counted.Plus(&accounts.voided).Spend(), accounts.counted.Spend()
}

// Opened is when the decision that opened the campaign was made.
func (c *Campaign) Opened() time.Time { return c.opened }

// SealedTime is when the campaign was sealed, meaningful when it is.
func (c *Campaign) SealedTime() time.Time { return c.sealedTime }

// InSlot gives the import that fills a slot, false when none does.
func (c *Campaign) InSlot(slot Slot) (*Import, bool) {
	imported, ok := c.bySlot[slot]
	return imported, ok
}

// Bound reports whether a checkpoint read is bound.
func (c *Campaign) Bound(key CheckpointKey) bool {
	_, bound := c.checkpoints[key]
	return bound
}

// positions are places in the opening, from 0.
type positions struct {
	slots     map[Slot]int
	scenarios map[string]int
}

// PositionOf gives a slot's place in the opening's selection, and its
// scenario's in the opening's list; false when it was not selected. The first
// call costs as much as the campaign is large.
func (c *Campaign) PositionOf(slot Slot) (position, scenario int, ok bool) {
	if c.positions == nil {
		c.positions = newPositions(c.opening)
	}
	position, ok = c.positions.slots[slot]
	return position, c.positions.scenarios[slot.ScenarioID], ok
}

func newPositions(opening *Opening) *positions {
	p := &positions{slots: make(map[Slot]int, len(opening.Selected)), scenarios: make(map[string]int, len(opening.Scenarios))}
	for i, selection := range opening.Selected {
		p.slots[selection.Slot()] = i
	}
	for i, scenario := range opening.Scenarios {
		p.scenarios[scenario.ID] = i
	}
	return p
}

// verdictBasis tells two states apart that may have different verdicts.
type verdictBasis struct{ accepted, refusedFailed uint64 }

// CurrentVerdict is the verdict as it stands, or the one that the seal froze.
// It is computed once for each state: it costs a walk over all slots.
func (c *Campaign) CurrentVerdict() Verdict {
	if c.seal != nil {
		return c.seal.Verdict
	}
	if basis := (verdictBasis{c.accepted, c.refused.failed}); c.verdictAt != basis {
		c.verdict, c.verdictAt = c.Verdict(), basis
	}
	return c.verdict
}

// Bytes that a part of a campaign's state takes, with its places in the maps.
const (
	campaignWeight   = 3 << 10
	selectionWeight  = 256
	scenarioWeight   = 384
	importWeight     = 640
	checkpointWeight = 1 << 10
	usageWeight      = 512
)

// Weight is about how many bytes of memory the state takes.
func (c *Campaign) Weight() int {
	return campaignWeight + selectionWeight*len(c.opening.Selected) + scenarioWeight*len(c.opening.Scenarios) +
		importWeight*len(c.byImportKey) + checkpointWeight*len(c.checkpoints) + usageWeight*len(c.usage)
}
