package domain

import (
	"cmp"
	"slices"
)

// Verdict is what a campaign comes to, with the reasons for it and whatever is
// disclosed beside it.
type Verdict struct {
	Word    VerdictWord     `json:"word"`
	Reasons []VerdictReason `json:"reasons"`
}

// VerdictWord is one of the three verdicts.
type VerdictWord string

// The verdicts.
const (
	Qualified    VerdictWord = "qualified"     // what the policy asks for is met, and nothing is missing
	NotQualified VerdictWord = "not_qualified" // it can no longer be met, or something disqualifies
	Incomplete   VerdictWord = "incomplete"    // neither: slots are empty, or an enforced budget is unproven
)

// VerdictReason names a cause of a verdict, or what is disclosed beside it, and
// the slots it stands on.
type VerdictReason struct {
	Code      VerdictCode `json:"code"`
	Count     int64       `json:"count"`
	Slots     []string    `json:"slots"`     // scenario/ordinal, sorted, each once, the first MaxReasonSlots
	Threshold *Threshold  `json:"threshold"` // null unless the code is about one
}

// VerdictCode is why a campaign is not (yet) qualified, or that it is, or what
// is disclosed.
type VerdictCode string

// The causes of a verdict.
const (
	CodeCellFailed    VerdictCode = "cell_failed"    // the result's status is failed
	CodeCleanupFailed VerdictCode = "cleanup_failed" // it passed, but its cleanup did not
	CodeCellMissing   VerdictCode = "cell_missing"   // no unvoided import fills the slot

	CodeScenarioBelowThreshold VerdictCode = "scenario_below_threshold"  // too few slots of a scenario can still pass
	CodePassRateBelowThreshold VerdictCode = "pass_rate_below_threshold" // too few of all slots can still pass
	CodeAllPassed              VerdictCode = "all_passed"                // qualified: every slot passed with cleanup passed
	CodeThresholdMet           VerdictCode = "threshold_met"             // qualified: as many passed as the policy asks for
)

// What is disclosed beside the word, whatever it is.
const (
	CodeCellVoided            VerdictCode = "cell_voided"             // imports were voided
	CodeFailedCellVoided      VerdictCode = "failed_cell_voided"      // of them, those that had failed or not cleaned up
	CodeFailedCellRefused     VerdictCode = "failed_cell_refused"     // refused cells claim slots that did not pass; anybody may claim
	CodeMeasuredBeforeOpening VerdictCode = "measured_before_opening" // a counted result started before the opening was stored, or names no start
	CodeClockImplausible      VerdictCode = "clock_implausible"       // a counted result finished after it arrived
	CodeDefinitionsUnpinned   VerdictCode = "definitions_unpinned"    // the scenario was opened without digests
	CodeDefinitionChanged     VerdictCode = "definition_changed"      // a scenario's imports name more than one definition, grader or suite
	CodeOverBudget            VerdictCode = "over_budget"             // counted + voided is over the budget
	CodeBudgetUnproven        VerdictCode = "budget_unproven"         // it is not, but is only a lower bound
)

// VerdictCodes lists every code: causes first, then what is disclosed.
func VerdictCodes() []VerdictCode {
	return []VerdictCode{
		CodeCellFailed, CodeCleanupFailed, CodeCellMissing, CodeScenarioBelowThreshold, CodePassRateBelowThreshold, CodeAllPassed,
		CodeThresholdMet, CodeCellVoided, CodeFailedCellVoided, CodeFailedCellRefused, CodeMeasuredBeforeOpening, CodeClockImplausible,
		CodeDefinitionsUnpinned, CodeDefinitionChanged, CodeOverBudget, CodeBudgetUnproven,
	}
}

// MaxReasonSlots bounds a reason's list of slots, so that a sealed campaign of
// any size fits its record; the count beside it is exact.
const MaxReasonSlots = 20

// Verdict computes the verdict over all selected slots and imports. Cost grows
// with the campaign: it is called when a campaign is sealed or shown, never
// for each cell.
func (c *Campaign) Verdict() Verdict {
	j := judgement{campaign: c, reasons: []VerdictReason{}}
	j.slots()
	j.threshold()
	j.voids()
	j.counted()
	j.definitions()
	j.budget()
	return j.verdict()
}

// judgement is a verdict in the making.
type judgement struct {
	campaign *Campaign
	reasons  []VerdictReason

	missing      bool // a slot is empty
	unreachable  bool // what the policy asks for can no longer be met
	disqualified bool
	unproven     bool // an enforced budget is
}

func (j *judgement) verdict() Verdict {
	word := Qualified
	switch {
	case j.unreachable || j.disqualified:
		word = NotQualified
	case j.missing || j.unproven:
		word = Incomplete
	default:
		j.reasons = slices.Insert(j.reasons, 0, j.met())
	}
	return Verdict{Word: word, Reasons: j.reasons}
}

// met is the reason of a qualified campaign.
func (j *judgement) met() VerdictReason {
	tally := j.campaign.counts.tally()
	reason := VerdictReason{Code: CodeAllPassed, Count: tally.Passed, Slots: []string{}}
	if tally.Passed < tally.Selected {
		reason.Code = CodeThresholdMet
		reason.Threshold = &Threshold{Passed: tally.Passed, Asked: j.campaign.asked(), Slots: tally.Selected}
	}
	return reason
}

// asked is how many of all slots the policy asks for at least.
func (c *Campaign) asked() int64 {
	q := c.opening.rules().Qualifies
	if q == nil {
		return c.counts.selected
	}
	var asked int64
	if q.PassRate != nil {
		asked = passesNeeded(*q.PassRate, c.counts.selected)
	}
	if q.ScenarioPasses != nil {
		asked = max(asked, *q.ScenarioPasses*int64(len(c.opening.Scenarios)))
	}
	return asked
}

// disclose adds a reason with its slots, when there is something to show.
func (j *judgement) disclose(code VerdictCode, count int64, slots []Slot, policy Disclosure) {
	if count == 0 {
		return
	}
	j.reasons = append(j.reasons, newReason(code, count, slots))
	j.disqualified = j.disqualified || policy == Disqualify
}

// slots sorts the selected slots by what keeps them from having passed. A
// failed cell whose cleanup failed too counts as failed.
func (j *judgement) slots() {
	c := j.campaign
	var failed, unclean, missing []Slot
	for _, selection := range c.intent.Selected {
		slot := Slot{ScenarioID: selection.ScenarioID, Ordinal: selection.RemoteOrdinal}
		imported := c.bySlot[slot]
		switch {
		case imported == nil:
			missing = append(missing, slot)
		case imported.status != statusPassed:
			failed = append(failed, slot)
		case imported.cleanup != cleanupPassed:
			unclean = append(unclean, slot)
		}
	}
	j.missing = len(missing) > 0
	j.disclose(CodeCellFailed, int64(len(failed)), failed, Disclose)
	j.disclose(CodeCleanupFailed, int64(len(unclean)), unclean, Disclose)
	j.disclose(CodeCellMissing, int64(len(missing)), missing, Disclose)
}

// threshold asks whether what the policy asks for can still be met, were all
// that is missing to pass.
func (j *judgement) threshold() {
	c := j.campaign
	tally := c.counts.tally()
	q := c.opening.rules().Qualifies
	if q == nil {
		j.unreachable = tally.Failed > 0
		return
	}
	if q.ScenarioPasses != nil {
		j.scenarios(*q.ScenarioPasses)
	}
	if q.PassRate == nil {
		return
	}
	if asked := passesNeeded(*q.PassRate, tally.Selected); tally.Selected-tally.Failed < asked {
		reason := newReason(CodePassRateBelowThreshold, tally.Failed, nil)
		reason.Threshold = &Threshold{Passed: tally.Passed, Asked: asked, Slots: tally.Selected}
		j.reasons = append(j.reasons, reason)
		j.unreachable = true
	}
}

// scenarios looks for scenarios of which too few slots can still pass.
func (j *judgement) scenarios(passes int64) {
	c := j.campaign
	var below []Slot
	for _, selection := range c.intent.Selected {
		counts := c.byScenario[selection.ScenarioID]
		slot := Slot{ScenarioID: selection.ScenarioID, Ordinal: selection.RemoteOrdinal}
		if imported := c.bySlot[slot]; counts.selected-counts.failed < passes && imported != nil && !imported.Passed() {
			below = append(below, slot)
		}
	}
	j.disclose(CodeScenarioBelowThreshold, int64(len(below)), below, Disclose)
	j.unreachable = j.unreachable || len(below) > 0
}

// voids discloses what was taken back, and what refused cells claim.
func (j *judgement) voids() {
	c := j.campaign
	var voided, failed []Slot
	for _, imported := range c.byImportKey {
		if !imported.voided {
			continue
		}
		voided = append(voided, imported.Slot)
		if !imported.Passed() {
			failed = append(failed, imported.Slot)
		}
	}
	j.disclose(CodeCellVoided, int64(len(voided)), voided, Disclose)
	j.disclose(CodeFailedCellVoided, int64(len(failed)), failed, c.opening.rules().VoidedFailures)
	j.disclose(CodeFailedCellRefused, int64(c.refused.failed), nil, Disclose)
}

// counted discloses what is odd about the times of what counts.
func (j *judgement) counted() {
	var before, ahead []Slot
	for slot, imported := range j.campaign.bySlot {
		if imported.beforeOpening {
			before = append(before, slot)
		}
		if imported.afterArrival {
			ahead = append(ahead, slot)
		}
	}
	j.disclose(CodeMeasuredBeforeOpening, int64(len(before)), before, j.campaign.opening.rules().MeasuredBefore)
	j.disclose(CodeClockImplausible, int64(len(ahead)), ahead, Disclose)
}

// definitions discloses slots whose scenario was not pinned, and those with
// imports of a scenario that was measured by more than one definition.
func (j *judgement) definitions() {
	c := j.campaign
	var unpinned, changed []Slot
	for _, selection := range c.intent.Selected {
		if scenario := c.scenarios[selection.ScenarioID]; scenario.DefinitionDigest == "" || scenario.GraderDigest == "" {
			unpinned = append(unpinned, Slot{ScenarioID: selection.ScenarioID, Ordinal: selection.RemoteOrdinal})
		}
	}
	for _, imported := range c.byImportKey {
		if c.definitions[imported.Slot.ScenarioID].changed {
			changed = append(changed, imported.Slot)
		}
	}
	changed = distinct(changed)
	j.disclose(CodeDefinitionsUnpinned, int64(len(unpinned)), unpinned, Disclose)
	j.disclose(CodeDefinitionChanged, int64(len(changed)), changed, c.opening.rules().DefinitionChanged)
}

// budget compares what counted and voided cells cost. What refused ones claim
// is not in a record.
func (j *judgement) budget() {
	c := j.campaign
	budget := c.opening.Budget
	if budget == nil {
		return
	}
	spent := c.counted.Plus(&c.voidedSpend)
	switch {
	case spent.over(budget.CostUSD):
		j.disclose(CodeOverBudget, spent.cells, nil, Disclose)
		j.disqualified = j.disqualified || budget.Enforce
	case !spent.complete():
		var unproven []Slot
		for _, imported := range c.byImportKey {
			if imported.charge.Coverage != CostReported {
				unproven = append(unproven, imported.Slot)
			}
		}
		j.disclose(CodeBudgetUnproven, int64(len(unproven)), unproven, Disclose)
		j.unproven = budget.Enforce
	}
}

// newReason names each slot once; count may count other things than slots.
func newReason(code VerdictCode, count int64, slots []Slot) VerdictReason {
	slots = distinct(slots)
	reason := VerdictReason{Code: code, Count: count, Slots: []string{}}
	for _, slot := range slots[:min(len(slots), MaxReasonSlots)] {
		reason.Slots = append(reason.Slots, slot.String())
	}
	return reason
}

// distinct sorts slots and drops those that come again.
func distinct(slots []Slot) []Slot {
	slices.SortFunc(slots, func(a, b Slot) int {
		return cmp.Or(cmp.Compare(a.ScenarioID, b.ScenarioID), cmp.Compare(a.Ordinal, b.Ordinal))
	})
	return slices.Compact(slots)
}
