package main

import (
	"bufio"
	"context"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/cli"
)

type validateCommand struct {
	File string `arg:"" help:"JSON lines {policy?, intent, provenance, result, host, definition}, or - for standard input."`
}

// Help is shown below the command's flags.
func (validateCommand) Help() string {
	return `Answers each line with {"ok":true,"cell","usage"} or {"ok":false,"reason","field","message"}, in order. Without a policy the preset paperclip-chat is taken. Exit 0 when every line could be read.

Example:
  ingest validate cells.jsonl`
}

// valid is the answer to a cell that passes every gate.
type valid struct {
	OK    bool          `json:"ok"`
	Cell  *domain.Cell  `json:"cell"`
	Usage *domain.Usage `json:"usage"`
}

// invalid is the answer to any other.
type invalid struct {
	OK      bool          `json:"ok"`
	Reason  domain.Reason `json:"reason"`
	Field   string        `json:"field"`
	Message string        `json:"message"`
}

func invalidFor(r *domain.Refusal) invalid {
	return invalid{Reason: r.Reason, Field: r.Field, Message: r.Message}
}

func (c *validateCommand) Run(ctx context.Context, streams cli.Streams) error {
	in, err := open(c.File, streams)
	if err != nil {
		return err
	}
	defer in.Close()
	out := bufio.NewWriter(streams.Out)
	unreadable := 0
	err = eachLine(in, func(_ int, line []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		answer, readable := validateLine(line)
		if !readable {
			unreadable++
		}
		return printLine(out, answer)
	})
	if err == nil && unreadable > 0 {
		err = errors.Newf("%d lines could not be read; they are answered %s", unreadable, events.ReasonInputMalformed)
	}
	return errors.CombineErrors(err, errors.Wrap(out.Flush(), "print the answers"))
}

// validateLine answers one line; readable is false when no gate could look at it.
func validateLine(line []byte) (answer any, readable bool) {
	input, refusal := events.DecodeValidation(line)
	if refusal != nil {
		return invalidFor(refusal), false
	}
	measured, refusal := domain.ValidateCell(input.Intent, input.Policy, &input.Cell)
	if refusal != nil {
		return invalidFor(refusal), true
	}
	return valid{OK: true, Cell: &measured.Cell, Usage: &measured.Usage}, true
}
