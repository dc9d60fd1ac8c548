package main

import (
	"context"
	"log/slog"
	"strings"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/internal/cli"
)

// actorFlag says in whose name an operator acts.
type actorFlag struct {
	Actor string `required:"" placeholder:"NAME" help:"Who decides this: a name that colleagues know."`
}

// notBlank refuses an operator's act without a name or reason before it is
// published.
func notBlank(flag, value string) error {
	if strings.TrimSpace(value) == "" {
		return errors.Newf("%s must not be blank", flag)
	}
	return nil
}

// Validate is kong's check.
func (c *voidCommand) Validate() error {
	if err := notBlank("--actor", c.Actor); err != nil {
		return err
	}
	if err := notBlank("--reason", c.Reason); err != nil {
		return err
	}
	return c.sendFlags.Validate()
}

type voidCommand struct {
	sendFlags
	actorFlag
	ImportKey string `arg:"" help:"Import to take back: runId/runAttempt/executionId."`
	Campaign  string `required:"" placeholder:"ID" help:"Campaign that imported it."`
	Reason    string `required:"" env:"-" placeholder:"TEXT" help:"Why it must not count."`
}

// Help is shown below the command's flags.
func (voidCommand) Help() string {
	return `Example:
  ingest void 10290811331/1/chat.greeting-r1 --campaign chat-review --actor ana --reason "measured on the wrong machine" --wait`
}

func (c *voidCommand) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) error {
	data, err := json.Marshal(domain.VoidRequest{ImportKey: c.ImportKey, Actor: c.Actor, Reason: c.Reason})
	if err != nil {
		return errors.Mark(errors.Wrap(err, "print the void"), cli.ErrUsage)
	}
	return c.send(ctx, streams, log, []fact{{campaign: c.Campaign, kind: domain.KindVoid, data: data}})
}
