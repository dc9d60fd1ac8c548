package domain

import (
	"math"
	"strconv"

	"github.com/cockroachdb/apd/v3"
)

// Spend is what a set of measurements cost, exactly: sums of the shortest
// decimals that print the reported numbers, never sums of doubles. A sum over
// nothing is null, not 0.
type Spend struct {
	CostUSD  *string `json:"costUsd"`  // decimal, null when nothing was summed
	Complete bool    `json:"complete"` // every cell reported a plausible cost in full; else CostUSD is a lower bound

	// The cells, exactly one of the four each.
	Cells       int64 `json:"cells"`
	Reported    int64 `json:"reported"`    // a plausible cost in full
	Partial     int64 `json:"partial"`     // a plausible cost that is only a part
	Implausible int64 `json:"implausible"` // a cost that is not summed
	Unknown     int64 `json:"unknown"`     // all else

	Tokens            *string `json:"tokens"`            // decimal, null when nothing was summed
	TokensComplete    bool    `json:"tokensComplete"`    // every cell reported plausible tokens
	TokensImplausible int64   `json:"tokensImplausible"` // cells with tokens that are not summed
}

// CostCoverage says how much of a measurement's cost is known.
type CostCoverage string

// The coverages of a cost.
const (
	CostReported    CostCoverage = "reported"    // the framework reported it in full, and it is plausible
	CostPartial     CostCoverage = "partial"     // it reported a part, and that is plausible
	CostImplausible CostCoverage = "implausible" // the number is in no sum
	CostUnknown     CostCoverage = "unknown"
)

// Charge is a usage as it is summed.
type Charge struct {
	Coverage          CostCoverage
	CostUSD           *float64 // nil: not in the sum
	Tokens            *float64 // nil: not in the sum
	TokensImplausible bool
}

// Charge judges a usage, each quantity by itself.
func (p Plausible) Charge(u Usage) Charge {
	charge := Charge{Coverage: CostUnknown}
	coverage := CostCoverage(u.Coverage)
	switch {
	case u.CostUSD == nil:
	case !p.CostUSD.holds(*u.CostUSD):
		charge.Coverage = CostImplausible
	case coverage == CostReported || coverage == CostPartial:
		charge.Coverage, charge.CostUSD = coverage, u.CostUSD
	}
	switch {
	case u.Tokens == nil:
	case !p.Tokens.holds(*u.Tokens) || *u.Tokens != math.Trunc(*u.Tokens):
		charge.TokensImplausible = true
	default:
		charge.Tokens = u.Tokens
	}
	return charge
}

// Account adds charges up. The zero Account is empty.
type Account struct {
	cost   apd.Decimal
	tokens apd.Decimal

	cells                                   int64
	reported, partial, implausible, unknown int64
	tokensKnown, tokensImplausible          int64
}

// Add counts one measurement in.
func (a *Account) Add(c Charge) { a.change(c, 1) }

// Remove takes one measurement out that was counted in before.
func (a *Account) Remove(c Charge) { a.change(c, -1) }

func (a *Account) change(c Charge, by int64) {
	a.cells += by
	switch c.Coverage {
	case CostReported:
		a.reported += by
	case CostPartial:
		a.partial += by
	case CostImplausible:
		a.implausible += by
	default:
		a.unknown += by
	}
	if c.CostUSD != nil {
		addExactly(&a.cost, *c.CostUSD, by < 0)
	}
	if c.TokensImplausible {
		a.tokensImplausible += by
	}
	if c.Tokens != nil {
		a.tokensKnown += by
		addExactly(&a.tokens, *c.Tokens, by < 0)
	}
}

// Plus gives the sums of both.
func (a *Account) Plus(b *Account) *Account {
	sum := &Account{
		cells:    a.cells + b.cells,
		reported: a.reported + b.reported, partial: a.partial + b.partial,
		implausible: a.implausible + b.implausible, unknown: a.unknown + b.unknown,
		tokensKnown: a.tokensKnown + b.tokensKnown, tokensImplausible: a.tokensImplausible + b.tokensImplausible,
	}
	addDecimals(&sum.cost, &a.cost, &b.cost)
	addDecimals(&sum.tokens, &a.tokens, &b.tokens)
	return sum
}

// Spend gives the sums so far.
func (a *Account) Spend() Spend {
	spend := Spend{
		Complete: a.complete(),
		Cells:    a.cells, Reported: a.reported, Partial: a.partial, Implausible: a.implausible, Unknown: a.unknown,
		TokensComplete: a.tokensKnown == a.cells, TokensImplausible: a.tokensImplausible,
	}
	if a.reported+a.partial > 0 {
		spend.CostUSD = decimalText(&a.cost)
	}
	if a.tokensKnown > 0 {
		spend.Tokens = decimalText(&a.tokens)
	}
	return spend
}

func (a *Account) complete() bool { return a.reported == a.cells }

// over reports whether the cost is more than dollars.
func (a *Account) over(dollars float64) bool {
	var limit apd.Decimal
	addExactly(&limit, dollars, false)
	return a.cost.Cmp(&limit) > 0
}

// addExactly adds the shortest decimal that prints value, or subtracts it.
func addExactly(sum *apd.Decimal, value float64, negative bool) {
	var term apd.Decimal
	if _, _, err := term.SetString(strconv.FormatFloat(value, 'e', -1, 64)); err != nil {
		panic("domain: a usage that is not finite was counted") // no gate lets one pass
	}
	if negative {
		term.Neg(&term)
	}
	addDecimals(sum, sum, &term)
}

// addDecimals sets sum to a + b. BaseContext has no precision limit, so nothing
// is rounded; its conditions cannot arise for finite doubles (their exponents
// lie within ±400).
func addDecimals(sum, a, b *apd.Decimal) {
	if _, err := apd.BaseContext.Add(sum, a, b); err != nil {
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
