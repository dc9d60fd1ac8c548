package main

import (
	"bytes"
	"context"
	"log/slog"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/cli"
)

type publishCommand struct {
	sendFlags
	File string `arg:"" help:"JSON lines {\"kind\",\"campaign\",\"data\",\"id\"?}, or - for standard input."`
}

// Help is shown below the command's flags.
func (publishCommand) Help() string {
	return `All lines are parsed before the first is sent. The data goes to the ledger as it is, so that bad data is refused there, with a record.

Example:
  echo '{"kind":"seal","campaign":"chat-review","data":{"actor":"ana"}}' | ingest publish - --wait`
}

func (c *publishCommand) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) error {
	facts, err := c.read(streams)
	if err != nil {
		return err
	}
	return c.send(ctx, streams, log, facts)
}

func (c *publishCommand) read(streams cli.Streams) ([]fact, error) {
	in, err := open(c.File, streams)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var facts []fact
	total := 0
	err = eachLine(in, func(number int, line []byte) error {
		if total += len(line); total > maxPublishBytes {
			return cli.Usagef("line %d: the input is larger than %d bytes; publish it in parts", number, maxPublishBytes)
		}
		next, err := parseFact(line)
		if err != nil {
			return errors.WithHint(errors.Mark(errors.Wrapf(err, "line %d", number), cli.ErrUsage),
				`each line is {"kind":"cell","campaign":"chat-review","data":{…}}; nothing was published`)
		}
		facts = append(facts, next)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(facts) == 0 {
		return nil, cli.Usagef("%s has no line to publish", c.File)
	}
	return facts, nil
}

// factLine is a line of publish's input.
type factLine struct {
	Kind     *domain.Kind   `json:"kind"`
	Campaign *string        `json:"campaign"`
	Data     jsontext.Value `json:"data"`
	ID       string         `json:"id"`
}

// parseFact reads a line. Its data is taken as it is written, duplicate names
// and all: only what is around it must be right.
func parseFact(raw []byte) (fact, error) {
	var line factLine
	// Invalid text inside data is the ledger's to refuse.
	if err := json.Unmarshal(raw, &line, json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return fact{}, err
	}
	switch {
	case line.Kind == nil:
		return fact{}, errors.New("kind is missing")
	case line.Campaign == nil:
		return fact{}, errors.New("campaign is missing")
	case len(line.Data) == 0:
		return fact{}, errors.New("data is missing")
	case len(line.ID) > events.MaxIDBytes:
		return fact{}, errors.Newf("the id is %d bytes long and may be %d", len(line.ID), events.MaxIDBytes)
	case !line.Kind.Known():
		return fact{}, errors.Newf("the kind %q is none of %v", *line.Kind, domain.Kinds())
	case !domain.LegalCampaignID(*line.Campaign):
		return fact{}, errors.Newf("the campaign %q is no legal id: 1 to 100 letters, digits, - and _, beginning with a letter or digit", *line.Campaign)
	}
	return fact{campaign: *line.Campaign, kind: *line.Kind, data: bytes.Clone(line.Data), id: line.ID}, nil
}
