package numbers_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"strconv"
	"testing"

	"github.com/ledgerd/ledgerd/internal/numbers"
)

// near is the relative tolerance of the vectors.
const near = 1e-9

// nearStudent is it where Student's quantile is in a value: SciPy 1.10 solves
// for that one to 1e-8 only (it has t(0.975, 6) = 2.4469118488, and the closed
// form gives 2.4469118511). TestStudentQuantile holds ours to the closed form.
const nearStudent = 2e-8

type vector struct {
	Baseline, Candidate [][2]int
	Rate                struct{ Baseline, Candidate vectorRate }
	Compare             *struct {
		Pairs         int
		Difference, P string
		Low, High     float64
		Fisher, Holm  []float64
	}
}

type vectorRate struct {
	Rate             string
	Scenarios, Slots int
	Pass             map[string]struct {
		At, Hat   string
		Scenarios int
	}
	Effective, Low, High *float64
}

func vectors(t *testing.T) []vector {
	t.Helper()
	file, err := os.Open("testdata/vectors.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if lines.Err() != nil || len(all) != 120 {
		t.Fatalf("read %d vectors: %v", len(all), lines.Err())
	}
	return all
}

func counts(pairs [][2]int) []numbers.Count {
	var all []numbers.Count
	for _, p := range pairs {
		all = append(all, numbers.Count{Passed: p[0], Filled: p[1]})
	}
	return all
}

func paired(baseline, candidate []numbers.Count) []numbers.Pair {
	var pairs []numbers.Pair
	for i := range baseline {
		if baseline[i].Filled > 0 && candidate[i].Filled > 0 {
			pairs = append(pairs, numbers.Pair{Baseline: baseline[i], Candidate: candidate[i]})
		}
	}
	return pairs
}

func wantNear(t *testing.T, what string, got, want float64) {
	t.Helper()
	wantWithin(t, what, got, want, near*math.Abs(want))
}

func wantWithin(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s is %.17g, want %.17g", what, got, want)
	}
}

func wantFraction(t *testing.T, what string, got *big.Rat, want string) {
	t.Helper()
	if got == nil || got.RatString() != want {
		t.Errorf("%s is %v, want %s", what, got, want)
	}
}

func TestVectors(t *testing.T) {
	for i, v := range vectors(t) {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			baseline, candidate := counts(v.Baseline), counts(v.Candidate)
			checkRate(t, numbers.NewRate(baseline), v.Rate.Baseline)
			checkRate(t, numbers.NewRate(candidate), v.Rate.Candidate)
			got := numbers.Compare(paired(baseline, candidate), v.Rate.Baseline.Scenarios, nil)
			if v.Compare == nil {
				if got.Word != numbers.Incomparable {
					t.Errorf("word %s, want incomparable", got.Word)
				}
				return
			}
			want := v.Compare
			if got.Pairs != want.Pairs || len(got.Scenarios) != len(want.Fisher) {
				t.Fatalf("%d pairs, %d scenarios, want %d", got.Pairs, len(got.Scenarios), want.Pairs)
			}
			wantFraction(t, "difference", got.Difference, want.Difference)
			wantFraction(t, "p", got.P, want.P)
			wantWithin(t, "middle", got.Low+got.High, want.Low+want.High, near)
			wantWithin(t, "width", got.High-got.Low, want.High-want.Low, nearStudent*(want.High-want.Low))
			for i, s := range got.Scenarios {
				wantNear(t, "fisher", s.P, want.Fisher[i])
				wantNear(t, "holm", s.PHolm, want.Holm[i])
			}
		})
	}
}

func checkRate(t *testing.T, got numbers.Rate, want vectorRate) {
	t.Helper()
	wantFraction(t, "rate", got.Rate, want.Rate)
	if got.Scenarios != want.Scenarios || got.Slots != want.Slots || len(got.Pass) != len(want.Pass) {
		t.Errorf("%d scenarios, %d slots, %d tries, want %d, %d, %d", got.Scenarios, got.Slots, len(got.Pass), want.Scenarios, want.Slots, len(want.Pass))
	}
	for _, pass := range got.Pass {
		w := want.Pass[strconv.Itoa(pass.J)]
		wantFraction(t, "pass@j", pass.At, w.At)
		wantFraction(t, "pass^j", pass.Hat, w.Hat)
		if pass.Scenarios != w.Scenarios {
			t.Errorf("pass %d over %d scenarios, want %d", pass.J, pass.Scenarios, w.Scenarios)
		}
	}
	if (got.Interval == nil) != (want.Low == nil) {
		t.Fatalf("interval %v, want %v", got.Interval, want.Low)
	}
	if want.Low != nil {
		tolerance := near
		if *want.Effective != math.Trunc(*want.Effective) { // not cut: Student's quantiles are in it
			tolerance = nearStudent
		}
		wantWithin(t, "effective", got.Interval.Effective, *want.Effective, tolerance**want.Effective)
		wantWithin(t, "rate's low", got.Interval.Low, *want.Low, tolerance**want.Low)
		wantWithin(t, "rate's high", got.Interval.High, *want.High, tolerance**want.High)
	}
}
