package simci_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/simci"
)

func newCI(t testing.TB, config simci.Config) *simci.CI {
	t.Helper()
	ci, err := simci.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return ci
}

// ledger decides arrivals one by one, as the writer does.
type ledger struct {
	states map[string]*domain.Campaign
	seq    uint64
}

var storedAt = time.Date(2026, 10, 1, 10, 0, 0, 0, time.UTC)

func (l *ledger) decide(t testing.TB, a simci.Arrival) *domain.Decision {
	t.Helper()
	out, err := events.NewArrival(a.Campaign, a.Kind, a.Body, a.ID, "https://ci.example.org/jobs", storedAt)
	if err != nil {
		t.Fatalf("arrival %d: %v", a.Index, err)
	}
	l.seq++
	arrival := events.DecodeArrival(&events.Message{Seq: l.seq, Time: storedAt, Subject: out.Subject, Header: out.Header, Data: out.Data})
	d, err := domain.Decide(domain.RuleVersion, l.states[a.Campaign], arrival)
	if err != nil {
		t.Fatal(err)
	}
	state, err := domain.Fold(l.states[a.Campaign], d, d.Arrival.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	if state != nil {
		l.states[a.Campaign] = state
	}
	return d
}

// checkAgainstRules decides the whole plan and compares every answer, and what
// it comes to, with what is expected.
func checkAgainstRules(t *testing.T, ci *simci.CI) {
	t.Helper()
	l := &ledger{states: map[string]*domain.Campaign{}}
	got := simci.Totals{Outcomes: map[domain.Outcome]int{}, Reasons: map[domain.Reason]int{}}
	reads := newReads()
	for a := range ci.Arrivals() {
		d := l.decide(t, a)
		if d.Outcome != a.Want.Outcome || d.Reason != a.Want.Reason {
			t.Errorf("arrival %d (%s, %s) is %s %s at %s (%s); want %s %s",
				a.Index, a.Kind, a.Trouble, d.Outcome, d.Reason, d.Field, d.Detail, a.Want.Outcome, a.Want.Reason)
		}
		if d.Outcome == domain.Duplicate && (d.Repeats == nil || *d.Repeats != a.Want.Repeats) {
			t.Errorf("arrival %d (%s, %s) repeats %v; want %d", a.Index, a.Kind, a.Trouble, d.Repeats, a.Want.Repeats)
		}
		reads.add(d)
		got.Arrivals++
		got.Outcomes[d.Outcome]++
		if d.Reason != "" {
			got.Reasons[d.Reason]++
		}
	}
	if diff := cmp.Diff(ci.Totals(), got); diff != "" {
		t.Errorf("totals: %s", diff)
	}
	if len(l.states) != len(ci.Expected()) {
		t.Errorf("%d campaigns are open; want %d", len(l.states), len(ci.Expected()))
	}
	for _, want := range ci.Expected() {
		state := l.states[want.ID]
		if state == nil {
			t.Errorf("campaign %s is not open", want.ID)
			continue
		}
		got := simci.Expected{ID: state.ID(), Verdict: state.Verdict().Word, Tally: tallyOf(state), Accepted: state.Accepted(), Checkpoints: reads.of(want.ID)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("campaign %s: %s", want.ID, diff)
		}
	}
}

// tallyOf is what the plan says of a campaign.
func tallyOf(state *domain.Campaign) domain.Tally {
	tally := state.Tally()
	tally.Refused, tally.RefusedFailed, tally.Voids = 0, 0, nil
	return tally
}

func TestRulesAnswerAsExpected(t *testing.T) {
	own := simci.Preset()
	own.Repository, own.Workflow, own.WorkflowRef = "example/suite", "measure.yaml", "refs/heads/main"
	own.Ordinals = []int64{1, 2, 3, 7}
	own.ResultsPrefix = "out"
	own.Documents = domain.Documents{Result: "outcome.json", Host: "machine.json", Definition: "scenario.json"}
	for name, config := range map[string]simci.Config{
		"zero":           {},
		"demo":           simci.Demo(1),
		"another demo":   simci.Demo(2),
		"each trouble":   {Seed: 3, Campaigns: 2, Troubles: simci.EachTrouble()},
		"only one":       {Seed: 4, Scenarios: 13, Troubles: simci.EachTrouble()},
		"own policy":     {Seed: 5, Policy: own, Scenarios: 9, Troubles: simci.EachTrouble()},
		"lone jobs":      {Seed: 6, Campaigns: 3, Scenarios: 20, CellsPerJob: 1, Troubles: simci.Share(40, 900)},
		"large jobs":     {Seed: 7, Scenarios: 40, CellsPerJob: 25, Troubles: simci.Share(80, 500)},
		"large cells":    {Seed: 8, Scenarios: 13, CellBytes: 6_000, Stored: true, Troubles: simci.EachTrouble()},
		"never sealed":   {Seed: 9, Campaigns: 2, Scenarios: 13, Unsealed: true, Troubles: simci.EachTrouble()},
		"all missing":    {Seed: 10, Scenarios: 2, Troubles: simci.Troubles{simci.Missing: 4}},
		"many campaigns": {Seed: 11, Campaigns: 12, Scenarios: 5, Troubles: simci.Share(10, 800)},
		"largest":        {Seed: 12, Scenarios: domain.MaxScenarios, Stored: true, Troubles: simci.Share(2_000, 100)},
	} {
		t.Run(name, func(t *testing.T) { checkAgainstRules(t, newCI(t, config)) })
	}
}

// TestEveryTroubleAlone makes sure that no trouble only works beside others.
func TestEveryTroubleAlone(t *testing.T) {
	for _, trouble := range simci.AllTroubles() {
		for seed := range uint64(4) {
			ci := newCI(t, simci.Config{Seed: seed, Scenarios: 2, Troubles: simci.Troubles{trouble: 1 + int(seed)}})
			checkAgainstRules(t, ci)
			if t.Failed() {
				t.Fatalf("trouble %s, number %d", trouble, seed)
			}
		}
	}
}

func TestDemoShowsEverything(t *testing.T) {
	ci := newCI(t, simci.Demo(1))
	seen := map[simci.Trouble]bool{simci.Missing: true} // which causes no arrival
	for a := range ci.Arrivals() {
		seen[a.Trouble] = true
	}
	for _, trouble := range simci.AllTroubles() {
		if !seen[trouble] {
			t.Errorf("the demo has no %s", trouble)
		}
	}
	if ci.Totals().Outcomes[domain.Pending] == 0 {
		t.Error("the demo has nothing pending")
	}
	var verdicts []domain.VerdictWord
	for _, e := range ci.Expected() {
		verdicts = append(verdicts, e.Verdict)
		if e.Tally.Missing+e.Tally.Passed+e.Tally.Failed != e.Tally.Selected || e.Tally.Spend.Counted.CostUSD == nil {
			t.Errorf("%+v", e.Tally)
		}
	}
	if diff := cmp.Diff([]domain.VerdictWord{domain.NotQualified, domain.Qualified, domain.Incomplete}, verdicts); diff != "" {
		t.Error(diff)
	}
	for _, reason := range []domain.Reason{
		domain.ReasonDocumentDigestMismatch, domain.ReasonForeignWorkflow, domain.ReasonResultSourceMismatch, domain.ReasonArtifactIdentityInvalid,
		domain.ReasonCampaignUnknown, domain.ReasonMeasurementConflict, domain.ReasonArrivalMalformed, domain.ReasonDocumentNotJSON,
		domain.ReasonImportVoided, domain.ReasonCampaignSealed,
		domain.ReasonCheckpointContradicted, domain.ReasonCheckpointConflict, domain.ReasonCheckpointLimit, domain.ReasonCheckpointMalformed,
	} {
		if ci.Totals().Reasons[reason] == 0 {
			t.Errorf("the demo has no %s", reason)
		}
	}
}
