package reading

import (
	"context"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/internal/tables"
)

// Imports lists imports by index.
func (r Reader) Imports(ctx context.Context, iq projections.ImportQuery) (list projections.List[projections.Import], err error) {
	list.AsOf, err = r.Source.Snapshot(ctx, "list imports", func(s Snapshot) error {
		if err := existsIfNamed(ctx, s, iq.Campaign); err != nil {
			return err
		}
		q := from(s, &tables.Imports)
		q.equal("campaign", iq.Campaign)
		q.equal("import_key", iq.ImportKey)
		q.equal("measurement_key", iq.MeasurementKey)
		q.ascending("ledger_index", iq.Page)
		items, err := fetch(ctx, s, &tables.Imports, q)
		list.Items, list.Next = cut(items, iq.Page, func(i *projections.Import) uint64 { return i.Index })
		return err
	})
	return list, err
}

// Rejections lists rejections by index.
func (r Reader) Rejections(ctx context.Context, rq projections.RejectionQuery) (list projections.List[projections.Rejection], err error) {
	list.AsOf, err = r.Source.Snapshot(ctx, "list rejections", func(s Snapshot) error {
		q := from(s, &tables.Rejections)
		q.equal("campaign", rq.Campaign)
		q.equal("kind", string(rq.Kind))
		q.equal("reason", string(rq.Reason))
		q.ascending("ledger_index", rq.Page)
		items, err := fetch(ctx, s, &tables.Rejections, q)
		list.Items, list.Next = cut(items, rq.Page, func(r *projections.Rejection) uint64 { return r.Index })
		return err
	})
	return list, err
}

// Entries lists entries by index.
func (r Reader) Entries(ctx context.Context, eq projections.EntryQuery) (list projections.List[projections.Entry], err error) {
	list.AsOf, err = r.Source.Snapshot(ctx, "list entries", func(s Snapshot) error {
		q := from(s, &tables.Entries)
		q.equal("campaign", eq.Campaign)
		q.equal("kind", string(eq.Kind))
		q.equal("outcome", string(eq.Outcome))
		q.ascending("ledger_index", eq.Page)
		items, err := fetch(ctx, s, &tables.Entries, q)
		list.Items, list.Next = cut(items, eq.Page, func(e *projections.Entry) uint64 { return e.Index })
		return err
	})
	return list, err
}

// Checkpoints lists checkpoints by index, with the slots whose import names
// their run.
func (r Reader) Checkpoints(ctx context.Context, cq projections.CheckpointQuery) (list projections.List[projections.Checkpoint], err error) {
	list.AsOf, err = r.Source.Snapshot(ctx, "list checkpoints", func(s Snapshot) error {
		if err := existsIfNamed(ctx, s, cq.Campaign); err != nil {
			return err
		}
		q := from(s, &tables.Checkpoints)
		q.equal("campaign", cq.Campaign)
		q.equal("run_id", cq.RunID)
		q.equal("outcome", string(cq.Outcome))
		q.ascending("ledger_index", cq.Page)
		items, err := fetch(ctx, s, &tables.Checkpoints, q)
		if err != nil {
			return err
		}
		list.Items, list.Next = cut(items, cq.Page, func(c *projections.Checkpoint) uint64 { return c.Index })
		return addCells(ctx, s, list.Items)
	})
	return list, err
}

type runKey struct{ campaign, run string }

// addCells asks once for each run of a page.
func addCells(ctx context.Context, s Snapshot, checkpoints []projections.Checkpoint) error {
	known := map[runKey][]projections.SlotName{}
	for i := range checkpoints {
		key := runKey{checkpoints[i].Campaign, checkpoints[i].RunID}
		names, ok := known[key]
		if !ok {
			var err error
			if names, err = slotNames(ctx, s, key); err != nil {
				return err
			}
			known[key] = names
		}
		checkpoints[i].Cells = names
	}
	return nil
}

// slotNames joins a run to the slots that its imports fill.
func slotNames(ctx context.Context, s Snapshot, key runKey) ([]projections.SlotName, error) {
	q := newQuery(s, "SELECT s.scenario, s.ordinal FROM "+s.Table("import_runs")+" AS r JOIN "+s.Table("cells")+" AS s ON s.import_index = r.ledger_index")
	q.and("r.campaign = ", key.campaign)
	q.and("r.run_id = ", key.run)
	q.order("s.position")
	names := []projections.SlotName{}
	err := each(ctx, s, q, func(rows Rows) error {
		var name projections.SlotName
		if err := rows.Scan(&name.ScenarioID, &name.Ordinal); err != nil {
			return err
		}
		names = append(names, name)
		return nil
	})
	return names, err
}

// SharedMeasurements lists imports whose measurement is not theirs alone: a
// campaign imports a measurement once, so two imports are of two campaigns.
func (r Reader) SharedMeasurements(ctx context.Context, page projections.Page) (list projections.List[projections.SharedImport], err error) {
	list.AsOf, err = r.Source.Snapshot(ctx, "list shared measurements", func(s Snapshot) error {
		imports := s.Table("imports")
		q := newQuery(s, "SELECT measurement_key, campaign, import_key, ledger_index, void_index IS NOT NULL FROM "+imports+
			" WHERE measurement_key IN (SELECT measurement_key FROM "+imports+" GROUP BY measurement_key HAVING COUNT(*) > 1)")
		q.ascending("ledger_index", page)
		items := []projections.SharedImport{}
		err := each(ctx, s, q, func(rows Rows) error {
			var item projections.SharedImport
			if err := rows.Scan(&item.MeasurementKey, &item.Campaign, &item.ImportKey, &item.Index, &item.Voided); err != nil {
				return err
			}
			items = append(items, item)
			return nil
		})
		list.Items, list.Next = cut(items, page, func(i *projections.SharedImport) uint64 { return i.Index })
		return err
	})
	return list, err
}

// Summary counts decisions by outcome and reason.
func (r Reader) Summary(ctx context.Context, campaign string) (one projections.One[projections.Summary], err error) {
	one.AsOf, err = r.Source.Snapshot(ctx, "count decisions", func(s Snapshot) error {
		one.Item = projections.Summary{Outcomes: map[domain.Outcome]int64{}, Reasons: map[domain.Reason]int64{}}
		for _, outcome := range domain.Outcomes() {
			one.Item.Outcomes[outcome] = 0
		}
		q := newQuery(s, "SELECT outcome, reason, COUNT(*) FROM "+s.Table("entries"))
		q.equal("campaign", campaign)
		q.tail = " GROUP BY outcome, reason"
		return each(ctx, s, q, func(rows Rows) error {
			var outcome, reason string
			var count int64
			if err := rows.Scan(&outcome, &reason, &count); err != nil {
				return err
			}
			one.Item.Outcomes[domain.Outcome(outcome)] += count
			if reason != "" {
				one.Item.Reasons[domain.Reason(reason)] += count
			}
			return nil
		})
	})
	return one, err
}
