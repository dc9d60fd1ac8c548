package main

import (
	"bufio"
	"context"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/cli"
)

type projectCommand struct {
	File    string `arg:"" help:"JSON lines {checkpoint, publication, executionWorkspaceId}, or - for standard input."`
	Profile string `enum:"kimi-context" default:"kimi-context" help:"Provider, tool and prompt names: kimi-context."`
}

// Help is shown below the command's flags.
func (projectCommand) Help() string {
	return `Answers each line with {"outcome"}, bound, pending or rejected, and "authority" when it is bound; in order. Exit 0 when every line could be read.

Example:
  ingest checkpoint project reads.jsonl`
}

// projected is the answer to a line.
type projected struct {
	Outcome   checkpoint.Outcome    `json:"outcome"`
	Authority *checkpoint.Authority `json:"authority,omitzero"`
}

func (c *projectCommand) Run(ctx context.Context, streams cli.Streams) error {
	in, err := open(c.File, streams)
	if err != nil {
		return err
	}
	defer in.Close()
	out := bufio.NewWriter(streams.Out)
	profile := profiles[c.Profile]()
	unreadable := 0
	err = eachLine(in, func(_ int, line []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		input, refusal := events.DecodeProjection(line)
		if refusal != nil {
			unreadable++
			return printLine(out, invalidFor(refusal))
		}
		result := checkpoint.Project(input.Checkpoint, input.Publication, input.ExecutionWorkspaceID, profile)
		return printLine(out, projected{Outcome: result.Outcome, Authority: result.Authority})
	})
	if err == nil && unreadable > 0 {
		err = errors.Newf("%d lines could not be read; they are answered %s", unreadable, events.ReasonInputMalformed)
	}
	return errors.CombineErrors(err, errors.Wrap(out.Flush(), "print the answers"))
}
