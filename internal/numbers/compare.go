package numbers

import (
	"math"
	"math/big"
)

// MinPairs is how many scenarios both campaigns must have filled.
const MinPairs = 2

// Word is what a comparison comes to.
type Word string

// The words.
const (
	Better       Word = "better"
	Worse        Word = "worse"
	NotWorse     Word = "not_worse"    // not by the margin or more
	Inconclusive Word = "inconclusive" // not known; never "no difference"
	Incomparable Word = "incomparable" // too few scenarios in both
	MayBeChance  Word = "may_be_chance"
)

// Pair is one scenario in both campaigns. Both have at least one filled slot.
type Pair struct {
	Baseline, Candidate Count
}

// Comparison is the candidate against the baseline. With fewer than MinPairs
// pairs only Pairs and Word are set.
type Comparison struct {
	Pairs      int
	Difference *big.Rat // mean of the candidate's rate less the baseline's, by scenario
	Low, High  float64  // its 95 % interval
	P          *big.Rat // exact for MethodExact, else a float's value
	Method     Method
	Word       Word
	Scenarios  []Moved // in the order of the pairs
}

// Moved is what is known of one scenario.
type Moved struct {
	Pair
	P     float64 // Fisher's
	PHolm float64 // after Holm's correction over all pairs
	Word  Word    // Worse, Better or MayBeChance
}

// Compare compares by scenario. Of is how many scenarios of the baseline have a
// filled slot: a comparison of fewer than half of them is Incomparable, whatever
// its numbers say. A margin is how much worse
// is still good enough, in rates (0.05 is five points); nil asks for none.
func Compare(pairs []Pair, of int, margin *big.Rat) Comparison {
	c := Comparison{Pairs: len(pairs), Word: Incomparable}
	if len(pairs) < MinPairs {
		return c
	}
	common := commonSlots(pairs)
	moves := make([]*big.Int, len(pairs))
	sum, squares := new(big.Int), new(big.Int)
	for i, pair := range pairs {
		moves[i] = pair.move(common)
		sum.Add(sum, moves[i])
		squares.Add(squares, new(big.Int).Mul(moves[i], moves[i]))
	}
	n := int64(len(pairs))
	c.Difference = new(big.Rat).SetFrac(sum, new(big.Int).Mul(common, big.NewInt(n)))
	c.Low, c.High = differenceInterval(
		new(big.Rat).SetFrac(sum, common),
		new(big.Rat).SetFrac(squares, new(big.Int).Mul(common, common)), n)
	c.P, c.Method = signFlip(moves)
	c.Scenarios = scenarios(pairs)
	if 2*len(pairs) >= of {
		c.Word = c.word(margin)
	}
	return c
}

func (c *Comparison) word(margin *big.Rat) Word {
	noticed := c.P.Cmp(big.NewRat(1, 20)) <= 0
	switch {
	case noticed && c.Low > 0:
		return Better
	case noticed && c.High < 0:
		return Worse
	case margin != nil && c.Low > -toFloat(margin):
		return NotWorse
	}
	return Inconclusive
}

// NotWorseBy reports whether the candidate is surely not worse by the margin or
// more: the whole interval is above −margin.
func (c *Comparison) NotWorseBy(margin *big.Rat) bool {
	return c.Word != Incomparable && c.Low > -toFloat(margin)
}

// WorseBy reports whether the candidate is surely worse by the margin or more.
func (c *Comparison) WorseBy(margin *big.Rat) bool {
	return c.Word != Incomparable && c.High < -toFloat(margin)
}

// Gate is what a gate answers to a comparison.
type Gate string

// The answers.
const (
	GatePass     Gate = "pass"      // the candidate is not worse by the margin
	GateFail     Gate = "fail"      // it is worse, or by the margin
	GateNotKnown Gate = "not_known" // neither is known
)

// NotWorseThan is the gate's rule. A candidate that is surely a little worse,
// and surely by less than the margin, passes: that is what a margin is for.
// Campaigns that still take cells are not known: looking again until it looks
// good breaks the error rates.
func (c *Comparison) NotWorseThan(margin *big.Rat, sealed bool) Gate {
	switch {
	case !sealed || c.Word == Incomparable:
		return GateNotKnown
	case c.NotWorseBy(margin):
		return GatePass
	case c.WorseBy(margin) || c.Word == Worse:
		return GateFail
	}
	return GateNotKnown
}

// differenceInterval is Student's over the n differences and two more, +1 and
// −1: the paired form of adding successes and failures (Agresti and Min,
// Statistics in Medicine 24, 2005). Without them five scenarios that all did
// the same would claim to know everything.
//
//	mean = Σd/(n+2), variance = (Σd² + 2 − (n+2)·mean²)/(n+1)
//	mean ± t(0.975, n+1)·√(variance/(n+2))
func differenceInterval(sum, squares *big.Rat, n int64) (low, high float64) {
	with := big.NewRat(n+2, 1)
	mean := new(big.Rat).Quo(sum, with)
	variance := new(big.Rat).Mul(mean, mean)
	variance.Mul(variance, with)
	variance.Sub(new(big.Rat).Add(squares, big.NewRat(2, 1)), variance)
	variance.Quo(variance, big.NewRat((n+1)*(n+2), 1))
	half := studentQuantile(upper, int(n+1)) * math.Sqrt(toFloat(variance))
	return toFloat(mean) - half, toFloat(mean) + half
}

// commonSlots is the least common multiple of all slot counts.
func commonSlots(pairs []Pair) *big.Int {
	common := big.NewInt(1)
	for _, pair := range pairs {
		for _, count := range []Count{pair.Baseline, pair.Candidate} {
			slots := big.NewInt(int64(count.Filled))
			shared := new(big.Int).GCD(nil, nil, common, slots)
			common.Mul(common, slots.Quo(slots, shared))
		}
	}
	return common
}

// move is the scenario's difference in parts of the common slot.
func (p Pair) move(common *big.Int) *big.Int {
	rate := func(c Count) *big.Int {
		part := new(big.Int).Quo(common, big.NewInt(int64(c.Filled)))
		return part.Mul(part, big.NewInt(int64(c.Passed)))
	}
	return new(big.Int).Sub(rate(p.Candidate), rate(p.Baseline))
}

// scenarios tests each scenario by itself and corrects for having looked at all
// of them.
func scenarios(pairs []Pair) []Moved {
	known := map[Pair]float64{} // most scenarios of a campaign have few different counts
	ps := make([]float64, len(pairs))
	for i, pair := range pairs {
		p, ok := known[pair]
		if !ok {
			p = fisher(pair.Baseline, pair.Candidate)
			known[pair] = p
		}
		ps[i] = p
	}
	corrected := holm(ps)
	moved := make([]Moved, len(pairs))
	for i, pair := range pairs {
		moved[i] = Moved{Pair: pair, P: ps[i], PHolm: corrected[i], Word: MayBeChance}
		if corrected[i] < alpha {
			moved[i].Word = Better
			if pair.move(commonSlots([]Pair{pair})).Sign() < 0 {
				moved[i].Word = Worse
			}
		}
	}
	return moved
}
