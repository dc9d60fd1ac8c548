package numbers

import (
	"fmt"
	"math/big"
)

// Digits is how many digits behind the point a fraction has as a decimal.
const Digits = 12

// Decimal prints a fraction with Digits digits behind the point.
func Decimal(r *big.Rat) string { return r.FloatString(Digits) }

// Points prints a share in points of a hundred: 0.051 is "5.1".
func Points(share float64) string {
	text := fmt.Sprintf("%.1f", 100*share)
	if text == "-0.0" {
		return "0.0"
	}
	return text
}

// Sentence says what a comparison comes to, for people. The
// baseline's counts say what more cells would show, and the margin which drop is
// asked for (0.05 without one).
func (c *Comparison) Sentence(baseline []Count, margin *big.Rat) string {
	if c.Word == Incomparable {
		return fmt.Sprintf("Incomparable: only %d scenarios have filled slots in both, and that is fewer than %d or fewer than half of the baseline's.", c.Pairs, MinPairs)
	}
	difference := toFloat(c.Difference)
	known := fmt.Sprintf("%s points, 95 %% interval %s to %s", Points(difference), Points(c.Low), Points(c.High))
	switch c.Word {
	case Better:
		return "Better: " + known + "."
	case Worse:
		return "Worse: " + known + "."
	case NotWorse:
		return fmt.Sprintf("Not worse by %s points or more: %s.", Points(toFloat(margin)), known)
	}
	text := fmt.Sprintf("Inconclusive: %s. A drop of %s points or less could hide here", known, Points(max(0, -min(c.Low, 0))))
	wanted := 0.05
	if margin != nil {
		wanted = toFloat(margin)
	}
	return text + "; " + c.more(baseline, wanted) + "."
}

// more says how much more would show a drop of wanted.
func (c *Comparison) more(baseline []Count, wanted float64) string {
	truth, ok := EstimateTruth(baseline)
	slots := NewRate(baseline).Slots
	if !ok || wanted <= 0 {
		return "nothing can be planned from this baseline"
	}
	ordinals := max(1, slots/max(1, NewRate(baseline).Scenarios))
	if needed, ok := OrdinalsFor(truth, c.Pairs, wanted); ok {
		if needed <= ordinals {
			return fmt.Sprintf("as many cells again would show %s", Points(wanted))
		}
		return fmt.Sprintf("%d more ordinals a scenario, %d more cells in each campaign, would show a drop of %s points", needed-ordinals, (needed-ordinals)*c.Pairs, Points(wanted))
	}
	if needed, ok := ScenariosFor(truth, ordinals, wanted); ok {
		return fmt.Sprintf("repeats alone would not show a drop of %s points; %d more scenarios of %d ordinals, %d more cells in each campaign, would", Points(wanted), needed-c.Pairs, ordinals, (needed-c.Pairs)*ordinals)
	}
	return fmt.Sprintf("no number of cells that can be bought would show a drop of %s points", Points(wanted))
}
