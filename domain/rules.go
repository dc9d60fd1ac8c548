package domain

import "github.com/cockroachdb/errors"

// RuleVersion is the version of the rules that decides new arrivals. A record
// carries the version that decided it; whoever decides it again, reads it or
// prints it does so by the version it carries.
const RuleVersion = 1

// ErrUnknownRules means that a decision was made by rules that this program
// does not have.
var ErrUnknownRules = errors.WithHint(errors.New("domain: unknown rule version"),
	"Run the release that wrote the ledger's last decisions, or a later one.")

// Rules are one version of the law: how arrivals are decided, and what their
// decisions hold. A version that a ledger was written by never changes: its
// records stay readable, canonical and decidable for ever. Whatever changes is
// the next version, a new entry of the table beside the old ones, with
//
//   - its own list of gates, which may share gates with the older one;
//   - its own payload types where their members differ. The older type stays,
//     and its Latest gives the newer one, which is what folds and views read.
type Rules struct {
	// Decide answers an arrival on d, which names the arrival already. state is
	// the arrival's campaign before it, nil while it is unknown; it is not
	// changed. Pure: the same arguments give the same decision.
	Decide func(d *Decision, state *Campaign, a *Arrival)
	// NewData makes the empty payload of a decision of a kind and outcome, nil
	// when such a decision has none.
	NewData func(kind Kind, outcome Outcome) Data
}

// allRules is the table: every version that there ever was, from 1 on without
// holes.
var allRules = []*Rules{
	{Decide: decideV1, NewData: newDataV1},
}

// RulesOf gives the rules of a version. Error: ErrUnknownRules.
func RulesOf(v int) (*Rules, error) {
	if v < 1 || v > len(allRules) {
		return nil, errors.Wrapf(ErrUnknownRules, "version %d; this program has the rules up to version %d", v, len(allRules))
	}
	return allRules[v-1], nil
}

// AddRulesForTest adds the version behind the last one until the test ends,
// and gives its number. The test must not run beside others.
func AddRulesForTest(t interface{ Cleanup(func()) }, rules *Rules) int {
	before := allRules
	t.Cleanup(func() { allRules = before })
	allRules = append(before[:len(before):len(before)], rules)
	return len(allRules)
}

// Decide answers an arrival by the rules of version v. state is the arrival's
// campaign, nil while it is unknown, and is not changed: [Fold] does that when
// the decision stands. The decision is complete but for Prev, which belongs to
// the chain. The only error is [ErrUnknownRules].
func Decide(v int, state *Campaign, a *Arrival) (*Decision, error) {
	rules, err := RulesOf(v)
	if err != nil {
		return nil, err
	}
	d := newDecision(v, state, a)
	rules.Decide(d, state, a)
	d.countRefused(state)
	return d, nil
}

// newDataV1 makes the payloads of version 1; [Data] lists them.
func newDataV1(kind Kind, outcome Outcome) Data {
	accepted := outcome == Accepted
	switch {
	case kind == KindCampaign && accepted:
		return &Opening{}
	case kind == KindCell && accepted:
		return &CellImported{}
	case kind == KindCell && outcome == Rejected:
		return &CellRefused{}
	case kind == KindCell:
		return &CellReference{}
	case kind == KindVoid:
		return &VoidReference{}
	case kind == KindSeal && accepted:
		return &Seal{}
	case kind == KindSeal:
		return &SealRequest{}
	case kind == KindCheckpoint && accepted:
		return &CheckpointBound{}
	case kind == KindCheckpoint:
		return &CheckpointReference{}
	}
	return nil
}
