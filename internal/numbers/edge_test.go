package numbers_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/ledgerd/ledgerd/internal/numbers"
)

func TestOneScenarioHasNoInterval(t *testing.T) {
	got := numbers.NewRate([]numbers.Count{{Passed: 3, Filled: 5}, {Filled: 0}})
	wantFraction(t, "rate", got.Rate, "3/5")
	if got.Interval != nil || got.Scenarios != 1 || got.Unsteady != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestNoneFilled(t *testing.T) {
	for _, none := range [][]numbers.Count{nil, {{}}, {{}, {}}} {
		if got := numbers.NewRate(none); got.Rate != nil || got.Interval != nil || got.Pass != nil || got.Slots != 0 {
			t.Errorf("got %+v", got)
		}
	}
	if got := numbers.Compare(nil, 0, nil); got.Word != numbers.Incomparable {
		t.Errorf("word %s", got.Word)
	}
}

func TestAllPassedAndNonePassed(t *testing.T) {
	all := numbers.NewRate([]numbers.Count{{2, 2}, {2, 2}, {2, 2}})
	if all.Interval.High != 1 || all.Interval.Effective != 3 || all.Unsteady != 0 {
		t.Errorf("all passed: %+v", all.Interval)
	}
	wantNear(t, "low of all passed", all.Interval.Low, math.Cbrt(0.025)) // the closed form for x = n
	none := numbers.NewRate([]numbers.Count{{0, 2}, {0, 2}, {0, 2}})
	if none.Interval.Low != 0 {
		t.Errorf("none passed: %+v", none.Interval)
	}
	wantNear(t, "high of none passed", none.Interval.High, 1-math.Cbrt(0.025))
}

// TestEqualRatesVaryByNothing: 1/3 three times has a sum of squares that no
// float holds, and an effective sample of n all the same.
func TestEqualRatesVaryByNothing(t *testing.T) {
	got := numbers.NewRate([]numbers.Count{{1, 3}, {2, 6}, {3, 9}})
	if got.Interval.Effective != 3 {
		t.Errorf("effective %v, want 3", got.Interval.Effective)
	}
}

func TestUnevenSlots(t *testing.T) {
	got := numbers.NewRate([]numbers.Count{{1, 1}, {1, 4}})
	wantFraction(t, "rate", got.Rate, "5/8") // not 2 of 5: each scenario weighs the same
	wantFraction(t, "pass^2", got.Pass[1].Hat, "0")
	wantFraction(t, "pass@2", got.Pass[1].At, "1/2")
	if got.Pass[1].Scenarios != 1 || len(got.Pass) != 4 {
		t.Errorf("got %+v", got.Pass)
	}
	moved := numbers.Compare([]numbers.Pair{{Baseline: numbers.Count{Passed: 1, Filled: 2}, Candidate: numbers.Count{Passed: 1, Filled: 3}}, {Baseline: numbers.Count{Passed: 0, Filled: 1}, Candidate: numbers.Count{Passed: 1, Filled: 1}}}, 2, nil)
	wantFraction(t, "difference", moved.Difference, "5/12") // (−1/6 + 1)/2
	wantFraction(t, "p", moved.P, "1")                      // |±1 ±6| ≥ 5 always
}

func TestPassStopsAtItsLimit(t *testing.T) {
	for _, c := range []struct{ filled, want int }{{numbers.PassMost - 1, numbers.PassMost - 1}, {numbers.PassMost, numbers.PassMost}, {numbers.PassMost + 1, numbers.PassMost}} {
		if got := numbers.NewRate([]numbers.Count{{1, c.filled}}); len(got.Pass) != c.want {
			t.Errorf("%d slots: %d tries, want %d", c.filled, len(got.Pass), c.want)
		}
	}
}

func TestUnsteadyScenarios(t *testing.T) {
	got := numbers.UnsteadyScenarios([]numbers.Count{{0, 4}, {1, 4}, {2, 4}, {4, 4}, {3, 4}})
	if want := []int{2, 1, 4}; len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("got %v, want %v", got, want)
	}
}

// same are n pairs that all moved from one count to another.
func same(n int, baseline, candidate numbers.Count) []numbers.Pair {
	pairs := make([]numbers.Pair, n)
	for i := range pairs {
		pairs[i] = numbers.Pair{Baseline: baseline, Candidate: candidate}
	}
	return pairs
}

func TestNothingMoved(t *testing.T) {
	got := numbers.Compare(same(50, numbers.Count{Passed: 2, Filled: 3}, numbers.Count{Passed: 2, Filled: 3}), 50, nil)
	wantFraction(t, "p", got.P, "1")
	wantFraction(t, "difference", got.Difference, "0")
	if got.Word != numbers.Inconclusive || got.Method != numbers.MethodExact || got.Low >= 0 || got.Low != -got.High {
		t.Errorf("got %+v", got)
	}
	if got := numbers.Compare(same(200, numbers.Count{Passed: 2, Filled: 3}, numbers.Count{Passed: 2, Filled: 3}), 200, big.NewRat(1, 20)); got.Word != numbers.NotWorse {
		t.Errorf("with a margin: %s", got.Word)
	}
}

func TestEverythingMoved(t *testing.T) {
	got := numbers.Compare(same(10, numbers.Count{Passed: 3, Filled: 3}, numbers.Count{Passed: 0, Filled: 3}), 10, nil)
	wantFraction(t, "p", got.P, "1/512") // 2 of 2^10 choices
	if got.Word != numbers.Worse {
		t.Errorf("word %s", got.Word)
	}
	back := numbers.Compare(same(10, numbers.Count{Passed: 0, Filled: 3}, numbers.Count{Passed: 3, Filled: 3}), 10, nil)
	if back.Word != numbers.Better || back.Low != -got.High {
		t.Errorf("backwards: %+v", back)
	}
	for _, few := range []int{2, 5} { // the smallest p of five pairs is 1/16
		if got := numbers.Compare(same(few, numbers.Count{Passed: 3, Filled: 3}, numbers.Count{Passed: 0, Filled: 3}), few, nil); got.Word != numbers.Inconclusive {
			t.Errorf("%d pairs: %s", few, got.Word)
		}
	}
}

func TestIncomparable(t *testing.T) {
	for _, c := range []struct {
		pairs, of int
		want      numbers.Word
	}{{1, 1, numbers.Incomparable}, {2, 4, numbers.Inconclusive}, {2, 5, numbers.Incomparable}} {
		got := numbers.Compare(same(c.pairs, numbers.Count{Passed: 1, Filled: 1}, numbers.Count{Passed: 1, Filled: 1}), c.of, big.NewRat(2, 1))
		if want := c.want; got.Word != want && !(want == numbers.Inconclusive && got.Word == numbers.NotWorse) {
			t.Errorf("%d of %d: %s", c.pairs, c.of, got.Word)
		}
		if c.want == numbers.Incomparable && got.NotWorseThan(big.NewRat(2, 1), true) != numbers.GateNotKnown {
			t.Errorf("%d of %d: the gate knows", c.pairs, c.of)
		}
	}
}

// TestExactToItsLimits: 2,000 pairs are counted and one more is not; so is a
// sum of a million.
func TestExactToItsLimits(t *testing.T) {
	moved := func(n int) []numbers.Pair {
		pairs := same(n, numbers.Count{Passed: 0, Filled: 1}, numbers.Count{Passed: 1, Filled: 1})
		for i := range n/2 - 40 {
			pairs[i] = numbers.Pair{Baseline: numbers.Count{Passed: 1, Filled: 1}, Candidate: numbers.Count{Passed: 0, Filled: 1}}
		}
		return pairs
	}
	exact, normal := numbers.Compare(moved(numbers.ExactPairs), 2000, nil), numbers.Compare(moved(numbers.ExactPairs+1), 2001, nil)
	if exact.Method != numbers.MethodExact || normal.Method != numbers.MethodNormal {
		t.Fatalf("methods %s, %s", exact.Method, normal.Method)
	}
	a, _ := exact.P.Float64()
	b, _ := normal.P.Float64()
	if a < 0.05 || a > 0.1 || math.Abs(a-b) > 0.01 {
		t.Errorf("p is %v exactly and %v nearly", a, b)
	}
	for _, c := range []struct {
		filled int
		want   numbers.Method
	}{{numbers.ExactSum / 2, numbers.MethodExact}, {numbers.ExactSum/2 + 1, numbers.MethodNormal}} {
		pairs := same(2, numbers.Count{Passed: 0, Filled: c.filled}, numbers.Count{Passed: c.filled, Filled: c.filled})
		pairs[1] = numbers.Pair{Baseline: numbers.Count{Passed: 1, Filled: c.filled}, Candidate: numbers.Count{Passed: c.filled, Filled: c.filled}}
		if c.want == numbers.MethodNormal {
			pairs[1].Baseline.Passed = 0
		}
		got := numbers.Compare(pairs, 2, nil)
		if got.Method != c.want {
			t.Errorf("%d slots: %s", c.filled, got.Method)
		}
	}
}

// TestSignFlipIsMcNemar: with one slot a scenario the test is a coin for every
// scenario that moved.
func TestSignFlipIsMcNemar(t *testing.T) {
	pairs := append(same(9, numbers.Count{Passed: 0, Filled: 1}, numbers.Count{Passed: 1, Filled: 1}), same(2, numbers.Count{Passed: 1, Filled: 1}, numbers.Count{Passed: 0, Filled: 1})...)
	pairs = append(pairs, same(30, numbers.Count{Passed: 1, Filled: 1}, numbers.Count{Passed: 1, Filled: 1})...)
	wantFraction(t, "p", numbers.Compare(pairs, len(pairs), nil).P, "67/1024") // 2·(1+11+55)/2^11 = 134/2048
}

// TestManySlotsOfOneScenario goes through Fisher's test in floats, which meets
// the exact one at the limit.
func TestManySlotsOfOneScenario(t *testing.T) {
	at := func(slots int) float64 {
		pairs := same(2, numbers.Count{Passed: slots / 2, Filled: slots}, numbers.Count{Passed: slots/2 + 20, Filled: slots})
		return numbers.Compare(pairs, 2, nil).Scenarios[0].P
	}
	exact, float := at(500), at(501)
	if math.Abs(exact-float) > 0.002 || exact < 0.1 || exact > 0.5 {
		t.Errorf("p is %v exactly, %v in floats", exact, float)
	}
	if p := at(100_000); p < 0.8 || p > 1 {
		t.Errorf("p of 20 in 100,000 is %v", p)
	}
}

func TestGate(t *testing.T) {
	margin := big.NewRat(1, 20)
	slightly := same(400, numbers.Count{Passed: 10, Filled: 10}, numbers.Count{Passed: 10, Filled: 10})
	for i := range 40 {
		slightly[i].Candidate.Passed = 8 // surely worse, by two points
	}
	for _, c := range []struct {
		name   string
		pairs  []numbers.Pair
		sealed bool
		want   numbers.Gate
	}{
		{"nothing moved", same(200, numbers.Count{Passed: 2, Filled: 3}, numbers.Count{Passed: 2, Filled: 3}), true, numbers.GatePass},
		{"unsealed", same(200, numbers.Count{Passed: 2, Filled: 3}, numbers.Count{Passed: 2, Filled: 3}), false, numbers.GateNotKnown},
		{"too few", same(5, numbers.Count{Passed: 2, Filled: 3}, numbers.Count{Passed: 2, Filled: 3}), true, numbers.GateNotKnown},
		{"all worse", same(20, numbers.Count{Passed: 2, Filled: 2}, numbers.Count{Passed: 0, Filled: 2}), true, numbers.GateFail},
		{"worse by less than the margin", slightly, true, numbers.GatePass},
	} {
		got := numbers.Compare(c.pairs, len(c.pairs), margin)
		if gate := got.NotWorseThan(margin, c.sealed); gate != c.want {
			t.Errorf("%s: %s, want %s (%s, %v to %v)", c.name, gate, c.want, got.Word, got.Low, got.High)
		}
	}
}
