// Package domain decides. It holds the rules of the ledger and nothing else:
// what a campaign is, when a measured cell counts, and what every arrival is
// answered with.
//
// Model: an [Arrival] is a fact that a producer published; [Decide] answers it
// with exactly one [Decision], given the campaign's state; [Campaign.Fold]
// turns an accepted decision into the campaign's next state. State is nothing
// but the fold of the campaign's accepted decisions, so the writer, a replay
// and every projection that starts from the same decisions hold the same
// state.
//
// Authority: the functions here are pure. There is no clock (time is the
// arrival's stream time), no randomness, no I/O, no context. The same
// arrivals give the same decisions, byte for byte, on every machine and in
// every year; the rule version in a decision ([RuleVersion]) says which rules
// made it.
//
// Failure: bad data is never an error here, it is a decision with outcome
// rejected and a [Reason]. An error from [Campaign.Fold] means that the ledger
// itself contradicts the rules; whoever reads it must stop.
package domain
