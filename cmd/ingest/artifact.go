package main

import (
	"context"
	"log/slog"
	"strings"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/archive"
	"github.com/ledgerd/ledgerd/internal/cli"
)

type artifactCommand struct {
	sendFlags
	File       string `arg:"" help:"The artifact as the CI keeps it: a zip file."`
	Campaign   string `required:"" placeholder:"ID" help:"Campaign that the cells are for."`
	Provenance string `required:"" placeholder:"FILE" help:"Where the artifact comes from, as the CI's API says: a JSON file, or - for standard input."`
	PathPrefix string `placeholder:"DIR" help:"Put before entries that lack it, since uploaders strip common folders (default: the policy's results prefix)."`
	Policy     string `placeholder:"FILE" help:"The campaign's policy, when it is not the preset paperclip-chat: file patterns and results prefix are taken from it."`
}

// Help is shown below the command's flags.
func (artifactCommand) Help() string {
	return `The archive is hashed, and each execution's result, host and definition are found in it. One bad execution and nothing is published.

The provenance file:
  {"repository":"paperclipai/paperclip","workflow":"runner-full-stack-e2e.yml","workflowRef":"refs/heads/master","runId":"10290811331",
   "runAttempt":1,"artifactId":"4074995751","targetSourceRevision":"431c72fa01eac861c0da8c8101375b849495e13e"}

Example:
  ingest artifact results.zip --campaign chat-review --provenance provenance.json --wait`
}

func (c *artifactCommand) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) error {
	policy, err := c.policy(streams)
	if err != nil {
		return err
	}
	provenance, err := c.provenance(streams)
	if err != nil {
		return err
	}
	found, err := archive.Open(ctx, c.File, archive.Options{
		Documents:  archive.Documents(policy.Documents),
		PathPrefix: policy.ResultsPrefix,
	})
	if err != nil {
		return errors.Mark(errors.Wrap(err, "nothing was published"), cli.ErrUsage)
	}
	facts, err := c.facts(found, provenance)
	if err != nil {
		return err
	}
	return c.send(ctx, streams, log, facts)
}

// policy is what file patterns and the results prefix come from.
func (c *artifactCommand) policy(streams cli.Streams) (*domain.Policy, error) {
	policy, _ := domain.Preset(domain.PresetPaperclipChat)
	if c.Policy != "" {
		raw, err := readFile(c.Policy, streams)
		if err != nil {
			return nil, err
		}
		var refusal *domain.Refusal
		if policy, refusal = events.DecodePolicy(raw); refusal != nil {
			return nil, cli.Usagef("%s: %s: %s", c.Policy, refusal.Field, refusal.Message)
		}
	}
	if c.PathPrefix != "" {
		policy.ResultsPrefix = c.PathPrefix
	}
	return policy, nil
}

func (c *artifactCommand) provenance(streams cli.Streams) (*domain.Provenance, error) {
	raw, err := readFile(c.Provenance, streams)
	if err != nil {
		return nil, err
	}
	provenance, refusal := events.DecodeProvenance(raw)
	if refusal != nil {
		return nil, errors.WithHint(cli.Usagef("%s: %s: %s", c.Provenance, refusal.Field, refusal.Message), "`ingest artifact --help` shows the file")
	}
	return provenance, nil
}

// spelt gives a digest as records spell it: GitHub's API writes sha256: before
// it, PowerShell writes it in capitals.
func spelt(digest string) string {
	return strings.TrimPrefix(strings.ToLower(digest), "sha256:")
}

// facts are one arrival a cell.
func (c *artifactCommand) facts(found *archive.Archive, provenance *domain.Provenance) ([]fact, error) {
	switch said := spelt(provenance.ArchiveSHA256); {
	case said == "" || said == found.SHA256:
	case len(said) != len(found.SHA256):
		return nil, errors.WithHint(cli.Usagef("the provenance's archiveSha256 is %q; nothing was published", provenance.ArchiveSHA256),
			"It must be 64 hex digits, with or without sha256: before them.")
	default:
		return nil, errors.WithHint(cli.Usagef("the archive's SHA-256 is %s, the provenance says %s; nothing was published", found.SHA256, provenance.ArchiveSHA256),
			"download the artifact again: this is not the one that the CI keeps")
	}
	provenance.ArchiveSHA256 = found.SHA256
	source, err := json.Marshal(provenance)
	if err != nil {
		return nil, errors.Wrap(err, "print the provenance")
	}
	var facts []fact
	for i := range found.Executions {
		data, err := archive.CellBody(source, &found.Executions[i])
		if err != nil {
			return nil, err
		}
		facts = append(facts, fact{campaign: c.Campaign, kind: domain.KindCell, data: data})
	}
	return facts, nil
}
