package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"math/big"
	"os"
	"strconv"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"

	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/numbers"
)

// Limits of a line of counts.
const (
	maxCountsBytes = 16 << 20  // a line
	maxScenarios   = 100_000   // of a campaign
	maxSlots       = 1_000_000 // of a scenario
)

// countsLine is a line in. Further members are its writer's own.
type countsLine struct {
	Baseline  [][2]int `json:"baseline"`
	Candidate [][2]int `json:"candidate"`
}

// countsAnswer is a line out. Fractions are exact; without an interval low and
// high are null.
type countsAnswer struct {
	Rate struct {
		Baseline  countsRate `json:"baseline"`
		Candidate countsRate `json:"candidate"`
	} `json:"rate"`
	Compare  *countsCompare `json:"compare,omitempty"` // absent with fewer than two pairs
	Method   numbers.Method `json:"method,omitempty"`
	Word     numbers.Word   `json:"word"`
	Sentence string         `json:"sentence"`
}

type countsRate struct {
	Rate      *string               `json:"rate"`
	Scenarios int                   `json:"scenarios"`
	Slots     int                   `json:"slots"`
	Pass      map[string]countsPass `json:"pass"`
	Effective *float64              `json:"effective,omitempty"`
	Low       *float64              `json:"low"`
	High      *float64              `json:"high"`
}

type countsPass struct {
	At        string `json:"at"`
	Hat       string `json:"hat"`
	Scenarios int    `json:"scenarios"`
}

type countsCompare struct {
	Pairs      int       `json:"pairs"`
	Difference string    `json:"difference"`
	Low        float64   `json:"low"`
	High       float64   `json:"high"`
	P          string    `json:"p"` // a decimal where method is normal
	Fisher     []float64 `json:"fisher"`
	Holm       []float64 `json:"holm"`
}

// compareCounts answers each line of a file.
func compareCounts(ctx context.Context, name string, margin *big.Rat, streams cli.Streams) error {
	in := io.NopCloser(streams.In)
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return errors.WithHint(errors.Mark(errors.Wrap(err, "open the counts"), cli.ErrUsage), "give a file that can be read, or - for standard input")
		}
		in = file
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxCountsBytes)
	number := 0
	for lines.Scan() {
		number++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		baseline, candidate, err := readCounts(line)
		if err != nil {
			return errors.WithHint(errors.Mark(errors.Wrapf(err, "line %d", number), cli.ErrUsage),
				`a line is {"baseline":[[passed,filled],…],"candidate":[[passed,filled],…]}, one pair of numbers a scenario, both in the same order`)
		}
		if err := printLine(streams.Out, answerCounts(baseline, candidate, margin)); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return cli.Usagef("line %d is longer than %d bytes", number+1, maxCountsBytes)
	}
	return errors.Wrapf(lines.Err(), "read line %d", number+1)
}

func readCounts(line []byte) (baseline, candidate []numbers.Count, err error) {
	var read countsLine
	if err := json.Unmarshal(line, &read); err != nil || read.Baseline == nil || read.Candidate == nil {
		return nil, nil, errors.New("it is not JSON of that shape")
	}
	if len(read.Baseline) != len(read.Candidate) {
		return nil, nil, errors.Newf("the baseline has %d scenarios and the candidate %d; a scenario that one lacks is [0,0] there", len(read.Baseline), len(read.Candidate))
	}
	if len(read.Baseline) > maxScenarios {
		return nil, nil, errors.Newf("it has more than %d scenarios", maxScenarios)
	}
	if baseline, err = checkCounts("baseline", read.Baseline); err != nil {
		return nil, nil, err
	}
	candidate, err = checkCounts("candidate", read.Candidate)
	return baseline, candidate, err
}

func checkCounts(name string, read [][2]int) ([]numbers.Count, error) {
	counts := make([]numbers.Count, len(read))
	for i, c := range read {
		if c[0] < 0 || c[0] > c[1] || c[1] > maxSlots {
			return nil, errors.Newf("/%s/%d is [%d,%d]: it must be 0 ≤ passed ≤ filled ≤ %d", name, i, c[0], c[1], maxSlots)
		}
		counts[i] = numbers.Count{Passed: c[0], Filled: c[1]}
	}
	return counts, nil
}

func answerCounts(baseline, candidate []numbers.Count, margin *big.Rat) countsAnswer {
	var answer countsAnswer
	rate := numbers.NewRate(baseline)
	answer.Rate.Baseline, answer.Rate.Candidate = countsRateOf(rate), countsRateOf(numbers.NewRate(candidate))
	var pairs []numbers.Pair
	for i := range baseline {
		if baseline[i].Filled > 0 && candidate[i].Filled > 0 {
			pairs = append(pairs, numbers.Pair{Baseline: baseline[i], Candidate: candidate[i]})
		}
	}
	c := numbers.Compare(pairs, rate.Scenarios, margin)
	answer.Word, answer.Method, answer.Sentence = c.Word, c.Method, c.Sentence(baseline, margin)
	if c.Difference == nil {
		return answer
	}
	answer.Compare = &countsCompare{Pairs: c.Pairs, Difference: c.Difference.RatString(), Low: c.Low, High: c.High, P: c.P.RatString()}
	if c.Method == numbers.MethodNormal {
		p, _ := c.P.Float64()
		answer.Compare.P = strconv.FormatFloat(p, 'g', -1, 64)
	}
	for _, s := range c.Scenarios {
		answer.Compare.Fisher = append(answer.Compare.Fisher, s.P)
		answer.Compare.Holm = append(answer.Compare.Holm, s.PHolm)
	}
	return answer
}

func countsRateOf(r numbers.Rate) countsRate {
	out := countsRate{Scenarios: r.Scenarios, Slots: r.Slots, Pass: map[string]countsPass{}}
	if r.Rate != nil {
		text := r.Rate.RatString()
		out.Rate = &text
	}
	for _, pass := range r.Pass {
		out.Pass[strconv.Itoa(pass.J)] = countsPass{At: pass.At.RatString(), Hat: pass.Hat.RatString(), Scenarios: pass.Scenarios}
	}
	if i := r.Interval; i != nil {
		out.Effective, out.Low, out.High = &i.Effective, &i.Low, &i.High
	}
	return out
}
