package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/internal/tables"
)

// Imports lists imports.
func (s *Store) Imports(ctx context.Context, iq projections.ImportQuery) (list projections.List[projections.Import], err error) {
	list.AsOf, err = s.snapshot(ctx, "list imports", func(tx *sql.Tx) error {
		if iq.Campaign != "" {
			if err := mustBeOpen(ctx, tx, iq.Campaign); err != nil {
				return err
			}
		}
		q := &query{order: "ledger_index"}
		q.equal("campaign", iq.Campaign)
		q.equal("import_key", iq.ImportKey)
		q.equal("measurement_key", iq.MeasurementKey)
		list.Items, list.Next, err = fetchPage(ctx, tx, &tables.Imports, q, iq.Page, func(i *projections.Import) uint64 { return i.Index })
		return err
	})
	return list, err
}

// Rejections lists rejections.
func (s *Store) Rejections(ctx context.Context, rq projections.RejectionQuery) (list projections.List[projections.Rejection], err error) {
	list.AsOf, err = s.snapshot(ctx, "list rejections", func(tx *sql.Tx) error {
		q := &query{order: "ledger_index"}
		q.equal("campaign", rq.Campaign)
		q.equal("kind", string(rq.Kind))
		q.equal("reason", string(rq.Reason))
		list.Items, list.Next, err = fetchPage(ctx, tx, &tables.Rejections, q, rq.Page, func(r *projections.Rejection) uint64 { return r.Index })
		return err
	})
	return list, err
}

// Entries lists entries.
func (s *Store) Entries(ctx context.Context, eq projections.EntryQuery) (list projections.List[projections.Entry], err error) {
	list.AsOf, err = s.snapshot(ctx, "list entries", func(tx *sql.Tx) error {
		q := &query{order: "ledger_index"}
		q.equal("campaign", eq.Campaign)
		q.equal("kind", string(eq.Kind))
		q.equal("outcome", string(eq.Outcome))
		list.Items, list.Next, err = fetchPage(ctx, tx, &tables.Entries, q, eq.Page, func(e *projections.Entry) uint64 { return e.Index })
		return err
	})
	return list, err
}

// Checkpoints lists checkpoints with the cells whose import names their run.
func (s *Store) Checkpoints(ctx context.Context, cq projections.CheckpointQuery) (list projections.List[projections.Checkpoint], err error) {
	list.AsOf, err = s.snapshot(ctx, "list checkpoints", func(tx *sql.Tx) error {
		if cq.Campaign != "" {
			if err := mustBeOpen(ctx, tx, cq.Campaign); err != nil {
				return err
			}
		}
		q := &query{order: "ledger_index"}
		q.equal("campaign", cq.Campaign)
		q.equal("run_id", cq.RunID)
		q.equal("outcome", string(cq.Outcome))
		list.Items, list.Next, err = fetchPage(ctx, tx, &tables.Checkpoints, q, cq.Page, func(c *projections.Checkpoint) uint64 { return c.Index })
		if err != nil {
			return err
		}
		return addCells(ctx, tx, list.Items)
	})
	return list, err
}

// cellsOfRun joins a run to the slots that its imports fill.
const cellsOfRun = `
SELECT s.scenario, s.ordinal
FROM import_runs AS r JOIN cells AS s ON s.import_index = r.ledger_index
WHERE r.campaign = ? AND r.run_id = ?
ORDER BY s.position`

type runKey struct{ campaign, run string }

// addCells asks once for each run of a page.
func addCells(ctx context.Context, tx *sql.Tx, checkpoints []projections.Checkpoint) error {
	if len(checkpoints) == 0 {
		return nil
	}
	statement, err := tx.PrepareContext(ctx, cellsOfRun)
	if err != nil {
		return err
	}
	defer statement.Close()
	known := map[runKey][]projections.SlotName{}
	for i := range checkpoints {
		key := runKey{checkpoints[i].Campaign, checkpoints[i].RunID}
		if _, ok := known[key]; !ok {
			if known[key], err = slotNames(ctx, statement, key); err != nil {
				return err
			}
		}
		checkpoints[i].Cells = known[key]
	}
	return nil
}

func slotNames(ctx context.Context, statement *sql.Stmt, key runKey) ([]projections.SlotName, error) {
	rows, err := statement.QueryContext(ctx, key.campaign, key.run)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names := []projections.SlotName{}
	for rows.Next() {
		var name projections.SlotName
		if err := rows.Scan(&name.ScenarioID, &name.Ordinal); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// sharedImports are imports of measurements that several campaigns imported: a
// campaign imports one once.
const sharedImports = `
SELECT measurement_key, campaign, import_key, ledger_index, void_index IS NOT NULL
FROM imports`

// SharedMeasurements lists imports whose measurement is not theirs alone.
func (s *Store) SharedMeasurements(ctx context.Context, page projections.Page) (list projections.List[projections.SharedImport], err error) {
	list.AsOf, err = s.snapshot(ctx, "list shared measurements", func(tx *sql.Tx) error {
		q := &query{order: "ledger_index"}
		q.and("measurement_key IN (SELECT measurement_key FROM imports GROUP BY measurement_key HAVING COUNT(*) > 1)")
		q.after(page)
		rows, err := tx.QueryContext(ctx, q.text(sharedImports, page.Size()+1), q.args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		items := []projections.SharedImport{}
		for rows.Next() {
			var item projections.SharedImport
			if err := rows.Scan(&item.MeasurementKey, &item.Campaign, &item.ImportKey, &item.Index, &item.Voided); err != nil {
				return err
			}
			items = append(items, item)
		}
		list.Items, list.Next = cut(items, page, func(i *projections.SharedImport) uint64 { return i.Index })
		return rows.Err()
	})
	return list, err
}

// Summary counts decisions by outcome and reason.
func (s *Store) Summary(ctx context.Context, campaign string) (one projections.One[projections.Summary], err error) {
	one.Item = projections.Summary{Outcomes: map[domain.Outcome]int64{}, Reasons: map[domain.Reason]int64{}}
	for _, outcome := range domain.Outcomes() {
		one.Item.Outcomes[outcome] = 0
	}
	one.AsOf, err = s.snapshot(ctx, "count decisions", func(tx *sql.Tx) error {
		q := &query{order: "outcome, reason"}
		q.equal("campaign", campaign)
		text := strings.Replace(q.text("SELECT outcome, reason, COUNT(*) FROM entries", 0), " ORDER BY ", " GROUP BY ", 1)
		rows, err := tx.QueryContext(ctx, text, q.args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var outcome domain.Outcome
			var reason domain.Reason
			var count int64
			if err := rows.Scan(&outcome, &reason, &count); err != nil {
				return err
			}
			one.Item.Outcomes[outcome] += count
			if reason != "" {
				one.Item.Reasons[reason] += count
			}
		}
		return rows.Err()
	})
	return one, err
}
