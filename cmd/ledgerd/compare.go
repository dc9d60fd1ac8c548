package main

import (
	"context"
	"math/big"

	"github.com/ledgerd/ledgerd/internal/cli"
)

type compareCommand struct {
	Counts string `required:"" placeholder:"FILE" help:"Compare counts from any harness, without a ledger: JSON lines, or - for standard input."`
	Margin string `placeholder:"SHARE" help:"How much worse is still good enough: 0.05 is five points. Then not_worse is an answer too."`
}

// Help is shown below the command's flags.
func (compareCommand) Help() string {
	return `Each line {"baseline":[[passed,filled],…],"candidate":[[passed,filled],…]} has one pair of numbers a scenario, both lists in the same order. It is answered with one line: the rates with their intervals, the comparison, one word (better, worse, not_worse, inconclusive, incomparable) and a sentence for people.

Example:
  echo '{"baseline":[[3,3],[2,3]],"candidate":[[3,3],[0,3]]}' | ledgerd compare --counts -`
}

func (c *compareCommand) Run(ctx context.Context, streams cli.Streams) error {
	margin, err := readMargin(c.Margin)
	if err != nil {
		return err
	}
	return compareCounts(ctx, c.Counts, margin, streams)
}

// readMargin reads a share above 0 and at most 1, exactly; nil for none.
func readMargin(text string) (*big.Rat, error) {
	if text == "" {
		return nil, nil
	}
	const longest = 20
	margin, ok := new(big.Rat).SetString(text)
	if len(text) > longest || !ok || margin.Sign() <= 0 || margin.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, cli.Usagef("--margin is %.*q: it must be above 0 and at most 1; 0.05 is five points", longest, text)
	}
	return margin, nil
}
