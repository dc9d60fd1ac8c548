package sqlite

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/projections"
)

// firstImports are the imports that count when all campaigns are taken
// together: of each measurement the first one, for what was spent, and the
// first unvoided one, for what is effective. SQLite would round the sums, so
// they are made here.
const firstImports = `
SELECT day, model, tokens, cost_usd,
	NOT EXISTS (SELECT 1 FROM imports AS e WHERE e.measurement_key = i.measurement_key AND e.ledger_index < i.ledger_index),
	void_index IS NULL AND NOT EXISTS (SELECT 1 FROM imports AS e
		WHERE e.measurement_key = i.measurement_key AND e.ledger_index < i.ledger_index AND e.void_index IS NULL)
FROM imports AS i
WHERE day >= ?1 AND (day <= ?2 OR ?2 = '')`

type usageKey struct{ day, model string }

type usageAccounts struct {
	spent, effective domain.Account
}

// UsageOfAll sums over all campaigns.
func (s snapshot) UsageOfAll(ctx context.Context, uq projections.UsageQuery) ([]projections.Usage, error) {
	rows, err := s.tx.QueryContext(ctx, firstImports, uq.From, uq.To)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	accounts := map[usageKey]*usageAccounts{}
	for rows.Next() {
		var key usageKey
		var tokens, cost *string
		var spends, effective bool
		if err := rows.Scan(&key.day, &key.model, &tokens, &cost, &spends, &effective); err != nil {
			return nil, err
		}
		if !spends && !effective {
			continue
		}
		if accounts[key] == nil {
			accounts[key] = &usageAccounts{}
		}
		if err := accounts[key].add(tokens, cost, spends, effective); err != nil {
			return nil, err
		}
	}
	return usageRows(accounts), rows.Err()
}

func (a *usageAccounts) add(tokens, cost *string, spends, effective bool) error {
	charge, err := chargeOf(tokens, cost)
	if err != nil {
		return err
	}
	if spends {
		a.spent.Add(charge)
	}
	if effective {
		a.effective.Add(charge)
	}
	return nil
}

// chargeOf gives the doubles that the decimals were printed from.
func chargeOf(tokens, cost *string) (charge domain.Charge, err error) {
	for _, part := range []struct {
		text *string
		into **float64
	}{{tokens, &charge.Tokens}, {cost, &charge.CostUSD}} {
		if part.text == nil {
			continue
		}
		number, err := strconv.ParseFloat(*part.text, 64)
		if err != nil {
			return charge, errors.Wrap(err, "sqlite: a stored decimal")
		}
		*part.into = &number
	}
	if charge.CostUSD != nil {
		charge.Coverage = domain.CostReported
	}
	return charge, nil
}

func spendOf(account *domain.Account) projections.Spend {
	spend := account.Spend()
	return projections.Spend{CostUSD: spend.CostUSD, Tokens: spend.Tokens, Reported: spend.Reported, Cells: spend.Cells}
}

func usageRows(accounts map[usageKey]*usageAccounts) []projections.Usage {
	rows := make([]projections.Usage, 0, len(accounts))
	for key, account := range accounts {
		rows = append(rows, projections.Usage{
			Day: key.day, Model: key.model,
			Spent: spendOf(&account.spent), Effective: spendOf(&account.effective),
		})
	}
	slices.SortFunc(rows, func(a, b projections.Usage) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Model, b.Model))
	})
	return rows
}
