// Package numbers answers what people ask of counts: how sure is this rate,
// did the new build get worse or was it luck, which scenario moved, how many
// cells must be bought to see a drop of five points.
//
// Model: a campaign is a list of Counts, one a scenario. Scenarios are a sample
// of what could have been asked, and the slots of one scenario are repeats of
// one question: they are not independent, so every interval here is over
// scenarios. Everything is a pure function of counts, with no seed: sums and
// tests are counted in whole numbers, and floats only enter where a quantile
// does. Authority: none; nothing here decides an arrival or is in a record.
// Failure: what cannot be said is nil, with a reason in words.
package numbers

// The level of every statement: intervals hold the truth, and equal campaigns
// are called equal, in at least 95 of 100 cases.
const (
	alpha = 0.05
	upper = 1 - alpha/2
)

// Count is what became of one scenario: Passed of Filled slots, 0 ≤ Passed ≤
// Filled. A slot that nothing filled is in neither.
type Count struct {
	Passed int
	Filled int
}
