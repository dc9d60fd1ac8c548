package main

import (
	"bytes"
	"context"
	_ "embed"
	"log/slog"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/strictjson"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/cli"
)

type campaignCommands struct {
	Open     openCommand     `cmd:"" help:"Open a campaign: freeze what is measured and by which policy."`
	Seal     sealCommand     `cmd:"" help:"Seal a campaign: freeze its verdict."`
	Template templateCommand `cmd:"" help:"Print a commented campaign file to start from."`
}

//go:embed template.jsonc
var template []byte

type templateCommand struct{}

func (templateCommand) Run(streams cli.Streams) error {
	_, err := streams.Out.Write(template)
	return errors.Wrap(err, "print the template")
}

type sealCommand struct {
	sendFlags
	actorFlag
	Campaign string `arg:"" help:"Campaign to seal."`
}

// Validate is kong's check.
func (c *sealCommand) Validate() error {
	if err := notBlank("--actor", c.Actor); err != nil {
		return err
	}
	return c.sendFlags.Validate()
}

func (c *sealCommand) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) error {
	data, err := json.Marshal(domain.SealRequest{Actor: c.Actor})
	if err != nil {
		return errors.Mark(errors.Wrap(err, "print the seal"), cli.ErrUsage)
	}
	return c.send(ctx, streams, log, []fact{{campaign: c.Campaign, kind: domain.KindSeal, data: data}})
}

type openCommand struct {
	sendFlags
	File     string `arg:"" help:"Campaign file (JSON; comments are allowed), or - for standard input."`
	Campaign string `placeholder:"ID" help:"The campaign's id, in place of the file's member \"campaign\"."`
}

// Help is shown below the command's flags.
func (openCommand) Help() string {
	return `The file is checked before it is published. What was opened never changes; a campaign that was opened by mistake is left alone and another one opened.

Example:
  ingest campaign template > campaign.json
  ingest campaign open campaign.json --wait`
}

func (c *openCommand) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) error {
	raw, err := readFile(c.File, streams)
	if err != nil {
		return err
	}
	opening, err := parseOpening(raw, c.Campaign)
	if err != nil {
		return errors.WithHint(errors.Mark(errors.Wrapf(err, "%s; nothing was published", c.File), cli.ErrUsage),
			"`ingest campaign template` prints a file that shows every member")
	}
	return c.send(ctx, streams, log, []fact{opening})
}

// maxBrackets bounds how deep a file can nest, for the reader that takes
// comments out and follows every level. The largest campaign has one object for
// each of its selections and scenarios.
const maxBrackets = 2 * (domain.MaxSelections + domain.MaxScenarios)

// campaignMember names the campaign in its file. It is no part of the arrival:
// there the subject says it.
const campaignMember = "campaign"

// parseOpening makes an arrival of a campaign file, and holds it against the
// rules that the ledger will.
func parseOpening(raw []byte, campaign string) (fact, error) {
	if n := bytes.Count(raw, []byte("[")) + bytes.Count(raw, []byte("{")); n > maxBrackets {
		return fact{}, errors.Newf("it has %d objects and arrays and may have %d", n, maxBrackets)
	}
	standard, err := hujson.Standardize(raw)
	if err != nil {
		return fact{}, err
	}
	if _, err := strictjson.Parse(standard); err != nil { // nor may a comment hide a name that comes twice
		return fact{}, err
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(standard, &members); err != nil {
		return fact{}, errors.Wrap(err, "a campaign file is one JSON object")
	}
	if named, ok := members[campaignMember]; ok {
		delete(members, campaignMember)
		if err := json.Unmarshal(named, pick(campaign == "", &campaign)); err != nil {
			return fact{}, errors.Wrapf(err, "/%s", campaignMember)
		}
	}
	if campaign == "" {
		return fact{}, errors.Newf("the file has no member %q and no --campaign is given", campaignMember)
	}
	data, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return fact{}, errors.Wrap(err, "print the campaign")
	}
	return fact{campaign: campaign, kind: domain.KindCampaign, data: data}, checkOpening(campaign, data)
}

// pick gives target when it is wanted, else a place that nobody looks at.
func pick(wanted bool, target *string) *string {
	if wanted {
		return target
	}
	return new(string)
}

func checkOpening(campaign string, data []byte) error {
	opening, refusal := events.DecodeOpening(data)
	if refusal == nil {
		_, refusal = opening.Expand(campaign)
	}
	if refusal == nil {
		return nil
	}
	if refusal.Field == "" {
		return errors.Newf("%s", refusal.Message)
	}
	return errors.Newf("%s: %s", refusal.Field, refusal.Message)
}
