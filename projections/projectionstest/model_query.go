package projectionstest

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/projections"
)

var _ projections.Store = (*Model)(nil)

// snapshot begins an answer.
func (m *Model) snapshot() (asOf int64, err error) {
	if m.version != projections.FoldVersion {
		return 0, projections.ErrAnotherVersion
	}
	return m.position.AsOf(), nil
}

// snapshotOf begins an answer on a campaign, if one is named.
func (m *Model) snapshotOf(campaign string) (asOf int64, err error) {
	asOf, err = m.snapshot()
	if _, open := m.campaigns[campaign]; err == nil && campaign != "" && !open {
		err = projections.ErrNoCampaign
	}
	return asOf, err
}

// paged cuts a page out of a sorted list.
func paged[T any](asOf int64, all []T, page projections.Page, key func(*T) uint64, descending bool) projections.List[T] {
	list := projections.List[T]{AsOf: asOf, Items: []T{}}
	for i := range all {
		k := key(&all[i])
		if page.After != nil && (descending && k >= *page.After || !descending && k <= *page.After) {
			continue
		}
		if len(list.Items) == page.Size() {
			next := key(&list.Items[len(list.Items)-1])
			list.Next = &next
			break
		}
		list.Items = append(list.Items, all[i])
	}
	return list
}

// Campaigns lists campaigns.
func (m *Model) Campaigns(_ context.Context, q projections.CampaignQuery) (projections.List[projections.Campaign], error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	asOf, err := m.snapshot()
	if err != nil {
		return projections.List[projections.Campaign]{}, err
	}
	all := sorted(m.campaigns, func(a, b projections.Campaign) int { return cmp.Compare(b.Opened.Index, a.Opened.Index) },
		func(c *projections.Campaign) bool {
			return (q.Status == "" || c.Status == q.Status) && (q.Verdict == "" || c.Verdict == q.Verdict)
		})
	return paged(asOf, all, q.Page, func(c *projections.Campaign) uint64 { return c.Opened.Index }, true), nil
}

// Campaign gives one campaign.
func (m *Model) Campaign(_ context.Context, id string) (projections.One[projections.Campaign], error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	asOf, err := m.snapshot()
	row, ok := m.campaigns[id]
	if err == nil && !ok {
		err = projections.ErrNoCampaign
	}
	return projections.One[projections.Campaign]{AsOf: asOf, Item: row}, err
}

// Scenarios lists scenarios.
func (m *Model) Scenarios(_ context.Context, campaign string) (projections.List[projections.Scenario], error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	asOf, err := m.snapshot()
	if _, ok := m.campaigns[campaign]; err == nil && !ok {
		err = projections.ErrNoCampaign
	}
	if err != nil {
		return projections.List[projections.Scenario]{AsOf: asOf}, err
	}
	all := sorted(m.scenarios, func(a, b projections.Scenario) int { return cmp.Compare(a.Position, b.Position) },
		func(s *projections.Scenario) bool { return s.Campaign == campaign })
	return projections.List[projections.Scenario]{AsOf: asOf, Items: all}, nil
}

// Cells lists cells.
func (m *Model) Cells(_ context.Context, q projections.CellQuery) (projections.List[projections.Cell], error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	asOf, err := m.snapshot()
	if _, ok := m.campaigns[q.Campaign]; err == nil && !ok {
		err = projections.ErrNoCampaign
	}
	if err != nil {
		return projections.List[projections.Cell]{AsOf: asOf}, err
	}
	slots := sorted(m.slots, func(a, b projections.Slot) int { return cmp.Compare(a.Position, b.Position) },
		func(s *projections.Slot) bool {
			return s.Campaign == q.Campaign && (q.ScenarioID == "" || s.ScenarioID == q.ScenarioID) && (q.Outcome == "" || s.Outcome == q.Outcome)
		})
	cells := make([]projections.Cell, len(slots))
	for i, slot := range slots {
		cells[i].Slot = slot
		if slot.ImportIndex != nil {
			row := m.imports[*slot.ImportIndex]
			cells[i].Import = &row
		}
	}
	return paged(asOf, cells, q.Page, func(c *projections.Cell) uint64 { return uint64(c.Position) }, false), nil
}

// Imports lists imports.
func (m *Model) Imports(_ context.Context, q projections.ImportQuery) (projections.List[projections.Import], error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	asOf, err := m.snapshotOf(q.Campaign)
	if err != nil {
		return projections.List[projections.Import]{AsOf: asOf}, err
	}
	all := m.importsWhere(func(i *projections.Import) bool {
		return (q.Campaign == "" || i.Campaign == q.Campaign) && (q.ImportKey == "" || i.ImportKey == q.ImportKey) &&
			(q.MeasurementKey == "" || i.MeasurementKey == q.MeasurementKey)
	})
	return paged(asOf, all, q.Page, func(i *projections.Import) uint64 { return i.Index }, false), nil
}

func (m *Model) importsWhere(keep func(*projections.Import) bool) []projections.Import {
	return sorted(m.imports, func(a, b projections.Import) int { return cmp.Compare(a.Index, b.Index) }, keep)
}

// Rejections lists rejections.
func (m *Model) Rejections(_ context.Context, q projections.RejectionQuery) (projections.List[projections.Rejection], error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	asOf, err := m.snapshot()
	if err != nil {
		return projections.List[projections.Rejection]{}, err
	}
	all := sorted(m.rejections, func(a, b projections.Rejection) int { return cmp.Compare(a.Index, b.Index) },
		func(r *projections.Rejection) bool {
			return (q.Campaign == "" || r.Campaign == q.Campaign) && (q.Kind == "" || r.Kind == q.Kind) && (q.Reason == "" || r.Reason == q.Reason)
		})
	return paged(asOf, all, q.Page, func(r *projections.Rejection) uint64 { return r.Index }, false), nil
}

// Checkpoints lists checkpoints.
func (m *Model) Checkpoints(_ context.Context, q projections.CheckpointQuery) (projections.List[projections.Checkpoint], error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	asOf, err := m.snapshotOf(q.Campaign)
	if err != nil {
		return projections.List[projections.Checkpoint]{AsOf: asOf}, err
	}
	all := sorted(m.checkpoints, func(a, b projections.Checkpoint) int { return cmp.Compare(a.Index, b.Index) },
		func(c *projections.Checkpoint) bool {
			return (q.Campaign == "" || c.Campaign == q.Campaign) && (q.RunID == "" || c.RunID == q.RunID) && (q.Outcome == "" || c.Outcome == q.Outcome)
		})
	for i := range all {
		all[i].Cells = m.cellsOfRun(all[i].Campaign, all[i].RunID)
	}
	return paged(asOf, all, q.Page, func(c *projections.Checkpoint) uint64 { return c.Index }, false), nil
}

// cellsOfRun are the slots whose import names the run, in the selection's order.
func (m *Model) cellsOfRun(campaign, run string) []projections.SlotName {
	slots := sorted(m.slots, func(a, b projections.Slot) int { return cmp.Compare(a.Position, b.Position) },
		func(s *projections.Slot) bool {
			return s.Campaign == campaign && s.ImportIndex != nil && slices.Contains(m.imports[*s.ImportIndex].RunIDs, run)
		})
	names := []projections.SlotName{}
	for _, slot := range slots {
		names = append(names, projections.SlotName{ScenarioID: slot.ScenarioID, Ordinal: slot.Ordinal})
	}
	return names
}

// Usage lists usage.
func (m *Model) Usage(_ context.Context, q projections.UsageQuery) (projections.List[projections.Usage], error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	asOf, err := m.snapshotOf(q.Campaign)
	if err != nil {
		return projections.List[projections.Usage]{AsOf: asOf}, err
	}
	rows := m.usage
	if q.Campaign == "" {
		rows = m.usageOfAll()
	}
	all := sorted(rows, func(a, b projections.Usage) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Model, b.Model))
	},
		func(u *projections.Usage) bool {
			return u.Campaign == q.Campaign && (q.From == "" || u.Day >= q.From) && (q.To == "" || u.Day <= q.To)
		})
	return projections.List[projections.Usage]{AsOf: asOf, Items: all}, nil
}

// usageOfAll counts each measurement once: as its first import says, and, for
// what is effective, as its first unvoided one.
func (m *Model) usageOfAll() map[usageKey]projections.Usage {
	accounts := map[usageKey]*[2]domain.Account{}
	for i, wanted := range []func(*projections.Import) bool{
		func(*projections.Import) bool { return true },
		func(row *projections.Import) bool { return row.Void == nil },
	} {
		seen := map[string]bool{}
		for _, row := range m.importsWhere(wanted) {
			if seen[row.MeasurementKey] {
				continue
			}
			seen[row.MeasurementKey] = true
			key := usageKey{day: row.Day, model: row.Model}
			if accounts[key] == nil {
				accounts[key] = &[2]domain.Account{}
			}
			charge := domain.Charge{Tokens: numberOf(row.Tokens), CostUSD: numberOf(row.CostUSD)}
			if charge.CostUSD != nil {
				charge.Coverage = domain.CostReported
			}
			accounts[key][i].Add(charge)
		}
	}
	rows := map[usageKey]projections.Usage{}
	for key, account := range accounts {
		rows[key] = projections.Usage{Day: key.day, Model: key.model, Spent: spendOf(account[0]), Effective: spendOf(account[1])}
	}
	return rows
}

func spendOf(account domain.Account) projections.Spend {
	spend := account.Spend()
	return projections.Spend{CostUSD: spend.CostUSD, Tokens: spend.Tokens, Reported: spend.Reported + spend.Partial, Cells: spend.Cells}
}

// numberOf gives the double that a row's decimal was printed from.
func numberOf(decimal *string) *float64 {
	if decimal == nil {
		return nil
	}
	number, err := strconv.ParseFloat(*decimal, 64)
	if err != nil {
		panic(err) // no fold prints such a row
	}
	return &number
}

// Entries lists entries.
func (m *Model) Entries(_ context.Context, q projections.EntryQuery) (projections.List[projections.Entry], error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	asOf, err := m.snapshot()
	if err != nil {
		return projections.List[projections.Entry]{}, err
	}
	all := sorted(m.entries, func(a, b projections.Entry) int { return cmp.Compare(a.Index, b.Index) },
		func(e *projections.Entry) bool {
			return (q.Campaign == "" || e.Campaign == q.Campaign) && (q.Kind == "" || e.Kind == q.Kind) && (q.Outcome == "" || e.Outcome == q.Outcome)
		})
	return paged(asOf, all, q.Page, func(e *projections.Entry) uint64 { return e.Index }, false), nil
}

// SharedMeasurements lists imports of shared measurements.
func (m *Model) SharedMeasurements(_ context.Context, page projections.Page) (projections.List[projections.SharedImport], error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	asOf, err := m.snapshot()
	if err != nil {
		return projections.List[projections.SharedImport]{}, err
	}
	campaigns := map[string]map[string]bool{}
	for _, row := range m.imports {
		if campaigns[row.MeasurementKey] == nil {
			campaigns[row.MeasurementKey] = map[string]bool{}
		}
		campaigns[row.MeasurementKey][row.Campaign] = true
	}
	shared := []projections.SharedImport{}
	for _, row := range m.importsWhere(func(i *projections.Import) bool { return len(campaigns[i.MeasurementKey]) > 1 }) {
		shared = append(shared, projections.SharedImport{
			MeasurementKey: row.MeasurementKey, Campaign: row.Campaign, ImportKey: row.ImportKey, Index: row.Index, Voided: row.Void != nil,
		})
	}
	return paged(asOf, shared, page, func(s *projections.SharedImport) uint64 { return s.Index }, false), nil
}

// Summary counts entries.
func (m *Model) Summary(_ context.Context, campaign string) (projections.One[projections.Summary], error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	asOf, err := m.snapshot()
	if err != nil {
		return projections.One[projections.Summary]{}, err
	}
	summary := projections.Summary{Outcomes: map[domain.Outcome]int64{}, Reasons: map[domain.Reason]int64{}}
	for _, outcome := range domain.Outcomes() {
		summary.Outcomes[outcome] = 0
	}
	for _, entry := range m.entries {
		if campaign != "" && entry.Campaign != campaign {
			continue
		}
		summary.Outcomes[entry.Outcome]++
		if entry.Reason != "" {
			summary.Reasons[entry.Reason]++
		}
	}
	return projections.One[projections.Summary]{AsOf: asOf, Item: summary}, nil
}
