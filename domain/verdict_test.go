package domain

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withRules opens a campaign whose policy has other rules of a verdict.
func withRules(t testing.TB, change func(*Opening, *VerdictRules), scenarios ...string) *ledger {
	l := newLedger(t)
	opening := testOpening(scenarios...)
	opening.Policy, _ = Preset(opening.PolicyPreset)
	opening.PolicyPreset = ""
	change(opening, &opening.Policy.VerdictRules)
	l.want(l.opening(opening), Accepted, "")
	return l
}

// again is a cell that is measured anew.
func again(scenario string, ordinal int64, run int) *testCell {
	return step{scenario: scenario, ordinal: ordinal, run: run}.cell()
}

func (v Verdict) reason(code VerdictCode) *VerdictReason {
	i := slices.IndexFunc(v.Reasons, func(r VerdictReason) bool { return r.Code == code })
	if i < 0 {
		return nil
	}
	return &v.Reasons[i]
}

// TestAVerdictCannotBeFlattered: fail, void, fail, void, pass, seal. What was
// taken back stays beside the word, in the seal's record.
func TestAVerdictCannotBeFlattered(t *testing.T) {
	for disclosure, word := range map[Disclosure]VerdictWord{Disclose: Qualified, Disqualify: NotQualified} {
		l := withRules(t, func(_ *Opening, r *VerdictRules) { r.VoidedFailures = disclosure }, "greeting")
		l.want(l.cell(newCell("greeting", 1)), Accepted, "")
		for run := 1; run <= 2; run++ {
			l.want(l.cell(again("greeting", 2, run).set("result.status", "failed")), Accepted, "")
			l.want(l.void(fmt.Sprint(run)+"/1/"+execution("greeting", 2)), Accepted, "")
		}
		l.want(l.cell(again("greeting", 2, 3)), Accepted, "")
		seal := l.want(l.seal(), Accepted, "").Data.(*Seal)
		if seal.Verdict.Word != word {
			t.Errorf("%s: %+v", disclosure, seal.Verdict)
		}
		want := &VerdictReason{Code: CodeFailedCellVoided, Count: 2, Slots: []string{"greeting/2"}}
		if diff := cmp.Diff(want, seal.Verdict.reason(CodeFailedCellVoided)); diff != "" {
			t.Error(diff)
		}
		if got := seal.Verdict.reason(CodeAllPassed); (got != nil) != (word == Qualified) {
			t.Errorf("%s beside all_passed: %+v", word, got)
		}
		tally := seal.Tally
		if tally.Voided != 2 || tally.VoidedFailed != 2 || len(tally.Voids) != 2 || tally.Failed != 0 {
			t.Fatalf("%+v", tally)
		}
		void := VoidShown{Slot: "greeting/2", ImportKey: "1/1/" + execution("greeting", 2), Index: 3, Failed: true, Actor: "ana", Reason: "wrong branch"}
		if diff := cmp.Diff(void, tally.Voids[0]); diff != "" {
			t.Error(diff)
		}
	}
}

// TestRefusedFailures: what a refused cell claims is shown, and only shown.
func TestRefusedFailures(t *testing.T) {
	l := openLedger(t)
	l.want(l.cell(newCell("greeting", 1)), Accepted, "")
	failed := func() *testCell {
		return again("greeting", 1, 7).set("result.status", "failed").set("result.billing.llm.reportedCostUsd", 40)
	}
	for range 2 { // arrivals are counted: a repeated one counts again
		l.want(l.cell(failed()), Rejected, ReasonMeasurementConflict)
	}
	l.want(l.cell(again("greeting", 1, 8)), Rejected, ReasonMeasurementConflict)
	l.want(l.cell(newCell("nobody", 1).set("result.status", "failed")), Rejected, ReasonExecutionNotSelected)
	l.want(l.decide(&Arrival{Kind: KindCell, Malformed: refuse(ReasonArrivalMalformed, "", "no")}), Rejected, ReasonArrivalMalformed)
	tally := l.state().Tally()
	if tally.Refused != 5 || tally.RefusedFailed != 2 {
		t.Errorf("%+v", tally)
	}
	got := l.state().Verdict().reason(CodeFailedCellRefused)
	if diff := cmp.Diff(&VerdictReason{Code: CodeFailedCellRefused, Count: 2, Slots: []string{}}, got); diff != "" {
		t.Error(diff)
	}
	claim := l.decisions[2].Data.(*CellRefused).Claimed
	if *claim.Slot != "greeting/1" || *claim.Status != "failed" || *claim.Usage.CostUSD != 40 || *claim.ImportKey != "7/1/"+execution("greeting", 1) ||
		!strings.HasPrefix(*claim.MeasurementKey, "framework-7/") || !isDigest(*claim.ResultSHA256) {
		t.Errorf("%+v", claim)
	}
}

// TestAVoidedResultAgainIsNoOtherFailure: the voids count it.
func TestAVoidedResultAgainIsNoOtherFailure(t *testing.T) {
	l := openLedger(t)
	failed := func() *testCell { return newCell("greeting", 1).set("result.status", "failed") }
	l.want(l.cell(failed()), Accepted, "")
	l.want(l.void(importKey("greeting", 1)), Accepted, "")
	l.want(l.cell(failed()), Rejected, ReasonImportVoided)
	if tally := l.state().Tally(); tally.Refused != 0 || tally.RefusedFailed != 0 {
		t.Errorf("its own bytes: %+v", tally)
	}
	l.want(l.cell(failed().set("result.note", "edited")), Rejected, ReasonImportVoided)
	if tally := l.state().Tally(); tally.Refused != 1 || tally.RefusedFailed != 1 {
		t.Errorf("other bytes: %+v", tally)
	}
}

// TestClaimsFromWhatParses: a broken document leaves the others, and what
// cannot be read is null.
func TestClaimsFromWhatParses(t *testing.T) {
	for name, row := range map[string]struct {
		evidence func(*CellEvidence)
		check    func(*Claim) bool
	}{
		"another digest": {func(e *CellEvidence) { e.Result.claimed = digestOf("x") },
			func(c *Claim) bool {
				return *c.Status == "passed" && *c.ResultSHA256 != digestOf("x") && *c.Slot == "greeting/1"
			}},
		"a result that is no JSON": {func(e *CellEvidence) { e.Result = ReadDocument(e.Result.path, []byte("{"), digestOf("{")) },
			func(c *Claim) bool {
				return c.Status == nil && c.Usage == nil && c.ExecutionID == nil && *c.ResultSHA256 == digestOf("{")
			}},
		"a host that is no JSON": {func(e *CellEvidence) { e.Host = ReadDocument(e.Host.path, []byte("{"), digestOf("{")) },
			func(c *Claim) bool {
				return *c.Status == "passed" && *c.Usage.CostUSD == 0.1 && c.MeasurementKey != nil
			}},
		"no run": {func(e *CellEvidence) { e.Provenance.RunID = "" },
			func(c *Claim) bool { return c.ImportKey == nil && c.MeasurementKey != nil }},
	} {
		l := openLedger(t)
		evidence := newCell("greeting", 1).evidence(t)
		row.evidence(evidence)
		d := l.decide(&Arrival{Kind: KindCell, Cell: evidence})
		if refused, ok := d.Data.(*CellRefused); !ok || !row.check(refused.Claimed) {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestThresholds: exactly at, one below, missing, no longer reachable.
func TestThresholds(t *testing.T) {
	passes, rate := func(n int64) *Qualifies { return &Qualifies{ScenarioPasses: &n} }, func(r float64) *Qualifies { return &Qualifies{PassRate: &r} }
	for _, row := range []struct {
		name      string
		qualifies *Qualifies
		cells     string // of a/1 a/2 b/1 b/2: p passed, f failed, u unclean, - missing
		word      VerdictWord
		code      VerdictCode
	}{
		{"all passed", nil, "pppp", Qualified, CodeAllPassed},
		{"one failed", nil, "pppf", NotQualified, CodeCellFailed},
		{"empty: every slot", &Qualifies{}, "pppf", NotQualified, CodePassRateBelowThreshold},
		{"one of each: exactly", passes(1), "pffp", Qualified, CodeThresholdMet},
		{"one of each: all", passes(1), "pppp", Qualified, CodeAllPassed},
		{"one of each: unclean is not passed", passes(1), "pufp", Qualified, CodeThresholdMet},
		{"one of each: none of b", passes(1), "ppfu", NotQualified, CodeScenarioBelowThreshold},
		{"one of each: b may still", passes(1), "ppf-", Incomplete, CodeCellMissing},
		{"one of each: met, and a slot is missing", passes(1), "p-pp", Incomplete, CodeCellMissing},
		{"one of each: unreachable, whatever is missing", passes(1), "ff--", NotQualified, CodeScenarioBelowThreshold},
		{"three of four: exactly", rate(0.75), "pppf", Qualified, CodeThresholdMet},
		{"three of four: one below", rate(0.75), "ppff", NotQualified, CodePassRateBelowThreshold},
		{"just above three of four", rate(0.750001), "pppf", NotQualified, CodePassRateBelowThreshold},
		{"three of four: may still", rate(0.75), "pp-f", Incomplete, CodeCellMissing},
		{"three of four: unreachable", rate(0.75), "-f-f", NotQualified, CodePassRateBelowThreshold},
		{"both: the rate holds and a scenario does not", &Qualifies{ScenarioPasses: pointerTo(int64(1)), PassRate: pointerTo(0.5)}, "ppff", NotQualified, CodeScenarioBelowThreshold},
	} {
		l := withRules(t, func(_ *Opening, r *VerdictRules) { r.Qualifies = row.qualifies }, "a", "b")
		for i, outcome := range row.cells {
			cell := newCell("ab"[i/2:i/2+1], int64(i%2+1))
			switch outcome {
			case '-':
				continue
			case 'f':
				cell.set("result.status", "failed")
			case 'u':
				cell.set("result.cleanup", "failed")
			}
			l.want(l.cell(cell), Accepted, "")
		}
		if v := l.state().Verdict(); v.Word != row.word || v.reason(row.code) == nil || v.Word != Qualified && v.reason(CodeAllPassed) != nil {
			t.Errorf("%s, %s: %+v, want %s %s", row.name, row.cells, v, row.word, row.code)
		}
	}
}

// TestPassesNeeded: shares are compared as decimals. 0.1 × 30 is 3, though the
// doubles' product is a little more.
func TestPassesNeeded(t *testing.T) {
	for _, row := range []struct {
		rate        float64
		slots, want int64
	}{{0.1, 30, 3}, {0.9, 30, 27}, {0.7, 10, 7}, {0.29, 100, 29}, {1, 10_000, 10_000}, {0.000001, 10_000, 1}, {0.333333, 3, 1}, {0.666667, 3, 3}, {0.9, 31, 28}} {
		if got := passesNeeded(row.rate, row.slots); got != row.want {
			t.Errorf("%g of %d slots are %d, want %d", row.rate, row.slots, got, row.want)
		}
	}
}

// TestDisclosures: each with its slots, and the word where the policy says so.
func TestDisclosures(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*Opening, *VerdictRules)
		cell   func(*testCell)
		code   VerdictCode
		slots  int
		word   VerdictWord
	}{
		{"before the opening", func(*Opening, *VerdictRules) {}, func(c *testCell) { c.set("result.startedAt", "2026-09-27T14:59:59.999Z") }, CodeMeasuredBeforeOpening, 1, Qualified},
		{"at the opening's second", func(*Opening, *VerdictRules) {}, func(c *testCell) { c.set("result.startedAt", "2026-09-27T15:00:00.001Z") }, CodeMeasuredBeforeOpening, 0, Qualified},
		{"before, disqualified", func(_ *Opening, r *VerdictRules) { r.MeasuredBefore = Disqualify }, func(c *testCell) { c.set("result.startedAt", "2026-01-01T00:00:00Z") }, CodeMeasuredBeforeOpening, 1, NotQualified},
		{"after its arrival", func(*Opening, *VerdictRules) {}, func(c *testCell) { c.set("result.finishedAt", "2026-09-27T16:05:01Z") }, CodeClockImplausible, 1, Qualified},
		{"within five minutes", func(*Opening, *VerdictRules) {}, func(c *testCell) { c.set("result.finishedAt", "2026-09-27T16:05:00Z") }, CodeClockImplausible, 0, Qualified},
		{"unpinned", func(o *Opening, _ *VerdictRules) { o.Scenarios[0].GraderDigest = "" }, func(*testCell) {}, CodeDefinitionsUnpinned, 2, Qualified},
		{"another grader", func(o *Opening, _ *VerdictRules) { o.Scenarios[0].GraderDigest = "" }, func(c *testCell) { c.set("definition.graderDigest", digestOf("other")) }, CodeDefinitionChanged, 2, Qualified},
		{"another grader, disqualified", func(o *Opening, r *VerdictRules) {
			o.Scenarios[0].GraderDigest, r.DefinitionChanged = "", Disqualify
		}, func(c *testCell) { c.set("definition.graderDigest", digestOf("other")) }, CodeDefinitionChanged, 2, NotQualified},
		{"over the budget", func(o *Opening, _ *VerdictRules) { o.Budget = &Budget{CostUSD: 0.19} }, func(*testCell) {}, CodeOverBudget, 0, Qualified},
		{"over, enforced", func(o *Opening, _ *VerdictRules) { o.Budget = &Budget{CostUSD: 0.19, Enforce: true} }, func(*testCell) {}, CodeOverBudget, 0, NotQualified},
		{"unproven", func(o *Opening, _ *VerdictRules) { o.Budget = &Budget{CostUSD: 1} }, func(c *testCell) { c.set("result.billing.llm.costStatus", "partial") }, CodeBudgetUnproven, 1, Qualified},
		{"unproven, enforced", func(o *Opening, _ *VerdictRules) { o.Budget = &Budget{CostUSD: 1, Enforce: true} }, func(c *testCell) { c.set("result.billing.llm.costStatus", "partial") }, CodeBudgetUnproven, 1, Incomplete},
	} {
		l := withRules(t, row.change, "greeting")
		l.want(l.cell(newCell("greeting", 1)), Accepted, "")
		cell := newCell("greeting", 2)
		row.cell(cell)
		l.want(l.cell(cell), Accepted, "")
		v := l.state().Verdict()
		reason := v.reason(row.code)
		shown := reason != nil
		if wanted := row.slots > 0 || row.code == CodeOverBudget; shown != wanted || v.Word != row.word || shown && len(reason.Slots) != row.slots {
			t.Errorf("%s: %+v", row.name, v)
		}
	}
	l := withRules(t, func(o *Opening, _ *VerdictRules) { o.Budget = &Budget{CostUSD: 0.2, Enforce: true} }, "greeting")
	l.want(l.cell(newCell("greeting", 1)), Accepted, "")
	l.want(l.cell(newCell("greeting", 2)), Accepted, "")
	if v := l.state().Verdict(); v.Word != Qualified || v.reason(CodeOverBudget) != nil {
		t.Errorf("0.1 + 0.1 is over 0.2: %+v", v)
	}
}

// TestCharges: each quantity by itself; what is implausible is in no sum.
func TestCharges(t *testing.T) {
	number := func(n float64) *float64 { return &n }
	for _, row := range []struct {
		usage    Usage
		coverage CostCoverage
		cost     bool
		tokens   bool
		wrong    bool // the tokens are implausible
	}{
		{Usage{CostUSD: number(1), Tokens: number(5), Coverage: "reported"}, CostReported, true, true, false},
		{Usage{CostUSD: number(1), Tokens: number(5), Coverage: "partial"}, CostPartial, true, true, false},
		{Usage{CostUSD: number(-0.45), Tokens: number(-900), Coverage: "reported"}, CostImplausible, false, false, true},
		{Usage{CostUSD: number(10_000), Tokens: number(1e9), Coverage: "reported"}, CostReported, true, true, false},
		{Usage{CostUSD: number(10_000.01), Tokens: number(1e9 + 1), Coverage: "reported"}, CostImplausible, false, false, true},
		{Usage{CostUSD: number(1e300), Tokens: number(1.5), Coverage: "partial"}, CostImplausible, false, false, true},
		{Usage{Coverage: "unavailable"}, CostUnknown, false, false, false},
	} {
		got := DefaultPlausible().Charge(row.usage)
		if got.Coverage != row.coverage || (got.CostUSD != nil) != row.cost || (got.Tokens != nil) != row.tokens || got.TokensImplausible != row.wrong {
			t.Errorf("%+v is charged as %+v", row.usage, got)
		}
	}
}

// TestRefusedSpend: a measurement is its key and its result's digest, once; one
// that was imported, before or after, is none.
func TestRefusedSpend(t *testing.T) {
	l, refused := newLedger(t), NewRefusedSpend()
	costs := func(c *testCell, dollars float64) *testCell {
		return c.set("result.billing.llm.reportedCostUsd", dollars)
	}
	l.want(l.cell(costs(newCell("greeting", 1), 3)), Rejected, ReasonCampaignUnknown) // imported below
	l.want(l.cell(costs(newCell("nobody", 1), 0.5)), Rejected, ReasonCampaignUnknown)
	l.want(l.opening(testOpening("greeting", "approval")), Accepted, "")
	l.want(l.cell(costs(newCell("greeting", 1), 3)), Accepted, "")
	for range 2 { // the same measurement twice
		l.want(l.cell(costs(newCell("greeting", 1), 40).set("result.status", "failed")), Rejected, ReasonMeasurementConflict)
	}
	l.want(l.cell(costs(newCell("greeting", 1), 41).set("result.status", "failed")), Rejected, ReasonMeasurementConflict) // under the same key
	l.want(l.cell(costs(newCell("approval", 1), -7).set("result.attempt", 2)), Rejected, ReasonAutomaticRetry)
	l.want(l.seal(), Accepted, "")
	l.want(l.cell(costs(again("approval", 2, 9), 0.25)), Rejected, ReasonCampaignSealed)
	for _, d := range l.decisions {
		refused.Add(d)
	}
	got := refused.Spend()
	if *got.CostUSD != "81.75" || got.Cells != 5 || got.Reported != 4 || got.Implausible != 1 || got.Complete {
		t.Errorf("%+v", got)
	}
}
