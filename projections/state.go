package projections

import (
	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
)

// campaignState is what the fold knows of one campaign: the writer's state,
// and what the rows need beside it. Like that, it is a fold of the campaign's
// accepted decisions and nothing else, so that it can be dropped and read
// again. It belongs to one Fold.
type campaignState struct {
	campaign *domain.Campaign
	opened   Moment
	sealed   *SealedRow

	positions map[domain.Slot]int // of slots, in the opening's selection
	scenarios map[string]int      // positions of scenarios, by id
	slots     []slotState         // by position

	measured map[string]measurement // by import key, voided ones too
	usage    map[usageKey]*usageAccounts
	bound    map[domain.CheckpointKey]bool

	verdict   domain.Verdict
	verdictAt verdictBasis // what verdict was computed at
}

// verdictBasis tells two states apart that may have different verdicts.
type verdictBasis struct{ accepted, refusedFailed uint64 }

type slotState struct {
	filled bool
	index  uint64 // of the import, meaningful when filled
	passed bool   // likewise
}

// measurement is what a void takes back.
type measurement struct {
	index    uint64
	position int // of the slot
	key      usageKey
	charge   domain.Charge
}

type usageKey struct{ day, model string }

type usageAccounts struct{ counted, voided domain.Account }

// openState starts the state with the decision that opened the campaign.
func openState(d *domain.Decision, opening *domain.Opening, fold folding) (*campaignState, error) {
	campaign, err := fold(nil, d)
	if err != nil {
		return nil, err
	}
	s := &campaignState{
		campaign:  campaign,
		opened:    momentOf(d),
		positions: make(map[domain.Slot]int, len(opening.Selected)),
		scenarios: make(map[string]int, len(opening.Scenarios)),
		slots:     make([]slotState, len(opening.Selected)),
		measured:  map[string]measurement{},
		usage:     map[usageKey]*usageAccounts{},
		bound:     map[domain.CheckpointKey]bool{},
	}
	for i, selection := range opening.Selected {
		s.positions[domain.Slot{ScenarioID: selection.ScenarioID, Ordinal: selection.RemoteOrdinal}] = i
	}
	for i, scenario := range opening.Scenarios {
		s.scenarios[scenario.ID] = i
	}
	return s, nil
}

// folding is how a decision changes the writer's state: domain.Fold, or
// domain.FoldAccepted where the accepted ones alone are read.
type folding func(*domain.Campaign, *domain.Decision) (*domain.Campaign, error)

// foldWhole is domain.Fold of a decision whose record has the given hash.
func foldWhole(recordHash string) folding {
	return func(state *domain.Campaign, d *domain.Decision) (*domain.Campaign, error) {
		return domain.Fold(state, d, recordHash)
	}
}

// advance folds a decision on an open campaign, or the opening: then state is
// nil. After an error the state must be dropped.
func advance(state *campaignState, d *domain.Decision, fold folding) (*campaignState, error) {
	if opening, ok := d.Latest().(*domain.Opening); ok && state == nil {
		return openState(d, opening, fold)
	}
	if state == nil {
		return nil, errors.Wrapf(domain.ErrLedgerContradicts, "decision %d was accepted for campaign %q, which is not open", d.Index, d.Campaign)
	}
	if _, err := fold(state.campaign, d); err != nil {
		return nil, err
	}
	if d.Outcome != domain.Accepted {
		return state, nil
	}
	switch data := d.Latest().(type) {
	case *domain.CellImported:
		return state, state.importCell(d, data)
	case *domain.VoidReference:
		state.void(data)
	case *domain.Seal:
		state.sealed = &SealedRow{Moment: momentOf(d), Actor: Storable(data.Actor)}
	case *domain.CheckpointBound:
		state.bound[data.Key] = true
	}
	return state, nil
}

func (s *campaignState) importCell(d *domain.Decision, data *domain.CellImported) error {
	position, ok := s.positions[data.Cell.Slot()]
	if !ok {
		return errors.Wrapf(domain.ErrLedgerContradicts, "decision %d fills a slot that campaign %q did not select", d.Index, d.Campaign)
	}
	key := usageKey{day: usageDay(data.Result.FinishedAt, d.Arrival.Time), model: Storable(data.Result.Model)}
	accounts := s.usage[key]
	if accounts == nil {
		accounts = &usageAccounts{}
		s.usage[key] = accounts
	}
	charge := s.campaign.Opening().Policy.Plausible.Charge(data.Usage)
	accounts.counted.Add(charge)
	s.measured[data.Cell.ImportKey] = measurement{index: d.Index, position: position, key: key, charge: charge}
	s.slots[position] = slotState{filled: true, index: d.Index, passed: passed(data.Result)}
	return nil
}

// void takes an import back. domain.Fold has checked that it counts.
func (s *campaignState) void(data *domain.VoidReference) {
	voided := s.measured[data.ImportKey]
	accounts := s.usage[voided.key]
	accounts.counted.Remove(voided.charge)
	accounts.voided.Add(voided.charge)
	s.slots[voided.position] = slotState{}
}

// cells is about how much memory the state holds: its slots and imports.
func (s *campaignState) cells() int { return len(s.slots) + len(s.measured) }

// currentVerdict computes the verdict once for each state: it costs a walk
// over all slots. A sealed campaign keeps the one that the seal froze.
func (s *campaignState) currentVerdict() domain.Verdict {
	if basis := (verdictBasis{s.campaign.Accepted(), s.campaign.RefusedFailed()}); s.verdictAt != basis {
		s.verdictAt = basis
		if seal, _, sealed := s.campaign.Sealed(); sealed {
			s.verdict = seal.Verdict
		} else {
			s.verdict = s.campaign.Verdict()
		}
	}
	return s.verdict
}

func momentOf(d *domain.Decision) Moment {
	return Moment{Index: d.Index, At: storedTime(d.Arrival.Time)}
}

// passed reports whether a result counts as passed: a clean end included, as
// in domain.Campaign's counts.
func passed(facts domain.CellFacts) bool {
	return facts.Status == "passed" && facts.Cleanup == "passed"
}
