package postgres

import (
	"context"
	"strings"

	"github.com/ledgerd/ledgerd/projections"
)

// usageOfAll sums the imports that count when all campaigns are taken together.
// numeric adds exactly.
const usageOfAll = `
WITH counted AS (
	SELECT day, model, tokens, cost_usd,
		NOT EXISTS (SELECT FROM {imports} AS e WHERE e.measurement_key = i.measurement_key AND e.ledger_index < i.ledger_index) AS spent,
		void_index IS NULL AND NOT EXISTS (SELECT FROM {imports} AS e
			WHERE e.measurement_key = i.measurement_key AND e.ledger_index < i.ledger_index AND e.void_index IS NULL) AS effective
	FROM {imports} AS i
	WHERE day >= $1 AND (day <= $2 OR $2 = '')
)
SELECT day, model,
	trim_scale(sum(cost_usd) FILTER (WHERE spent))::text, trim_scale(sum(tokens) FILTER (WHERE spent))::text,
	count(cost_usd) FILTER (WHERE spent), count(*) FILTER (WHERE spent),
	trim_scale(sum(cost_usd) FILTER (WHERE effective))::text, trim_scale(sum(tokens) FILTER (WHERE effective))::text,
	count(cost_usd) FILTER (WHERE effective), count(*) FILTER (WHERE effective)
FROM counted
WHERE spent OR effective
GROUP BY day, model
ORDER BY day, model`

// UsageOfAll sums over all campaigns.
func (s snapshot) UsageOfAll(ctx context.Context, uq projections.UsageQuery) ([]projections.Usage, error) {
	result, err := s.tx.Query(ctx, strings.ReplaceAll(usageOfAll, "{imports}", s.Table("imports")), projections.Storable(uq.From), projections.Storable(uq.To))
	if err != nil {
		return nil, err
	}
	defer result.Close()
	items := []projections.Usage{}
	for result.Next() {
		var u projections.Usage
		if err := result.Scan(&u.Day, &u.Model, &u.Spent.CostUSD, &u.Spent.Tokens, &u.Spent.Reported, &u.Spent.Cells,
			&u.Effective.CostUSD, &u.Effective.Tokens, &u.Effective.Reported, &u.Effective.Cells); err != nil {
			return nil, err
		}
		items = append(items, u)
	}
	return items, result.Err()
}
