package simci

import (
	"fmt"
	"sync/atomic"

	"github.com/ledgerd/ledgerd/domain"
)

// CI is a simulated CI with its plan. It does not change: everything can be
// called from several goroutines at once.
type CI struct {
	config     Config
	policy     *domain.Policy
	transcript int // bytes of it in each result

	slots     []slot // of every campaign; they are alike
	campaigns []campaign
	artifacts []artifact
	steps     []step
	expected  []Expected
	digests   []atomic.Pointer[string] // of the artifacts' archives, once they were packed
}

// slot is a place in the grid, and what is measured there.
type slot struct {
	scenario    string
	ordinal     int64
	executionID string
	definition  definition
}

// campaign is one that is opened.
type campaign struct {
	id       string
	revision string
	troubles []Trouble // by slot
	mainRuns []place   // by slot; where it was measured
}

// place is a cell in an artifact.
type place struct{ artifact, cell int32 }

// artifact is what one job leaves behind.
type artifact struct {
	campaign int32
	variant  variant
	runOf    int32   // the artifact whose workflow run this one is of; itself mostly
	slots    []int32 // of the campaign
}

// New plans a CI. Errors: ErrConfig.
func New(config Config) (*CI, error) {
	config, policy, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	ci := &CI{config: config, policy: policy, slots: newSlots(config.Scenarios, policy)}
	for i := range config.Campaigns {
		ci.campaigns = append(ci.campaigns, ci.newCampaign(i))
	}
	if err := ci.checkOpening(); err != nil {
		return nil, err
	}
	ci.plan()
	ci.digests = make([]atomic.Pointer[string], len(ci.artifacts))
	ci.expect()
	ci.fill()
	return ci, nil
}

func newSlots(scenarios int, policy *domain.Policy) []slot {
	slots := make([]slot, 0, scenarios*len(policy.Ordinals))
	for i := range scenarios {
		id := scenarioName(i)
		defined := define(id)
		for _, ordinal := range policy.Ordinals {
			slots = append(slots, slot{scenario: id, ordinal: ordinal, executionID: ExecutionID(policy, id, ordinal), definition: defined})
		}
	}
	return slots
}

func (ci *CI) newCampaign(i int) campaign {
	r := ci.random(purposeCampaign, uint64(i))
	c := campaign{
		id:       fmt.Sprintf("%s-%02d-%s", ci.config.Prefix, i+1, r.hex(6)),
		revision: r.hex(40),
		troubles: make([]Trouble, len(ci.slots)),
	}
	next := 0
	troubles := ci.config.TroublesOf(i)
	for trouble := None + 1; trouble < slotTroubles; trouble++ {
		if ci.config.Unsealed && trouble.needsSeal() {
			continue
		}
		for range troubles[trouble] {
			c.troubles[next] = trouble
			next++
		}
	}
	shuffle(r, c.troubles)
	return c
}

// checkOpening holds that the ledger takes the campaigns; all are alike.
func (ci *CI) checkOpening() error {
	id := ci.campaigns[0].id
	if !domain.LegalCampaignID(id) || !domain.LegalCampaignID(ci.unopened(0)) {
		return wrong("%q is no campaign id", id)
	}
	for i := range ci.slots {
		if id := ci.slots[i].executionID; len(id) > domain.MaxIDBytes {
			return wrong("the execution id %q is longer than %d bytes", id, domain.MaxIDBytes)
		}
	}
	// The ledger prints what a preset stands for, and every field.
	size := len(ci.opening(0, false)) + presetBytes
	if slots := len(ci.slots); slots > domain.MaxSelections || size > maxOpeningBytes {
		return wrong("a campaign of %d cells is printed in %d bytes; the ledger takes %d cells in %d bytes", slots, size, domain.MaxSelections, maxOpeningBytes)
	}
	return nil
}

// presetBytes is how much longer a campaign is with its policy, about.
const presetBytes = 2 << 10

// Purposes keep streams of random numbers apart.
const (
	purposeCampaign = iota + 1
	purposeRun
	purposeMeasurement
	purposeBreakage
	purposeOrder
	purposeMerge
	purposeID
	purposeCheckpoint
)

func (ci *CI) random(path ...uint64) *random {
	return newRandom(append([]uint64{ci.config.Seed}, path...)...)
}

// Campaigns are the ids of the campaigns, in the order of Expected.
func (ci *CI) Campaigns() []string {
	ids := make([]string, len(ci.campaigns))
	for i := range ci.campaigns {
		ids[i] = ci.campaigns[i].id
	}
	return ids
}

// Policy is the policy of every campaign. It is shared, not a copy.
func (ci *CI) Policy() *domain.Policy { return ci.policy }

// unopened is the id of a campaign that nobody opens.
func (ci *CI) unopened(campaign int32) string { return ci.campaigns[campaign].id + "-draft" }

// opening prints a campaign arrival. The other one differs in its label.
func (ci *CI) opening(campaign int32, other bool) []byte {
	c := &ci.campaigns[campaign]
	data := openingData{
		revision: c.revision,
		label:    fmt.Sprintf("Chat review %d", campaign+1),
		policy:   ci.policy,
		budget:   100,
	}
	if ci.config.Policy == nil {
		data.preset = domain.PresetPaperclipChat
	}
	if other {
		data.label += ", corrected"
	}
	for i := range ci.config.Scenarios {
		data.scenarios = append(data.scenarios, scenarioName(i))
	}
	return openingBody(&data)
}

func (ci *CI) slot(index int32) *slot { return &ci.slots[index] }
