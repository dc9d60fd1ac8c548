package domain

import (
	"fmt"

	"github.com/cockroachdb/errors"
)

// ErrUnknownRules means that a decision was made by rules that this program
// does not have.
var ErrUnknownRules = errors.WithHint(errors.New("domain: unknown rule version"),
	"run the release that wrote the ledger's last decisions, or a later one")

// CheckRules makes sure that this program has the rules of version v. Error:
// ErrUnknownRules.
func CheckRules(v int) error {
	if v < 1 || v > RuleVersion {
		return errors.Wrapf(ErrUnknownRules, "version %d; this program has the rules up to version %d", v, RuleVersion)
	}
	return nil
}

// Decide answers an arrival by the rules of version v. state is the arrival's
// campaign, nil while it is unknown, and is not changed: [Fold] does that when
// the decision stands. The decision is complete but for Prev, which belongs to
// the chain. The only error is [ErrUnknownRules].
func Decide(v int, state *Campaign, a *Arrival) (*Decision, error) {
	if err := CheckRules(v); err != nil {
		return nil, err
	}
	d := newDecision(state, a)
	switch {
	case a.Malformed != nil:
		d.reject(a.Malformed)
	case state == nil && a.Kind != KindCampaign:
		d.reject(refuse(ReasonCampaignUnknown, "", fmt.Sprintf(
			"no campaign %q is open; open it, then publish this again", cut(a.Campaign))))
	default:
		decideKind(d, state, a)
	}
	return d, nil
}

func newDecision(state *Campaign, a *Arrival) *Decision {
	d := &Decision{
		V:        RuleVersion,
		Index:    a.Seq - 1,
		Arrival:  ArrivalRef{Seq: a.Seq, ID: cut(a.ID), SHA256: a.SHA256, Time: a.Time.UTC()},
		Campaign: a.Campaign,
		Kind:     a.Kind,
	}
	if state != nil {
		d.Accepted = pointerTo(state.accepted)
	}
	return d
}

func decideKind(d *Decision, state *Campaign, a *Arrival) {
	switch a.Kind {
	case KindCampaign:
		decideOpening(d, state, a.Opening)
	case KindCell:
		state.decideCell(d, a.Cell)
	case KindCheckpoint:
		state.decideCheckpoint(d, a.Checkpoint)
	case KindVoid:
		state.decideVoid(d, a.Void)
	case KindSeal:
		state.decideSeal(d, a.Seal)
	}
}

// accept makes d change the campaign: it is one more accepted decision.
func (d *Decision) accept(data Data) {
	d.Outcome = Accepted
	d.Data = data
	d.Accepted = pointerTo(valueOf(d.Accepted) + 1)
}

func (d *Decision) repeat(index uint64, data Data) {
	d.Outcome = Duplicate
	d.Repeats = pointerTo(index)
	d.Detail = fmt.Sprintf("repeats decision %d, without effect", index)
	d.Data = data
}

func (d *Decision) reject(refusal *Refusal) {
	d.Outcome = Rejected
	d.Reason = refusal.Reason
	d.Field = cut(refusal.Field)
	d.Detail = cut(refusal.Message)
}

func pointerTo[T any](value T) *T { return &value }
