package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"slices"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ledgerd/ledgerd/domain"
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

// parseFact reads a line. Its data is taken as it is written, duplicate names
// and all: only what is around it must be right.
func parseFact(raw []byte) (fact, error) {
	members, err := splitLine(raw)
	if err != nil {
		return fact{}, err
	}
	var kind, campaign, id string
	for _, member := range []struct {
		name     string
		into     *string
		required bool
	}{{"kind", &kind, true}, {"campaign", &campaign, true}, {"id", &id, false}} {
		value, there := members[member.name]
		switch {
		case !there && member.required:
			return fact{}, errors.Newf("%s is missing", member.name)
		case there && value.Kind() != '"':
			return fact{}, errors.Newf("%s must be a string", member.name)
		case there:
			if err := json.Unmarshal(value, member.into); err != nil {
				return fact{}, errors.Newf("%s is not UTF-8", member.name)
			}
		}
	}
	data, there := members["data"]
	switch {
	case !there:
		return fact{}, errors.New("data is missing")
	case !domain.Kind(kind).Known():
		return fact{}, errors.Newf("the kind %q is none of %v", kind, domain.Kinds())
	case !domain.LegalCampaignID(campaign):
		return fact{}, errors.Newf("the campaign %q is no legal id: 1 to 100 letters, digits, - and _, beginning with a letter or digit", campaign)
	}
	return fact{campaign: campaign, kind: domain.Kind(kind), data: data, id: id}, nil
}

// lineMembers are the names that a line may have.
var lineMembers = []string{"kind", "campaign", "data", "id"}

// splitLine takes a line apart into its members' values, as they are written.
func splitLine(raw []byte) (map[string]jsontext.Value, error) {
	line := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	notJSON := errors.New("it is not one JSON object")
	if begin, err := line.ReadToken(); err != nil || begin.Kind() != '{' {
		return nil, notJSON
	}
	members := map[string]jsontext.Value{}
	for line.PeekKind() == '"' {
		token, err := line.ReadToken()
		if err != nil {
			return nil, notJSON
		}
		name := token.String()
		if !slices.Contains(lineMembers, name) {
			return nil, errors.Newf("no member is called %q; a line has %v", name, lineMembers)
		}
		if _, again := members[name]; again {
			return nil, errors.Newf("%s comes twice", name)
		}
		value, err := line.ReadValue()
		if err != nil {
			return nil, notJSON
		}
		members[name] = value.Clone()
	}
	if _, err := line.ReadToken(); err != nil {
		return nil, notJSON
	}
	if _, err := line.ReadToken(); err != io.EOF {
		return nil, errors.New("something follows the JSON object")
	}
	return members, nil
}
