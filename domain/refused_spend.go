package domain

import "time"

// Measurement is what a sum counts once: the key alone is not enough, since the
// measurer chooses it.
type Measurement struct {
	Key          string // accounting campaign/attempt/executionId
	ResultSHA256 string
}

// RefusedCost is a measurement that only refused cells claim.
type RefusedCost struct {
	Index  uint64    // of the first decision that refused it
	At     time.Time // when that arrived
	Charge Charge

	usage Usage
}

// RefusedSpend follows what a campaign's refused cells claim to have cost: each
// measurement once, and none that was imported. It is a fold over all of the
// campaign's decisions, those before its opening and after its seal included,
// and no part of [Campaign]. The zero RefusedSpend is not ready; see
// [NewRefusedSpend].
type RefusedSpend struct {
	plausible Plausible
	imported  map[Measurement]bool
	refused   map[Measurement]*RefusedCost
	account   Account
}

// NewRefusedSpend starts the fold before a campaign's first decision.
func NewRefusedSpend() *RefusedSpend {
	return &RefusedSpend{plausible: *DefaultPlausible(), imported: map[Measurement]bool{}, refused: map[Measurement]*RefusedCost{}}
}

// Add takes up the campaign's next decision. It gives the measurement that
// comes into the sum and the one that leaves it, nil for none. An opening
// judges anew what was claimed before it, by its policy: then both are nil.
func (s *RefusedSpend) Add(d *Decision) (added, removed *RefusedCost) {
	switch data := d.Latest().(type) {
	case *Opening:
		s.judgeAnew(*data.Policy.Plausible)
	case *CellImported:
		m := Measurement{data.Cell.MeasurementKey, data.Cell.ResultSHA256}
		s.imported[m] = true
		if removed = s.refused[m]; removed != nil {
			delete(s.refused, m)
			s.account.Remove(removed.Charge)
		}
	case *CellRefused:
		added = s.refuse(d, data.Claimed)
	}
	return added, removed
}

func (s *RefusedSpend) refuse(d *Decision, claim *Claim) *RefusedCost {
	if claim == nil || claim.MeasurementKey == nil || claim.ResultSHA256 == nil || claim.Usage == nil || d.Reason.OfSigner() {
		return nil
	}
	m := Measurement{*claim.MeasurementKey, *claim.ResultSHA256}
	if s.imported[m] || s.refused[m] != nil {
		return nil
	}
	cost := &RefusedCost{Index: d.Index, At: d.Arrival.Time, Charge: s.plausible.Charge(*claim.Usage), usage: *claim.Usage}
	s.refused[m] = cost
	s.account.Add(cost.Charge)
	return cost
}

func (s *RefusedSpend) judgeAnew(plausible Plausible) {
	s.plausible, s.account = plausible, Account{}
	for _, cost := range s.refused {
		cost.Charge = plausible.Charge(cost.usage)
		s.account.Add(cost.Charge)
	}
}

// Spend gives the sum so far.
func (s *RefusedSpend) Spend() Spend { return s.account.Spend() }

// Account gives the sum so far, to add others to. It is a copy.
func (s *RefusedSpend) Account() *Account { return s.account.Plus(&Account{}) }
