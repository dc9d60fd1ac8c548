package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/internal/tables"
)

// Campaigns lists campaigns, the last opened first.
func (s *Store) Campaigns(ctx context.Context, cq projections.CampaignQuery) (list projections.List[projections.Campaign], err error) {
	list.AsOf, err = s.snapshot(ctx, "list campaigns", func(tx *sql.Tx) error {
		q := &query{order: "opened_index", desc: true}
		q.equal("status", string(cq.Status))
		q.equal("verdict", string(cq.Verdict))
		list.Items, list.Next, err = fetchPage(ctx, tx, &tables.Campaigns, q, cq.Page, func(c *projections.Campaign) uint64 { return c.Opened.Index })
		return err
	})
	return list, err
}

// Campaign gives one campaign.
func (s *Store) Campaign(ctx context.Context, id string) (one projections.One[projections.Campaign], err error) {
	one.AsOf, err = s.snapshot(ctx, "read a campaign", func(tx *sql.Tx) error {
		q := &query{order: "id"}
		q.and("id = ?", projections.Storable(id))
		found, err := fetch(ctx, tx, &tables.Campaigns, q, 1)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return errors.Wrapf(projections.ErrNoCampaign, "%q", id)
		}
		one.Item = found[0]
		return nil
	})
	return one, err
}

// Scenarios lists a campaign's scenarios.
func (s *Store) Scenarios(ctx context.Context, campaign string) (list projections.List[projections.Scenario], err error) {
	list.AsOf, err = s.snapshot(ctx, "list scenarios", func(tx *sql.Tx) error {
		if err := mustBeOpen(ctx, tx, campaign); err != nil {
			return err
		}
		q := &query{order: "position"}
		q.and("campaign = ?", projections.Storable(campaign))
		list.Items, err = fetch(ctx, tx, &tables.Scenarios, q, 0)
		return err
	})
	return list, err
}

// Cells lists a campaign's slots with the imports that fill them.
func (s *Store) Cells(ctx context.Context, cq projections.CellQuery) (list projections.List[projections.Cell], err error) {
	list.AsOf, err = s.snapshot(ctx, "list cells", func(tx *sql.Tx) error {
		if err := mustBeOpen(ctx, tx, cq.Campaign); err != nil {
			return err
		}
		q := &query{order: "position"}
		q.and("campaign = ?", projections.Storable(cq.Campaign))
		q.equal("scenario", cq.ScenarioID)
		q.equal("outcome", string(cq.Outcome))
		var slots []projections.Slot
		slots, list.Next, err = fetchPage(ctx, tx, &tables.Slots, q, cq.Page, func(c *projections.Slot) uint64 { return uint64(c.Position) })
		if err != nil {
			return err
		}
		list.Items, err = withImports(ctx, tx, slots)
		return err
	})
	return list, err
}

// withImports reads the imports of at most a page of slots.
func withImports(ctx context.Context, tx *sql.Tx, slots []projections.Slot) ([]projections.Cell, error) {
	cells := make([]projections.Cell, len(slots))
	var indexes []any
	for i := range slots {
		cells[i].Slot = slots[i]
		if slots[i].ImportIndex != nil {
			indexes = append(indexes, int64(*slots[i].ImportIndex))
		}
	}
	if len(indexes) == 0 {
		return cells, nil
	}
	q := &query{order: "ledger_index"}
	q.and("ledger_index IN (?"+strings.Repeat(", ?", len(indexes)-1)+")", indexes...)
	imports, err := fetch(ctx, tx, &tables.Imports, q, 0)
	if err != nil {
		return nil, err
	}
	byIndex := make(map[uint64]*projections.Import, len(imports))
	for i := range imports {
		byIndex[imports[i].Index] = &imports[i]
	}
	for i := range cells {
		if index := cells[i].ImportIndex; index != nil {
			cells[i].Import = byIndex[*index]
		}
	}
	return cells, nil
}

// Usage lists usage of a campaign, or over all of them.
func (s *Store) Usage(ctx context.Context, uq projections.UsageQuery) (list projections.List[projections.Usage], err error) {
	list.AsOf, err = s.snapshot(ctx, "list usage", func(tx *sql.Tx) error {
		if uq.Campaign == "" {
			list.Items, err = usageOfAll(ctx, tx, uq)
			return err
		}
		if err := mustBeOpen(ctx, tx, uq.Campaign); err != nil {
			return err
		}
		q := &query{order: "day, model"}
		q.and("campaign = ?", projections.Storable(uq.Campaign))
		between(q, uq)
		list.Items, err = fetch(ctx, tx, &tables.Usage, q, 0)
		return err
	})
	return list, err
}

func between(q *query, uq projections.UsageQuery) {
	if uq.From != "" {
		q.and("day >= ?", uq.From)
	}
	if uq.To != "" {
		q.and("day <= ?", uq.To)
	}
}
