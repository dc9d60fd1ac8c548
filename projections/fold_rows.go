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
		changes.Scenarios = append(changes.Scenarios, scenarioRow(t.State, position))
	}
	for _, position := range t.changedSlots() {
		changes.Slots = append(changes.Slots, slotRow(t.State, position))
	}
	keys := slices.SortedFunc(maps.Keys(t.usage), func(a, b domain.UsageKey) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Model, b.Model))
	})
	for _, key := range keys {
		changes.Usage = append(changes.Usage, usageRow(t.State, key))
	}
}

func (t *touchedCampaign) changedScenarios() []int {
	if t.opened {
		return countTo(len(t.State.Opening().Scenarios))
	}
	return slices.Sorted(maps.Keys(t.scenarios))
}

func (t *touchedCampaign) changedSlots() []int {
	if t.opened {
		return countTo(len(t.State.Opening().Selected))
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
	campaign := t.State
	opening := campaign.Opening()
	tally := campaign.Tally()
	verdict := campaign.CurrentVerdict()
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
		Voided:         tally.Voided,
		VoidedFailed:   tally.VoidedFailed,
		Refused:        tally.Refused,
		RefusedFailed:  tally.RefusedFailed,
		Voids:          storableVoids(tally.Voids),
		Spent:          spendOf(campaign.Spent()),
		Effective:      spendOf(tally.Spend.Counted),
		Accepted:       campaign.Accepted(),
		Opened:         Moment{Index: campaign.OpenedAt(), At: storedTime(campaign.Opened())},
		Last:           t.last,
	}
	if opening.Budget != nil {
		row.BudgetUSD = decimalOf(&opening.Budget.CostUSD)
	}
	if seal, index, sealed := campaign.Sealed(); sealed {
		row.Status = StatusSealed
		row.Refused, row.RefusedFailed = seal.Tally.Refused, seal.Tally.RefusedFailed
		row.RefusedAfterSeal = tally.Refused - seal.Tally.Refused
		row.Sealed = &SealedRow{Moment: Moment{Index: index, At: storedTime(campaign.SealedTime())}, Actor: Storable(seal.Actor)}
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

func storableVoids(voids []domain.VoidShown) []VoidShown {
	stored := make([]VoidShown, len(voids))
	for i, void := range voids {
		stored[i] = VoidShown{Slot: Storable(void.Slot), ImportKey: Storable(void.ImportKey), Index: void.Index, Failed: void.Failed,
			Actor: Storable(void.Actor), Reason: Storable(void.Reason)}
	}
	return stored
}

func spendOf(spend domain.Spend) Spend {
	return Spend{CostUSD: spend.CostUSD, Tokens: spend.Tokens, Reported: spend.Reported, Cells: spend.Cells}
}

func scenarioRow(c *domain.Campaign, position int) Scenario {
	scenario := c.Opening().Scenarios[position]
	tally, _ := c.ScenarioTally(scenario.ID)
	return Scenario{
		Campaign:         c.ID(),
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

func slotRow(c *domain.Campaign, position int) Slot {
	selection := c.Opening().Selected[position]
	row := Slot{
		Campaign:    c.ID(),
		Position:    int64(position),
		ScenarioID:  Storable(selection.ScenarioID),
		Ordinal:     selection.RemoteOrdinal,
		ExecutionID: Storable(selection.ExecutionID),
		Outcome:     CellMissing,
	}
	if imported, filled := c.InSlot(selection.Slot()); filled {
		index := imported.Index // a copy: the state lives on
		row.Outcome, row.ImportIndex = outcomeOf(imported.Passed()), &index
	}
	return row
}

func outcomeOf(passed bool) CellOutcome {
	if passed {
		return CellPassed
	}
	return CellFailed
}

func usageRow(c *domain.Campaign, key domain.UsageKey) Usage {
	spent, effective := c.UsageBy(key)
	return Usage{
		Campaign:  c.ID(),
		Day:       key.Day,
		Model:     Storable(key.Model),
		Spent:     spendOf(spent),
		Effective: spendOf(effective),
	}
}
