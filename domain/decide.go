package domain

import "fmt"

// decideV1 decides by version 1.
func decideV1(d *Decision, state *Campaign, a *Arrival) {
	switch {
	case a.Malformed != nil:
		d.reject(a.Malformed)
	case state == nil && a.Kind != KindCampaign:
		d.reject(refuse(ReasonCampaignUnknown, "", fmt.Sprintf(
			"no campaign %q is open; open it, then publish this again", cut(a.Campaign))))
	default:
		decideKind(d, state, a, gatesV1)
	}
	if d.Kind == KindCell && d.Outcome == Rejected {
		d.Data = refusedCell(state, a.Cell)
	}
}

// RefOf is how a record names an arrival: what is too long for one is cut.
func RefOf(a *Arrival) ArrivalRef {
	return ArrivalRef{Seq: a.Seq, ID: cut(a.ID), SHA256: a.SHA256, Time: a.Time.UTC()}
}

// newDecision begins the answer to an arrival.
func newDecision(v int, state *Campaign, a *Arrival) *Decision {
	d := &Decision{
		V:        v,
		Index:    a.Seq - 1,
		Arrival:  RefOf(a),
		Campaign: a.Campaign,
		Kind:     a.Kind,
	}
	if state != nil {
		d.Accepted = pointerTo(state.accepted)
		d.CampaignIndex = pointerTo(state.chain.index + 1)
		d.CampaignPrev = pointerTo(state.chain.last)
	}
	return d
}

// countRefused adds the campaign's counts of refusals, d included.
func (d *Decision) countRefused(state *Campaign) {
	if state != nil {
		refused := state.refused.with(state, d)
		d.Refused, d.RefusedFailed = pointerTo(refused.cells), pointerTo(refused.failed)
	}
}

// refusedCell is what a rejected cell's record holds. evidence is nil when it
// could not be read.
func refusedCell(state *Campaign, evidence *CellEvidence) *CellRefused {
	if evidence == nil {
		return &CellRefused{}
	}
	var intent *Intent
	if state != nil {
		intent = state.intent
	}
	return &CellRefused{Provenance: pointerTo(evidence.Provenance.cut()), Claimed: claimOf(intent, evidence)}
}

func decideKind(d *Decision, state *Campaign, a *Arrival, gates []gate) {
	switch a.Kind {
	case KindCampaign:
		decideOpening(d, state, a.Opening)
	case KindCell:
		state.decideCell(d, a.Cell, gates)
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
