package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/internal/simci"
)

// TestDemoSummary holds the last line of `demo --once --json` to its contract
// and to the plan.
func TestDemoSummary(t *testing.T) {
	out, stderr, code := runBinary(t, "", "ledgerd", "demo", "--once", "--json", "--seed", "3")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var got struct {
		Arrivals  int                   `json:"arrivals"`
		Accepted  int                   `json:"accepted"`
		Duplicate int                   `json:"duplicate"`
		Pending   int                   `json:"pending"`
		Rejected  int                   `json:"rejected"`
		Reasons   map[domain.Reason]int `json:"reasons"`
		Campaigns []struct {
			ID      string             `json:"id"`
			Verdict domain.VerdictWord `json:"verdict"`
			Cells   int64              `json:"cells"`
			Passed  int64              `json:"passed"`
			Failed  int64              `json:"failed"`
			Missing int64              `json:"missing"`
			Tokens  json.Number        `json:"tokens"`
			CostUSD *string            `json:"cost_usd"`
		} `json:"campaigns"`
	}
	decoder := json.NewDecoder(strings.NewReader(lines[len(lines)-1]))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil {
		t.Fatalf("%s: %v", lines[len(lines)-1], err)
	}
	ci, err := simci.New(simci.Demo(3))
	if err != nil {
		t.Fatal(err)
	}
	want := ci.Totals()
	totals := simci.Totals{Arrivals: got.Arrivals, Reasons: got.Reasons, Outcomes: map[domain.Outcome]int{
		domain.Accepted: got.Accepted, domain.Duplicate: got.Duplicate, domain.Pending: got.Pending, domain.Rejected: got.Rejected,
	}}
	if diff := cmp.Diff(want, totals); diff != "" || got.Pending == 0 {
		t.Errorf("totals: %s", diff)
	}
	for i, e := range ci.Expected() {
		c := got.Campaigns[i]
		if c.ID != e.ID || c.Verdict != e.Verdict || c.Passed != e.Tally.Passed || c.Failed != e.Tally.Failed || c.Missing != e.Tally.Missing ||
			c.Cells != c.Passed+c.Failed+c.Missing || c.Tokens.String() != *e.Tally.Spend.Counted.Tokens || *c.CostUSD != *e.Tally.Spend.Counted.CostUSD {
			t.Errorf("campaign %+v, want %+v", c, e)
		}
	}
}

// TestDemoShowsCheckpoints finds a pending, a bound and a rejected checkpoint,
// each beside a cell of the campaign.
func TestDemoShowsCheckpoints(t *testing.T) {
	out, stderr, code := runBinary(t, "", "ledgerd", "demo", "--once")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for what, row := range map[string]string{
		"first pending, then bound":  `run-\w+ +│ provider-turn-\w+ +│ req-\w+ +│ bound +│ [a-z-]+/[12] +│ pending, accepted +│`,
		"bound, then a duplicate":    `│ bound +│ [a-z-]+/[12] +│ accepted, duplicate, duplicate +│`,
		"bound, whatever comes then": `│ bound +│ [a-z-]+/[12] +│ accepted, rejected, rejected +│`,
		"pending":                    `│ pending +│ [a-z-]+/[12] +│ pending +│ \w+`,
		"contradicted":               `│ rejected +│ [a-z-]+/[12] +│ rejected +│ checkpoint_contradicted: `,
	} {
		if !regexp.MustCompile(row).MatchString(out) {
			t.Errorf("no checkpoint is %s:\n%s", what, out)
		}
	}
}
