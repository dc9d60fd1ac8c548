package reading

import (
	"context"
	"strings"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/internal/tables"
)

// Campaigns lists campaigns, the last opened first.
func (r Reader) Campaigns(ctx context.Context, cq projections.CampaignQuery) (list projections.List[projections.Campaign], err error) {
	list.AsOf, err = r.Source.Snapshot(ctx, "list campaigns", func(s Snapshot) error {
		q := from(s, &tables.Campaigns)
		q.equal("status", string(cq.Status))
		q.equal("verdict", string(cq.Verdict))
		q.descending("opened_index", cq.Page)
		items, err := fetch(ctx, s, &tables.Campaigns, q)
		list.Items, list.Next = cut(items, cq.Page, func(c *projections.Campaign) uint64 { return c.Opened.Index })
		return err
	})
	return list, err
}

// Campaign gives one campaign.
func (r Reader) Campaign(ctx context.Context, id string) (one projections.One[projections.Campaign], err error) {
	one.AsOf, err = r.Source.Snapshot(ctx, "read a campaign", func(s Snapshot) error {
		q := from(s, &tables.Campaigns)
		q.and("id = ", projections.Storable(id))
		found, err := fetch(ctx, s, &tables.Campaigns, q)
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
func (r Reader) Scenarios(ctx context.Context, campaign string) (list projections.List[projections.Scenario], err error) {
	list.AsOf, err = r.Source.Snapshot(ctx, "list scenarios", func(s Snapshot) error {
		if err := exists(ctx, s, campaign); err != nil {
			return err
		}
		q := from(s, &tables.Scenarios)
		q.and("campaign = ", projections.Storable(campaign))
		q.order("position")
		list.Items, err = fetch(ctx, s, &tables.Scenarios, q)
		return err
	})
	return list, err
}

// Cells lists a campaign's slots with the imports that fill them.
func (r Reader) Cells(ctx context.Context, cq projections.CellQuery) (list projections.List[projections.Cell], err error) {
	list.AsOf, err = r.Source.Snapshot(ctx, "list cells", func(s Snapshot) error {
		if err := exists(ctx, s, cq.Campaign); err != nil {
			return err
		}
		q := from(s, &tables.Slots)
		q.and("campaign = ", projections.Storable(cq.Campaign))
		q.equal("scenario", cq.ScenarioID)
		q.equal("outcome", string(cq.Outcome))
		q.ascending("position", cq.Page)
		slots, err := fetch(ctx, s, &tables.Slots, q)
		if err != nil {
			return err
		}
		slots, list.Next = cut(slots, cq.Page, func(slot *projections.Slot) uint64 { return uint64(slot.Position) })
		list.Items, err = withImports(ctx, s, slots)
		return err
	})
	return list, err
}

// withImports reads the imports of at most a page of slots.
func withImports(ctx context.Context, s Snapshot, slots []projections.Slot) ([]projections.Cell, error) {
	cells := make([]projections.Cell, len(slots))
	byIndex := map[uint64]*projections.Cell{}
	q := from(s, &tables.Imports)
	var params []string
	for i := range slots {
		cells[i].Slot = slots[i]
		if index := slots[i].ImportIndex; index != nil {
			byIndex[*index] = &cells[i]
			params = append(params, q.param(int64(*index)))
		}
	}
	if len(params) == 0 {
		return cells, nil
	}
	q.where("ledger_index IN (" + strings.Join(params, ", ") + ")")
	imports, err := fetch(ctx, s, &tables.Imports, q)
	for i := range imports {
		byIndex[imports[i].Index].Import = &imports[i]
	}
	return cells, err
}

// Usage lists usage of a campaign, or over all of them.
func (r Reader) Usage(ctx context.Context, uq projections.UsageQuery) (list projections.List[projections.Usage], err error) {
	list.AsOf, err = r.Source.Snapshot(ctx, "list usage", func(s Snapshot) error {
		if uq.Campaign == "" {
			list.Items, err = s.UsageOfAll(ctx, uq)
			return err
		}
		if err := exists(ctx, s, uq.Campaign); err != nil {
			return err
		}
		q := from(s, &tables.Usage)
		q.and("campaign = ", projections.Storable(uq.Campaign))
		if uq.From != "" {
			q.and("day >= ", projections.Storable(uq.From))
		}
		if uq.To != "" {
			q.and("day <= ", projections.Storable(uq.To))
		}
		q.order("day, model")
		list.Items, err = fetch(ctx, s, &tables.Usage, q)
		return err
	})
	return list, err
}
