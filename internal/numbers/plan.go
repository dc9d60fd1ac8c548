package numbers

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Power is how often a drop of the planned size is noticed, and MinMoving the
// fewest scenarios with which one can be: of five that all fall, the smallest p
// is 2/2⁵ = 0.0625.
const (
	Power     = 0.8
	MinMoving = 6
)

// PlanMost bounds what a plan proposes: ordinals a scenario, and scenarios.
const PlanMost = 1_000_000

// Truth is what a plan takes the baseline for.
type Truth struct {
	Rate        float64 // of a cell, above 0 and at most 1
	Correlation float64 // of two cells of one scenario, 0 to 1: 1 is all or nothing
}

// EstimateTruth reads a truth from counts. The correlation is 1 − w/(p(1−p)),
// w the mean over scenarios of c(m−c)/(m(m−1)), which has the variance within a
// scenario without bias (the moments' estimate of the beta-binomial model, Kleinman,
// Journal of the American Statistical Association 68, 1973). It is 0, from
// which follow the largest plans, where no scenario has two slots. A rate of 1
// is taken down to that of one more failure in two more scenarios. ok is false
// when nothing passed: there is no drop from nothing.
func EstimateTruth(counts []Count) (truth Truth, ok bool) {
	rate := NewRate(counts)
	if rate.Rate == nil || rate.Rate.Sign() == 0 {
		return Truth{}, false
	}
	n := float64(rate.Scenarios)
	p := toFloat(rate.Rate)
	if rate.Passed == rate.Slots {
		p = (n + 1) / (n + 2)
	}
	within, repeated := 0.0, 0.0
	for _, c := range counts {
		if c.Filled > 1 {
			repeated++
			within += float64(c.Passed) * float64(c.Filled-c.Passed) / (float64(c.Filled) * float64(c.Filled-1))
		}
	}
	if repeated == 0 || rate.Passed == rate.Slots {
		return Truth{Rate: p}, true
	}
	return Truth{Rate: p, Correlation: min(1, max(0, 1-within/repeated/(p*(1-p))))}, true
}

// SmallestDrop is the smallest drop of the rate that a comparison of two
// campaigns of so many scenarios and ordinals calls worse with Power. ok is
// false when not even a drop to nothing is noticed so often.
//
// The model: scenario i passes with θ_i, of mean p and variance ρp(1−p); after
// the drop δ with θ_i·r, r = (p−δ)/p. A difference d_i then varies by
//
//	σ² = (1−ρ)p(1−p)/k + (rp − r²(p² + ρp(1−p)))/k + (1−r)²ρp(1−p)
//
// and the drop is noticed with Power when the interval of Compare, with its two
// added differences, ends z(0.8) standard deviations from 0:
//
//	nδ − z(0.8)·σ√n = t(0.975, n+1)·√((n+2)(nσ² + nδ² + 2 − n²δ²/(n+2))/(n+1))
func SmallestDrop(truth Truth, scenarios, ordinals int) (drop float64, ok bool) {
	if scenarios < MinMoving || ordinals < 1 || truth.Rate <= 0 {
		return 0, false
	}
	student := studentQuantile(upper, scenarios+1)
	notices := func(drop float64) bool { return notices(truth, scenarios, ordinals, student, drop) }
	if !notices(truth.Rate) {
		return 0, false
	}
	low, high := 0.0, truth.Rate
	for high-low > 1e-12 {
		if middle := (low + high) / 2; notices(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high, true
}

func notices(truth Truth, scenarios, ordinals int, student, drop float64) bool {
	p, k, n := truth.Rate, float64(ordinals), float64(scenarios)
	between := truth.Correlation * p * (1 - p)
	r := (p - drop) / p
	variance := (p*(1-p)-between)/k + (r*p-r*r*(p*p+between))/k + (1-r)*(1-r)*between
	spread := n*variance + n*drop*drop + 2 - n*n*drop*drop/(n+2)
	needed := student * math.Sqrt((n+2)*spread/(n+1))
	return n*drop-distuv.UnitNormal.Quantile(Power)*math.Sqrt(n*variance) >= needed
}

// OrdinalsFor is the fewest ordinals a scenario with which a drop of margin is
// noticed. ok is false when none are enough: then only more scenarios help.
func OrdinalsFor(truth Truth, scenarios int, margin float64) (int, bool) {
	return fewest(1, func(ordinals int) bool {
		drop, ok := SmallestDrop(truth, scenarios, ordinals)
		return ok && drop <= margin
	})
}

// ScenariosFor is the fewest scenarios with which a drop of margin is noticed.
func ScenariosFor(truth Truth, ordinals int, margin float64) (int, bool) {
	return fewest(MinMoving, func(scenarios int) bool {
		drop, ok := SmallestDrop(truth, scenarios, ordinals)
		return ok && drop <= margin
	})
}

// fewest is the smallest number from first to PlanMost that is enough, when
// more never is less.
func fewest(first int, enough func(int) bool) (int, bool) {
	high := first
	for !enough(high) {
		if high >= PlanMost {
			return 0, false
		}
		high = min(2*high, PlanMost)
	}
	low := first - 1 // not enough, or not asked for
	if high > first {
		low = high / 2
	}
	for high-low > 1 {
		if middle := (low + high) / 2; enough(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high, true
}
