package projections

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ledgerd/ledgerd/domain"
)

// appendRows prints what the batch changed of one campaign, from its state.
func (t *touchedCampaign) appendRows(changes *Changes) {
	changes.Campaigns = append(changes.Campaigns, t.campaignRow())
	for _, position := range t.changedScenarios() {
		changes.Scenarios = append(changes.Scenarios, t.state.scenarioRow(position))
	}
	for _, position := range t.changedSlots() {
		changes.Slots = append(changes.Slots, t.state.slotRow(position))
	}
	keys := slices.SortedFunc(maps.Keys(t.usage), func(a, b usageKey) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.model, b.model))
	})
	for _, key := range keys {
		changes.Usage = append(changes.Usage, t.state.usageRow(key))
	}
}

func (t *touchedCampaign) changedScenarios() []int {
	if t.opened {
		return countTo(len(t.state.campaign.Opening().Scenarios))
	}
	return slices.Sorted(maps.Keys(t.scenarios))
}

func (t *touchedCampaign) changedSlots() []int {
	if t.opened {
		return countTo(len(t.state.slots))
	}
	return slices.Sorted(maps.Keys(t.slots))
}

func countTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func (t *touchedCampaign) campaignRow() Campaign {
	campaign := t.state.campaign
	opening := campaign.Opening()
	tally := campaign.Tally()
	verdict := t.state.currentVerdict()
	row := Campaign{
		ID:             campaign.ID(),
		Status:         StatusOpen,
		Label:          Storable(opening.Label),
		SourceRevision: Storable(opening.SourceRevision),
		Verdict:        verdict.Word,
		Reasons:        storableReasons(verdict.Reasons),
		Scenarios:      int64(len(opening.Scenarios)),
		Cells:          tally.Selected,
		Passed:         tally.Passed,
		Failed:         tally.Failed,
		Missing:        tally.Missing,
		Spent:          spendOf(campaign.Spent()),
		Effective:      spendOf(tally.Spend.Counted),
		Accepted:       campaign.Accepted(),
		Opened:         t.state.opened,
		Last:           t.last,
		Sealed:         t.state.sealed,
	}
	if opening.Budget != nil {
		row.BudgetUSD = decimalOf(&opening.Budget.CostUSD)
	}
	if row.Sealed != nil {
		row.Status = StatusSealed
	}
	return row
}

func storableReasons(reasons []domain.VerdictReason) []domain.VerdictReason {
	stored := make([]domain.VerdictReason, len(reasons))
	for i, reason := range reasons {
		stored[i] = domain.VerdictReason{Code: reason.Code, Count: reason.Count, Slots: storableAll(reason.Slots), Threshold: reason.Threshold}
	}
	return stored
}

func spendOf(spend domain.Spend) Spend {
	return Spend{CostUSD: spend.CostUSD, Tokens: spend.Tokens, Reported: spend.Reported + spend.Partial, Cells: spend.Cells}
}

func (s *campaignState) scenarioRow(position int) Scenario {
	scenario := s.campaign.Opening().Scenarios[position]
	tally, _ := s.campaign.ScenarioTally(scenario.ID)
	return Scenario{
		Campaign:         s.campaign.ID(),
		Position:         int64(position),
		ID:               Storable(scenario.ID),
		Label:            Storable(scenario.Label),
		DefinitionDigest: Storable(scenario.DefinitionDigest),
		GraderDigest:     Storable(scenario.GraderDigest),
		Cells:            tally.Selected,
		Passed:           tally.Passed,
		Failed:           tally.Failed,
		Missing:          tally.Missing,
	}
}

func (s *campaignState) slotRow(position int) Slot {
	selection := s.campaign.Opening().Selected[position]
	row := Slot{
		Campaign:    s.campaign.ID(),
		Position:    int64(position),
		ScenarioID:  Storable(selection.ScenarioID),
		Ordinal:     selection.RemoteOrdinal,
		ExecutionID: Storable(selection.ExecutionID),
		Outcome:     CellMissing,
	}
	if slot := s.slots[position]; slot.filled {
		row.Outcome = outcomeOf(slot.passed)
		row.ImportIndex = &slot.index
	}
	return row
}

func outcomeOf(passed bool) CellOutcome {
	if passed {
		return CellPassed
	}
	return CellFailed
}

func (s *campaignState) usageRow(key usageKey) Usage {
	accounts := s.usage[key]
	return Usage{
		Campaign:  s.campaign.ID(),
		Day:       key.day,
		Model:     key.model,
		Spent:     spendOf(accounts.counted.Plus(&accounts.voided).Spend()),
		Effective: spendOf(accounts.counted.Spend()),
	}
}
