package domain

import (
	"crypto/sha256"
	"time"

	"github.com/cockroachdb/errors"
)

// Campaign is a campaign's state: the fold of its accepted decisions and
// nothing else. It is owned by one goroutine at a time.
type Campaign struct {
	id        string
	opening   *Opening
	canonical [sha256.Size]byte // of the expanded opening; tells a repeated opening from another one
	openedAt  uint64            // index of the decision that opened it
	opened    time.Time         // when the stream stored what opened it
	accepted  uint64            // accepted decisions so far, the opening included

	intent    *Intent
	scenarios map[string]Scenario

	byImportKey      map[string]*Import // voided ones too: their keys are never used again
	byMeasurementKey map[string]*Import // likewise
	bySlot           map[Slot]*Import   // unvoided only: one import a slot

	counts      counts
	byScenario  map[string]*counts
	counted     Account // what fills a slot
	voidedSpend Account // what was taken back
	usage       map[UsageKey]*usageAccounts

	voided       int64
	voidedFailed int64       // of them, those that had not passed
	voids        []VoidShown // the first maxVoidsShown
	refused      refusals
	chain        campaignChain
	definitions  map[string]definitionsSeen // by scenario

	checkpoints map[CheckpointKey]boundCheckpoint

	sealedAt   uint64    // index of the seal, meaningful when seal is set
	sealedTime time.Time // likewise
	seal       *Seal

	positions *positions // nil until somebody asks
	verdict   Verdict    // as it was at verdictAt
	verdictAt verdictBasis
}

// Import is a cell that was accepted, as far as later cells are compared with it.
type Import struct {
	Index          uint64 // of the decision that accepted it
	ImportKey      string
	MeasurementKey string
	ArtifactSHA256 string
	ResultSHA256   string
	Slot           Slot

	status        string
	cleanup       string
	charge        Charge
	accounts      *usageAccounts // that it is counted in
	beforeOpening bool           // it started before the campaign's opening was stored, or names no start
	afterArrival  bool           // it finished later than maxClockAhead after it was stored
	voided        bool
	voidedAt      uint64 // index of the void, meaningful when voided
}

// Words of a result that decide a verdict.
const (
	statusPassed  = "passed"
	statusFailed  = "failed"
	cleanupPassed = "passed"
)

// definitionsSeen is by what a scenario's cells were measured, voided ones
// included.
type definitionsSeen struct {
	first   [3]string // definition, grader and suite digest of its first import
	seen    bool
	changed bool // a later one names another
}

func (s definitionsSeen) with(definition, grader, suite string) definitionsSeen {
	digests := [3]string{definition, grader, suite}
	if !s.seen {
		return definitionsSeen{first: digests, seen: true}
	}
	s.changed = s.changed || s.first != digests
	return s
}

// maxClockAhead is how long after its arrival was stored a result may have
// finished: clocks differ by a little.
const maxClockAhead = 5 * time.Minute

// openCampaign builds the state that an accepted opening starts.
func openCampaign(d *Decision, opening *Opening) (*Campaign, error) {
	if opening.Policy == nil || opening.Policy.Plausible == nil {
		return nil, errors.Wrapf(ErrLedgerContradicts, "the campaign that decision %d opened has no policy, or one without what is plausible", d.Index)
	}
	c := &Campaign{
		id:               d.Campaign,
		opening:          opening,
		canonical:        sha256.Sum256(opening.Canonical()),
		openedAt:         d.Index,
		intent:           NewIntent(d.Campaign, opening.SourceRevision, opening.Selected),
		scenarios:        make(map[string]Scenario, len(opening.Scenarios)),
		byImportKey:      map[string]*Import{},
		byMeasurementKey: map[string]*Import{},
		bySlot:           map[Slot]*Import{},
		byScenario:       make(map[string]*counts, len(opening.Scenarios)),
		opened:           d.Arrival.Time,
		definitions:      make(map[string]definitionsSeen, len(opening.Scenarios)),
		checkpoints:      map[CheckpointKey]boundCheckpoint{},
	}
	for _, scenario := range opening.Scenarios {
		c.scenarios[scenario.ID] = scenario
		c.byScenario[scenario.ID] = &counts{}
	}
	for _, selection := range opening.Selected {
		c.counts.selected++
		if scenario := c.byScenario[selection.ScenarioID]; scenario != nil {
			scenario.selected++
		}
	}
	return c, c.startChain(d)
}

// ID is the campaign's id.
func (c *Campaign) ID() string { return c.id }

// Opening is the campaign as it was frozen. It is shared, not a copy.
func (c *Campaign) Opening() *Opening { return c.opening }

// OpenedAt is the index of the decision that opened the campaign.
func (c *Campaign) OpenedAt() uint64 { return c.openedAt }

// Accepted counts the campaign's accepted decisions, the opening included.
func (c *Campaign) Accepted() uint64 { return c.accepted }

// RefusedFailed counts the rejected cells that claim a selected slot that did
// not pass.
func (c *Campaign) RefusedFailed() uint64 { return c.refused.failed }

// Sealed gives the seal and its index, or false while the campaign is open.
func (c *Campaign) Sealed() (*Seal, uint64, bool) { return c.seal, c.sealedAt, c.seal != nil }

// Import looks an import up by its key, voided ones included.
func (c *Campaign) Import(importKey string) (*Import, bool) {
	imported, ok := c.byImportKey[importKey]
	return imported, ok
}
