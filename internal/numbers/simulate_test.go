package numbers_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ledgerd/ledgerd/internal/numbers"
)

// A setting is a truth to draw campaigns from, and their size.
type setting struct {
	scenarios, ordinals int
	difficulty          string
}

// difficulties draw how often a scenario passes.
var difficulties = []struct {
	name string
	draw func(*rand.Rand) float64
	mean float64
}{
	{"all alike", func(*rand.Rand) float64 { return 0.7 }, 0.7},
	{"spread", func(r *rand.Rand) float64 { return distuv.Beta{Alpha: 2, Beta: 1, Src: r}.Rand() }, 2.0 / 3},
	{"all or nothing", func(r *rand.Rand) float64 { return distuv.Beta{Alpha: 0.3, Beta: 0.2, Src: r}.Rand() }, 0.6},
	{"nearly all", func(r *rand.Rand) float64 { return distuv.Beta{Alpha: 9, Beta: 0.5, Src: r}.Rand() }, 9 / 9.5},
}

// aaMargin is how much worse the worse pairs are.
const aaMargin = 0.1

func settings() []setting {
	var all []setting
	for _, d := range difficulties {
		for _, scenarios := range []int{5, 20, 60} {
			for _, ordinals := range []int{1, 3, 10} {
				all = append(all, setting{scenarios, ordinals, d.name})
			}
		}
	}
	return all
}

// tried is what came of a setting's pairs.
type tried struct {
	pairs, different, notWorse, worsePairs, covered, rateCovered int
}

func (s setting) try(pairs int) tried {
	draw, mean := difficulties[0].draw, 0.0
	for _, d := range difficulties {
		if d.name == s.difficulty {
			draw, mean = d.draw, d.mean
		}
	}
	source := rand.New(rand.NewPCG(uint64(s.scenarios*100+s.ordinals), uint64(len(s.difficulty))))
	margin := big.NewRat(1, 10)
	out := tried{pairs: pairs}
	for range pairs {
		truths := make([]float64, s.scenarios)
		worse := make([]float64, s.scenarios)
		for i := range truths {
			truths[i] = draw(source)
			worse[i] = truths[i] * (mean - aaMargin) / mean // on average worse by the margin
		}
		a, b, c := s.counts(source, truths), s.counts(source, truths), s.counts(source, worse)
		same := numbers.Compare(paired(a, b), s.scenarios, margin)
		if same.Word == numbers.Better || same.Word == numbers.Worse {
			out.different++
		}
		if same.Low <= 0 && same.High >= 0 {
			out.covered++
		}
		if rate := numbers.NewRate(a).Interval; rate.Low <= mean && mean <= rate.High {
			out.rateCovered++
		}
		out.worsePairs++
		if lower := numbers.Compare(paired(a, c), s.scenarios, margin); lower.NotWorseBy(margin) {
			out.notWorse++
		}
	}
	return out
}

func (s setting) counts(r *rand.Rand, truths []float64) []numbers.Count {
	all := make([]numbers.Count, len(truths))
	for i, truth := range truths {
		all[i].Filled = s.ordinals
		for range s.ordinals {
			if r.Float64() < truth {
				all[i].Passed++
			}
		}
	}
	return all
}

// aaPairs is how many pairs `make aa` draws in each setting; every test run
// draws aaFew in each of the same settings.
const (
	aaPairs = 2000
	aaFew   = 150
)

// TestTriedOnNothing compares campaigns of one truth, and campaigns that are
// worse by the margin: at most 5 % and three standard errors are called
// different, and as many not worse; intervals cover at least 94 %, less three
// standard errors where few pairs are drawn. LEDGERD_AA=1 draws 2,000 pairs and
// prints the table of docs/numbers.md.
func TestTriedOnNothing(t *testing.T) {
	pairs, whole := aaFew, os.Getenv("LEDGERD_AA") != ""
	if whole {
		pairs = aaPairs
	}
	few := func(p float64) float64 { return 3 * math.Sqrt(p*(1-p)/float64(pairs)) }
	most, least := 0.05+few(0.05), 0.94
	if !whole {
		least -= few(0.94)
	}
	var table strings.Builder
	for _, s := range settings() {
		got := s.try(pairs)
		share := func(n int) float64 { return float64(n) / float64(pairs) }
		fmt.Fprintf(&table, "| %s | %d × %d | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", s.difficulty, s.scenarios, s.ordinals,
			100*share(got.different), 100*share(got.notWorse), 100*share(got.covered), 100*share(got.rateCovered))
		if share(got.different) > most || share(got.notWorse) > most || share(got.covered) < least || share(got.rateCovered) < least {
			t.Errorf("%+v: %+v", s, got)
		}
	}
	if whole {
		fmt.Print(table.String())
	}
}

// TestPlannedDropsAreNoticed simulates what a plan says: the drop is noticed in
// 70 to 90 of 100 pairs.
func TestPlannedDropsAreNoticed(t *testing.T) {
	for _, c := range []struct {
		truth               numbers.Truth
		scenarios, ordinals int
	}{
		{numbers.Truth{Rate: 0.8, Correlation: 0.5}, 20, 5},
		{numbers.Truth{Rate: 0.8, Correlation: 0.5}, 60, 3},
		{numbers.Truth{Rate: 0.5, Correlation: 0.1}, 40, 1},
		{numbers.Truth{Rate: 0.9, Correlation: 0.8}, 100, 5},
		{numbers.Truth{Rate: 0.95, Correlation: 0.3}, 30, 10},
	} {
		drop, ok := numbers.SmallestDrop(c.truth, c.scenarios, c.ordinals)
		if !ok {
			t.Errorf("%+v: no drop is noticed", c)
			continue
		}
		source := rand.New(rand.NewPCG(1, 2))
		s := setting{scenarios: c.scenarios, ordinals: c.ordinals}
		concentration := 1/c.truth.Correlation - 1
		beta := distuv.Beta{Alpha: c.truth.Rate * concentration, Beta: (1 - c.truth.Rate) * concentration, Src: source}
		const runs = 1000
		noticed := 0
		for range runs {
			truths, lower := make([]float64, c.scenarios), make([]float64, c.scenarios)
			for i := range truths {
				truths[i] = beta.Rand()
				lower[i] = truths[i] * (c.truth.Rate - drop) / c.truth.Rate
			}
			if numbers.Compare(paired(s.counts(source, truths), s.counts(source, lower)), c.scenarios, nil).Word == numbers.Worse {
				noticed++
			}
		}
		if noticed < runs*7/10 || noticed > runs*9/10 {
			t.Errorf("%+v: a drop of %.3f is noticed in %d of %d", c, drop, noticed, runs)
		}
		t.Logf("%+v: a drop of %.3f is noticed in %d of %d", c, drop, noticed, runs)
		if ordinals, ok := numbers.OrdinalsFor(c.truth, c.scenarios, drop+1e-9); !ok || ordinals != c.ordinals {
			t.Errorf("%+v: %d ordinals for that drop", c, ordinals)
		}
		if scenarios, ok := numbers.ScenariosFor(c.truth, c.ordinals, drop+1e-9); !ok || scenarios != c.scenarios {
			t.Errorf("%+v: %d scenarios for that drop", c, scenarios)
		}
	}
}

func TestPlansOfTooLittle(t *testing.T) {
	truth := numbers.Truth{Rate: 0.8, Correlation: 0.5}
	if _, ok := numbers.SmallestDrop(truth, numbers.MinMoving-1, 100); ok {
		t.Error("five scenarios notice something")
	}
	if _, ok := numbers.OrdinalsFor(truth, 10, 0.01); ok {
		t.Error("ten scenarios notice one point")
	}
	if _, ok := numbers.EstimateTruth([]numbers.Count{{Passed: 0, Filled: 3}}); ok {
		t.Error("there is a drop from nothing")
	}
}

func TestEstimatedTruth(t *testing.T) {
	got, _ := numbers.EstimateTruth([]numbers.Count{{Passed: 4, Filled: 4}, {Passed: 0, Filled: 4}})
	if got.Rate != 0.5 || got.Correlation != 1 {
		t.Errorf("all or nothing: %+v", got)
	}
	got, _ = numbers.EstimateTruth([]numbers.Count{{Passed: 2, Filled: 4}, {Passed: 2, Filled: 4}})
	if got.Correlation != 0 {
		t.Errorf("all alike: %+v", got)
	}
	if got, _ = numbers.EstimateTruth([]numbers.Count{{Passed: 1, Filled: 1}, {Passed: 1, Filled: 1}}); got.Rate != 0.75 {
		t.Errorf("all passed: %+v", got)
	}
}

func BenchmarkThousandScenarios(b *testing.B) {
	s := setting{scenarios: 1000, ordinals: 5}
	source := rand.New(rand.NewPCG(3, 4))
	truths := make([]float64, s.scenarios)
	for i := range truths {
		truths[i] = source.Float64()
	}
	pairs := paired(s.counts(source, truths), s.counts(source, truths))
	for b.Loop() {
		numbers.Compare(pairs, len(pairs), nil)
	}
}
