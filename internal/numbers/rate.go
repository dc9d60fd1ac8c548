package numbers

import (
	"math"
	"math/big"
	"slices"
)

// PassMost is the largest j of pass@j and pass^j. Their exact fractions grow
// with j, and nobody asks for the hundredth try of a campaign.
const PassMost = 100

// Rate is how often a campaign's cells pass.
type Rate struct {
	Rate      *big.Rat // nil when no slot is filled
	Scenarios int      // with at least one filled slot
	Slots     int      // filled
	Passed    int      // of them
	Unsteady  int      // scenarios that passed sometimes and failed sometimes
	Pass      []Pass   // by j from 1
	Interval  *Interval
}

// Interval is the 95 % interval of a rate.
type Interval struct {
	Effective float64 // how many independent cells would know as much
	Low, High float64
}

// Pass is what j tries of one scenario come to.
type Pass struct {
	J         int
	At        *big.Rat // pass@j: at least one of j passes
	Hat       *big.Rat // pass^j: all of j pass
	Scenarios int      // with at least j filled slots, which At and Hat are over
}

// NewRate reads a campaign's counts. The rate is the mean of the scenarios' own
// rates, so that each scenario weighs the same. The interval is nil for fewer
// than two scenarios: one says nothing about others.
func NewRate(counts []Count) Rate {
	var r Rate
	for _, c := range counts {
		if c.Filled < 1 {
			continue
		}
		r.Scenarios++
		r.Slots += c.Filled
		r.Passed += c.Passed
		if 0 < c.Passed && c.Passed < c.Filled {
			r.Unsteady++
		}
	}
	if r.Scenarios == 0 {
		return r
	}
	groups := group(counts)
	sum, squares := moments(groups)
	n := big.NewRat(int64(r.Scenarios), 1)
	r.Rate = new(big.Rat).Quo(sum, n)
	r.Pass = passes(groups)
	if r.Scenarios >= 2 {
		r.Interval = interval(r.Rate, squares, r.Scenarios, r.Slots)
	}
	return r
}

// interval is Clopper and Pearson's (Biometrika 26, 1934) on the effective
// sample of Korn and Graubard (Survey Methodology 24, 1998):
//
//	v = s²/n, s² the sample variance of the scenarios' rates
//	e = p(1−p)/v · (t(0.975, N−1)/t(0.975, n−1))², cut to [n, N]; n when v = 0
//	low = Beta⁻¹(0.025; p·e, e−p·e+1), high = Beta⁻¹(0.975; p·e+1, e−p·e)
//
// v is exact, so that a variance of nothing is nothing and not a rounding error.
func interval(p, squares *big.Rat, scenarios, slots int) *Interval {
	n := big.NewRat(int64(scenarios), 1)
	// s²·(n−1) = Σx² − n·p², v = s²/n
	spread := new(big.Rat).Mul(p, p)
	spread.Sub(squares, spread.Mul(spread, n))
	effective := float64(scenarios)
	if spread.Sign() > 0 {
		v := new(big.Rat).Quo(spread, big.NewRat(int64(scenarios)*int64(scenarios-1), 1))
		binomial := new(big.Rat).Mul(p, new(big.Rat).Sub(big.NewRat(1, 1), p))
		design := studentQuantile(upper, slots-1) / studentQuantile(upper, scenarios-1)
		effective = toFloat(binomial.Quo(binomial, v)) * design * design
		effective = min(max(effective, float64(scenarios)), float64(slots))
	}
	at := Interval{Effective: effective, Low: 0, High: 1}
	passed := toFloat(p) * effective
	if p.Sign() > 0 {
		at.Low = betaQuantile(1-upper, passed, effective-passed+1)
	}
	if passed < effective {
		at.High = betaQuantile(upper, passed+1, effective-passed)
	}
	return &at
}

// groups are scenarios of the same counts.
type groups struct {
	counts []Count
	many   map[Count]int64
}

func group(counts []Count) groups {
	g := groups{many: map[Count]int64{}}
	for _, c := range counts {
		if c.Filled < 1 {
			continue
		}
		if g.many[c] == 0 {
			g.counts = append(g.counts, c)
		}
		g.many[c]++
	}
	return g
}

// moments are Σ c/m and Σ (c/m)² over scenarios, exactly.
func moments(g groups) (sum, squares *big.Rat) {
	sums, squaresOf := map[int]*big.Int{}, map[int]*big.Int{}
	for _, c := range g.counts {
		if sums[c.Filled] == nil {
			sums[c.Filled], squaresOf[c.Filled] = new(big.Int), new(big.Int)
		}
		passed := big.NewInt(int64(c.Passed))
		term := new(big.Int).Mul(passed, big.NewInt(g.many[c]))
		sums[c.Filled].Add(sums[c.Filled], term)
		squaresOf[c.Filled].Add(squaresOf[c.Filled], term.Mul(term, passed))
	}
	sum, squares = new(big.Rat), new(big.Rat)
	for filled, total := range sums {
		m := big.NewInt(int64(filled))
		sum.Add(sum, new(big.Rat).SetFrac(total, m))
		squares.Add(squares, new(big.Rat).SetFrac(squaresOf[filled], m.Mul(m, m)))
	}
	return sum, squares
}

// passes are pass@j = mean of 1 − C(m−c, j)/C(m, j) (Chen et al., Evaluating
// Large Language Models Trained on Code, 2021) and pass^j = mean of C(c, j)/C(m, j)
// (Yao et al., τ-bench, 2024), over the scenarios with m ≥ j.
func passes(g groups) []Pass {
	most := 0
	for _, c := range g.counts {
		most = max(most, c.Filled)
	}
	var all []Pass
	for j := 1; j <= min(most, PassMost); j++ {
		none, every := map[int]*big.Int{}, map[int]*big.Int{} // by m, over the denominator C(m, j)
		var scenarios int64
		for _, c := range g.counts {
			if c.Filled < j {
				continue
			}
			many := g.many[c]
			scenarios += many
			addChoices(none, c.Filled, c.Filled-c.Passed, j, many)
			addChoices(every, c.Filled, c.Passed, j, many)
		}
		n := big.NewRat(scenarios, 1)
		all = append(all, Pass{
			J:         j,
			At:        new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).Quo(overChoices(none, j), n)),
			Hat:       new(big.Rat).Quo(overChoices(every, j), n),
			Scenarios: int(scenarios),
		})
	}
	return all
}

// addChoices adds many · C(of, j) to the sum of the scenarios with m slots.
func addChoices(sums map[int]*big.Int, m, of, j int, many int64) {
	if sums[m] == nil {
		sums[m] = new(big.Int)
	}
	choices := new(big.Int).Binomial(int64(of), int64(j))
	sums[m].Add(sums[m], choices.Mul(choices, big.NewInt(many)))
}

// overChoices is the sum over m of sums[m]/C(m, j).
func overChoices(sums map[int]*big.Int, j int) *big.Rat {
	total := new(big.Rat)
	for m, sum := range sums {
		total.Add(total, new(big.Rat).SetFrac(sum, new(big.Int).Binomial(int64(m), int64(j))))
	}
	return total
}

// UnsteadyScenarios are the places of the scenarios that passed sometimes and
// failed sometimes, those nearest to one half first.
func UnsteadyScenarios(counts []Count) []int {
	var places []int
	for i, c := range counts {
		if 0 < c.Passed && c.Passed < c.Filled {
			places = append(places, i)
		}
	}
	slices.SortStableFunc(places, func(a, b int) int {
		return offHalf(counts[a]).Cmp(offHalf(counts[b]))
	})
	return places
}

func offHalf(c Count) *big.Rat {
	off := big.NewRat(int64(2*c.Passed-c.Filled), int64(c.Filled))
	return off.Abs(off)
}

func toFloat(r *big.Rat) float64 {
	f, _ := r.Float64()
	if math.IsInf(f, 0) {
		panic("numbers: a ratio of counts beyond every float")
	}
	return f
}
