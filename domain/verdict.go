package domain

import (
	"sort"
	"strconv"
)

// Verdict is what a campaign comes to, with the reasons for it.
type Verdict struct {
	Word    VerdictWord     `json:"word"`
	Reasons []VerdictReason `json:"reasons"`
}

// VerdictWord is one of the three verdicts.
type VerdictWord string

// The verdicts. A failed cell outweighs a missing one.
const (
	Qualified    VerdictWord = "qualified"     // every selected slot passed, with a clean end
	NotQualified VerdictWord = "not_qualified" // a cell failed, or did not clean up
	Incomplete   VerdictWord = "incomplete"    // nothing failed, and slots are empty
)

// VerdictReason names a cause of a verdict and the slots it stands on.
type VerdictReason struct {
	Code  VerdictCode `json:"code"`
	Count int64       `json:"count"`
	Slots []string    `json:"slots"` // scenario/ordinal, sorted, the first maxReasonSlots
}

// VerdictCode is why a campaign is not (yet) qualified, or that it is.
type VerdictCode string

// The causes of a verdict.
const (
	CodeCellFailed    VerdictCode = "cell_failed"    // the result's status is failed
	CodeCleanupFailed VerdictCode = "cleanup_failed" // it passed, but its cleanup did not
	CodeCellMissing   VerdictCode = "cell_missing"   // no unvoided import fills the slot
	CodeAllPassed     VerdictCode = "all_passed"     // every slot passed with cleanup passed
)

// maxReasonSlots bounds a reason's list of slots, so that a sealed campaign of
// any size fits its record; the count beside it is exact.
const maxReasonSlots = 20

// Verdict computes the verdict over all selected slots. Cost grows with the
// campaign: it is called when a campaign is sealed or shown, never for each
// cell.
func (c *Campaign) Verdict() Verdict {
	failed, unclean, missing := c.slotsBehind()
	verdict := Verdict{Word: Qualified, Reasons: []VerdictReason{}}
	for _, cause := range []struct {
		code  VerdictCode
		slots []Slot
		word  VerdictWord
	}{
		{CodeCellMissing, missing, Incomplete},
		{CodeCleanupFailed, unclean, NotQualified},
		{CodeCellFailed, failed, NotQualified},
	} {
		if len(cause.slots) == 0 {
			continue
		}
		verdict.Word = cause.word
		verdict.Reasons = append([]VerdictReason{newReason(cause.code, cause.slots)}, verdict.Reasons...)
	}
	if verdict.Word == Qualified {
		verdict.Reasons = append(verdict.Reasons, newReason(CodeAllPassed, nil))
		verdict.Reasons[0].Count = int64(len(c.intent.Selected))
	}
	return verdict
}

// slotsBehind sorts the selected slots by what keeps the campaign from being
// qualified. A failed cell whose cleanup failed too counts as failed.
func (c *Campaign) slotsBehind() (failed, unclean, missing []Slot) {
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
	return failed, unclean, missing
}

func newReason(code VerdictCode, slots []Slot) VerdictReason {
	sort.Slice(slots, func(i, j int) bool {
		if slots[i].ScenarioID != slots[j].ScenarioID {
			return slots[i].ScenarioID < slots[j].ScenarioID
		}
		return slots[i].Ordinal < slots[j].Ordinal
	})
	reason := VerdictReason{Code: code, Count: int64(len(slots)), Slots: []string{}}
	for _, slot := range slots[:min(len(slots), maxReasonSlots)] {
		reason.Slots = append(reason.Slots, slot.ScenarioID+"/"+strconv.FormatInt(slot.Ordinal, 10))
	}
	return reason
}
