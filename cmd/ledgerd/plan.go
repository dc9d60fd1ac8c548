package main

import (
	"fmt"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/numbers"
)

type planCommand struct {
	Scenarios   int     `required:"" placeholder:"N" help:"How many scenarios a campaign has."`
	Ordinals    int     `required:"" placeholder:"K" help:"How often each is measured."`
	Rate        float64 `default:"0.8" help:"How often cells pass today: above 0 and at most 1."`
	Correlation float64 `default:"0.5" help:"How alike the cells of one scenario are: 0 not at all, 1 all or nothing."`
	Margin      string  `placeholder:"SHARE" help:"Which drop must be noticed: 0.05 is five points."`
	JSON        bool    `name:"json" help:"Print JSON instead of sentences."`
}

// Help is shown below the command's flags.
func (planCommand) Help() string {
	return `Says which drop a comparison of two such campaigns notices in 80 of 100 cases, and how many cells are needed for --margin.

Example:
  ledgerd plan --scenarios 40 --ordinals 3 --rate 0.8 --correlation 0.5 --margin 0.05`
}

// planAnswer is the answer; null is what cannot be reached.
type planAnswer struct {
	Scenarios    int       `json:"scenarios"`
	Ordinals     int       `json:"ordinals"`
	Rate         float64   `json:"rate"`
	Correlation  float64   `json:"correlation"`
	Power        float64   `json:"power"`
	SmallestDrop *float64  `json:"smallest_drop"`
	Margin       *float64  `json:"margin"`
	MoreOrdinals *planSize `json:"by_ordinals"`  // the same scenarios, measured more often
	MoreScenario *planSize `json:"by_scenarios"` // more scenarios, measured as often
}

// planSize is a campaign that notices the margin.
type planSize struct {
	Scenarios int `json:"scenarios"`
	Ordinals  int `json:"ordinals"`
	Cells     int `json:"cells"`
}

// Validate is kong's check.
func (c *planCommand) Validate() error {
	switch {
	case c.Scenarios < 1 || c.Scenarios > maxScenarios:
		return errors.Newf("--scenarios must be 1 to %d", maxScenarios)
	case c.Ordinals < 1 || c.Ordinals > maxSlots:
		return errors.Newf("--ordinals must be 1 to %d", maxSlots)
	case !(c.Rate > 0 && c.Rate <= 1):
		return errors.New("--rate must be above 0 and at most 1")
	case !(c.Correlation >= 0 && c.Correlation <= 1):
		return errors.New("--correlation must be 0 to 1")
	}
	return nil
}

func (c *planCommand) Run(streams cli.Streams) error {
	margin, err := readMargin(c.Margin)
	if err != nil {
		return err
	}
	truth := numbers.Truth{Rate: c.Rate, Correlation: c.Correlation}
	answer := planAnswer{Scenarios: c.Scenarios, Ordinals: c.Ordinals, Rate: c.Rate, Correlation: c.Correlation, Power: numbers.Power}
	if drop, ok := numbers.SmallestDrop(truth, c.Scenarios, c.Ordinals); ok {
		answer.SmallestDrop = &drop
	}
	if margin != nil {
		wanted, _ := margin.Float64()
		answer.Margin = &wanted
		if ordinals, ok := numbers.OrdinalsFor(truth, c.Scenarios, wanted); ok {
			answer.MoreOrdinals = &planSize{c.Scenarios, ordinals, c.Scenarios * ordinals}
		}
		if scenarios, ok := numbers.ScenariosFor(truth, c.Ordinals, wanted); ok {
			answer.MoreScenario = &planSize{scenarios, c.Ordinals, scenarios * c.Ordinals}
		}
	}
	if c.JSON {
		return printJSON(streams.Out, answer)
	}
	_, err = streams.Out.Write([]byte(answer.text()))
	return errors.Wrap(err, "print the answer")
}

func (a *planAnswer) text() string {
	text := fmt.Sprintf("%d scenarios × %d ordinals, %d cells in each campaign, notice no drop in 80 of 100 cases.\n", a.Scenarios, a.Ordinals, a.Scenarios*a.Ordinals)
	if a.SmallestDrop != nil {
		text = fmt.Sprintf("%d scenarios × %d ordinals, %d cells in each campaign, notice a drop of %s points in 80 of 100 cases.\n",
			a.Scenarios, a.Ordinals, a.Scenarios*a.Ordinals, numbers.Points(*a.SmallestDrop))
	}
	if a.Margin == nil {
		return text
	}
	text += fmt.Sprintf("A drop of %s points needs, in each campaign:\n", numbers.Points(*a.Margin))
	return text + a.MoreOrdinals.text("more ordinals alone") + a.MoreScenario.text("more scenarios")
}

func (s *planSize) text(how string) string {
	if s == nil {
		return fmt.Sprintf("  %-20s no number is enough\n", how+":")
	}
	return fmt.Sprintf("  %-20s %d × %d, %d cells\n", how+":", s.Scenarios, s.Ordinals, s.Cells)
}
