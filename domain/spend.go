package domain

import (
	"strconv"

	"github.com/cockroachdb/apd/v3"
)

// Spend is what a set of measurements cost, exactly: sums of the shortest
// decimals that print the reported numbers, never sums of doubles. A sum over
// nothing that reported is null, not 0.
type Spend struct {
	CostUSD  *string `json:"costUsd"`  // decimal, null when no cell reported a cost
	Tokens   *string `json:"tokens"`   // decimal, null when no cell reported tokens
	Reported int64   `json:"reported"` // cells that reported a cost
	Cells    int64   `json:"cells"`    // cells in all; Reported/Cells is the coverage
}

// Account adds usages up. The zero Account is empty.
type Account struct {
	cost   apd.Decimal
	tokens apd.Decimal

	reported int64 // cells with a cost
	counted  int64 // cells with tokens
	cells    int64
}

// Add counts one measurement in.
func (a *Account) Add(u Usage) { a.change(u, 1) }

// Remove takes one measurement out that was counted in before.
func (a *Account) Remove(u Usage) { a.change(u, -1) }

func (a *Account) change(u Usage, by int64) {
	a.cells += by
	if u.CostUSD != nil {
		a.reported += by
		addExactly(&a.cost, *u.CostUSD, by < 0)
	}
	if u.Tokens != nil {
		a.counted += by
		addExactly(&a.tokens, *u.Tokens, by < 0)
	}
}

// Spend gives the sums so far.
func (a *Account) Spend() Spend {
	spend := Spend{Reported: a.reported, Cells: a.cells}
	if a.reported > 0 {
		spend.CostUSD = decimalText(&a.cost)
	}
	if a.counted > 0 {
		spend.Tokens = decimalText(&a.tokens)
	}
	return spend
}

// addExactly adds the shortest decimal that prints value, or subtracts it.
// BaseContext has no precision limit, so nothing is rounded; its conditions
// cannot arise for finite doubles (their exponents lie within ±400).
func addExactly(sum *apd.Decimal, value float64, negative bool) {
	var term apd.Decimal
	if _, _, err := term.SetString(strconv.FormatFloat(value, 'e', -1, 64)); err != nil {
		panic("domain: a usage that is not finite was counted") // no gate lets one pass
	}
	if negative {
		term.Neg(&term)
	}
	if _, err := apd.BaseContext.Add(sum, sum, &term); err != nil {
		panic("domain: exact decimal sum: " + err.Error()) // see above
	}
}

// decimalText prints d plainly, without trailing zeros.
func decimalText(d *apd.Decimal) *string {
	var reduced apd.Decimal
	reduced.Reduce(d)
	if reduced.IsZero() {
		reduced.SetInt64(0)
	}
	text := reduced.Text('f')
	return &text
}
