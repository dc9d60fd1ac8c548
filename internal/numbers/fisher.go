package numbers

import (
	"math"
	"math/big"
	"slices"
)

// fisherExactSlots is up to how many slots of both campaigns a scenario's test
// is counted in whole numbers; beyond it in floats.
const fisherExactSlots = 1000

// tie is how near two weights in floats are the same, as R and SciPy have it.
const tie = 1 + 1e-7

// fisher is Fisher's exact test of one scenario, two-sided (Statistical Methods
// for Research Workers, 1934, §21.02): of all tables with the same margins, the
// share of those that are no more likely than this one.
func fisher(a, b Count) float64 {
	passed, slots := a.Passed+b.Passed, a.Filled+b.Filled
	first, last := max(0, passed-b.Filled), min(passed, a.Filled)
	if slots > fisherExactSlots {
		return fisherFloat(a, b, passed, first, last)
	}
	weight := func(x int) *big.Int {
		ways := new(big.Int).Binomial(int64(a.Filled), int64(x))
		return ways.Mul(ways, new(big.Int).Binomial(int64(b.Filled), int64(passed-x)))
	}
	seen, sum := weight(a.Passed), new(big.Int)
	for x := first; x <= last; x++ {
		if w := weight(x); w.Cmp(seen) <= 0 {
			sum.Add(sum, w)
		}
	}
	return toFloat(new(big.Rat).SetFrac(sum, new(big.Int).Binomial(int64(slots), int64(passed))))
}

func fisherFloat(a, b Count, passed, first, last int) float64 {
	weight := func(x int) float64 {
		return logChoices(a.Filled, x) + logChoices(b.Filled, passed-x) - logChoices(a.Filled+b.Filled, passed)
	}
	limit := weight(a.Passed) + math.Log(tie)
	p := 0.0
	for x := first; x <= last; x++ {
		if w := weight(x); w <= limit {
			p += math.Exp(w)
		}
	}
	return min(p, 1)
}

// logChoices is ln C(n, k).
func logChoices(n, k int) float64 {
	all, _ := math.Lgamma(float64(n + 1))
	some, _ := math.Lgamma(float64(k + 1))
	rest, _ := math.Lgamma(float64(n - k + 1))
	return all - some - rest
}

// holm corrects ps that were looked at together (Holm, Scandinavian Journal of
// Statistics 6, 1979): the i-th smallest of k is multiplied by k−i+1, and none
// falls below a smaller one's.
func holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case ps[a] < ps[b]:
			return -1
		case ps[a] > ps[b]:
			return 1
		}
		return 0
	})
	corrected, least := make([]float64, len(ps)), 0.0
	for rank, i := range order {
		least = max(least, min(1, ps[i]*float64(len(ps)-rank)))
		corrected[i] = least
	}
	return corrected
}
