package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/cockroachdb/errors"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/decisions"
	"github.com/ledgerd/ledgerd/internal/natsclient"
)

type statusCommand struct {
	natsclient.Flags
	Arrival uint64          `arg:"" name:"arrival-seq" help:"Sequence that publishing printed."`
	Timeout time.Duration   `default:"10s" help:"How long to wait for the decision."`
	Role    natsdeploy.Role `enum:"operator,coordinator,reader" default:"coordinator" help:"Whose credentials --nats-creds are: operator, coordinator or reader."`
}

func (c *statusCommand) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) error {
	if c.Arrival == 0 {
		return cli.Usagef("arrivals are counted from 1")
	}
	conn, denials, err := natsclient.Connect(ctx, c.Config(c.Role, "ingest status", log))
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	ctx, undeny := denials.Bound(ctx)
	defer undeny()
	decision, _, err := decisions.Wait(ctx, conn, c.Arrival)
	if denied := denials.Err(); denied != nil {
		return errors.WithHint(denied, "--role says whose credentials --nats-creds are")
	}
	if errors.Is(err, decisions.ErrNotDecided) {
		return errors.WithHint(errors.Newf("arrival %d has no decision after %s", c.Arrival, c.Timeout),
			"either nothing was published with that sequence, or the writer has not come to it yet")
	}
	if err != nil {
		return denials.Explain(err)
	}
	return printLine(streams.Out, decidedOf(decision))
}
