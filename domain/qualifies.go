package domain

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// Disclosure is what a policy makes of something that a verdict discloses.
type Disclosure string

// Disclose shows it beside the word; Disqualify makes the word not_qualified.
const (
	Disclose   Disclosure = "disclose"
	Disqualify Disclosure = "disqualify"
)

// Qualifies is how many slots must pass. At least one is set; a policy without
// it asks for every slot.
type Qualifies struct {
	ScenarioPasses *int64   `json:"scenarioPasses"` // so many slots of each scenario; null: no demand of each
	PassRate       *float64 `json:"passRate"`       // so large a share of all slots; null: no demand of all
}

// Plausible bounds what a sum takes in, both ends included.
type Plausible struct {
	CostUSD    Range  `json:"costUsd"`
	Tokens     Range  `json:"tokens"`
	DurationMS *Range `json:"durationMs"` // null: any
}

// Range is from the first number to the second.
type Range [2]float64

func (r Range) holds(n float64) bool { return n >= 0 && n >= r[0] && n <= r[1] }

// Defaults of a policy that does not say what is plausible.
const (
	defaultMaxCostUSD = 10_000
	defaultMaxTokens  = 1e9
)

// DefaultPlausible is what is plausible where a policy does not say.
func DefaultPlausible() *Plausible {
	return &Plausible{CostUSD: Range{0, defaultMaxCostUSD}, Tokens: Range{0, defaultMaxTokens}}
}

// VerdictRules are the members of every policy's shape that say what a verdict
// comes to.
type VerdictRules struct {
	Qualifies         *Qualifies `json:"qualifies"` // null: every slot must pass
	Plausible         *Plausible `json:"plausible"`
	VoidedFailures    Disclosure `json:"voidedFailures"`
	MeasuredBefore    Disclosure `json:"measuredBefore"`
	DefinitionChanged Disclosure `json:"definitionChanged"`
}

// withDefaults gives a copy with what a policy may leave out.
func (r VerdictRules) withDefaults() VerdictRules {
	plausible := *DefaultPlausible()
	if r.Plausible != nil {
		plausible = *r.Plausible
	}
	for _, bounds := range []*Range{&plausible.CostUSD, &plausible.Tokens} {
		bounds[0], bounds[1] = bounds[0]+0, bounds[1]+0 // -0 is 0
	}
	if duration := plausible.DurationMS; duration != nil {
		plausible.DurationMS = &Range{duration[0] + 0, duration[1] + 0}
	}
	r.Plausible = &plausible
	for _, disclosure := range []*Disclosure{&r.VoidedFailures, &r.MeasuredBefore, &r.DefinitionChanged} {
		if *disclosure == "" {
			*disclosure = Disclose
		}
	}
	if q := r.Qualifies; q != nil && q.ScenarioPasses == nil && q.PassRate == nil {
		all := 1.0
		r.Qualifies = &Qualifies{PassRate: &all}
	}
	return r
}

// maxPassRateDigits is how many decimals a pass rate may have.
const maxPassRateDigits = 6

func (r *VerdictRules) check(ordinals int) *Refusal {
	for _, disclosure := range []struct {
		name  string
		value Disclosure
	}{
		{"voidedFailures", r.VoidedFailures}, {"measuredBefore", r.MeasuredBefore}, {"definitionChanged", r.DefinitionChanged},
	} {
		if disclosure.value != Disclose && disclosure.value != Disqualify {
			return invalid("/policy/"+disclosure.name, "%s is %s and must be disclose or disqualify", disclosure.name, quote(string(disclosure.value)))
		}
	}
	if refusal := r.Plausible.check(); refusal != nil {
		return refusal
	}
	return r.Qualifies.check(ordinals)
}

func (p *Plausible) check() *Refusal {
	ranges := []struct {
		name  string
		value *Range
	}{{"costUsd", &p.CostUSD}, {"tokens", &p.Tokens}, {"durationMs", p.DurationMS}}
	for _, bounds := range ranges {
		if bounds.value == nil {
			continue
		}
		if low, high := bounds.value[0], bounds.value[1]; !(low >= 0) || !(high >= low) || math.IsInf(high, 0) {
			return invalid("/policy/plausible/"+bounds.name, "the bounds must be two numbers, 0 <= first <= second")
		}
	}
	return nil
}

func (q *Qualifies) check(ordinals int) *Refusal {
	if q == nil {
		return nil
	}
	if n := q.ScenarioPasses; n != nil && (*n < 1 || *n > int64(ordinals)) {
		return invalid("/policy/qualifies/scenarioPasses", "scenarioPasses is %d and must be from 1 to the policy's %d ordinals", *n, ordinals)
	}
	if rate := q.PassRate; rate != nil {
		if _, decimals, _ := strings.Cut(strconv.FormatFloat(*rate, 'f', -1, 64), "."); !(*rate > 0) || *rate > 1 || len(decimals) > maxPassRateDigits {
			return invalid("/policy/qualifies/passRate", "passRate must be above 0, at most 1, with at most %d decimals", maxPassRateDigits)
		}
	}
	return nil
}

// checkQualifies makes sure that every scenario selects as many slots as must
// pass in it.
func (o *Opening) checkQualifies() *Refusal {
	q := o.Policy.Qualifies
	if q == nil || q.ScenarioPasses == nil {
		return nil
	}
	slots := map[string]int64{}
	for _, selection := range o.Selected {
		slots[selection.ScenarioID]++
	}
	short := slices.IndexFunc(o.Scenarios, func(s Scenario) bool { return slots[s.ID] < *q.ScenarioPasses })
	if short < 0 {
		return nil
	}
	id := o.Scenarios[short].ID
	return invalid("/policy/qualifies/scenarioPasses", "%d slots of each scenario must pass, and scenario %s has %d; select more of it, or ask for less",
		*q.ScenarioPasses, quote(id), slots[id])
}

// Threshold is what a policy asks for and what there is, in slots.
type Threshold struct {
	Passed int64 `json:"passed"`
	Asked  int64 `json:"asked"` // so many of Slots must pass
	Slots  int64 `json:"slots"`
}

// passesNeeded is the least number of slots whose share is the rate or more,
// in whole numbers: no double is multiplied.
func passesNeeded(rate float64, slots int64) int64 {
	var share, product, needed apd.Decimal
	addExactly(&share, rate, false)
	product.SetInt64(slots)
	if _, err := apd.BaseContext.Mul(&product, &product, &share); err != nil {
		panic("domain: exact decimal product: " + err.Error()) // as for sums
	}
	context := apd.BaseContext.WithPrecision(40) // ten thousand slots and six decimals need ten digits
	if _, err := context.Ceil(&needed, &product); err != nil {
		panic("domain: whole number of a product: " + err.Error())
	}
	n, err := needed.Int64()
	if err != nil {
		panic("domain: a campaign with too many slots: " + err.Error())
	}
	return n
}
