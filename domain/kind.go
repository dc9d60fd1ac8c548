package domain

// Kind says what an arrival is about. It is the last token of its subject.
type Kind string

// The kinds of arrival.
const (
	KindCampaign   Kind = "campaign"   // opens a campaign
	KindCell       Kind = "cell"       // one measured cell
	KindCheckpoint Kind = "checkpoint" // one read of a runner's checkpoint
	KindVoid       Kind = "void"       // reverses an import
	KindSeal       Kind = "seal"       // closes a campaign
)

// Kinds lists every kind, in the order of a campaign's life.
func Kinds() []Kind {
	return []Kind{KindCampaign, KindCell, KindCheckpoint, KindVoid, KindSeal}
}

// Known reports whether k is one of [Kinds].
func (k Kind) Known() bool {
	switch k {
	case KindCampaign, KindCell, KindCheckpoint, KindVoid, KindSeal:
		return true
	}
	return false
}

// Outcome is the one word a decision comes down to.
type Outcome string

// The outcomes of a decision.
const (
	Accepted  Outcome = "accepted"  // it counts, and changed the campaign
	Duplicate Outcome = "duplicate" // it repeats an earlier decision, without effect
	Pending   Outcome = "pending"   // a checkpoint that may still bind
	Rejected  Outcome = "rejected"  // refused, with a reason
)

// Outcomes lists every outcome.
func Outcomes() []Outcome { return []Outcome{Accepted, Duplicate, Pending, Rejected} }

// Known reports whether o is one of [Outcomes].
func (o Outcome) Known() bool {
	switch o {
	case Accepted, Duplicate, Pending, Rejected:
		return true
	}
	return false
}
