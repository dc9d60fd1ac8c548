package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/cmd/ingest/internal/observer"
	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/strictjson"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/cli"
)

type checkpointCommands struct {
	Observe observeCommand `cmd:"" default:"withargs" help:"Read a runner's database until a claimed checkpoint read is bound or rejected, and publish what was found (the default)."`
	Project projectCommand `cmd:"" help:"Project checkpoints, without a ledger or database."`
}

// profiles are the providers whose checkpoints can be read.
var profiles = map[string]func() checkpoint.Profile{"kimi-context": checkpoint.KimiContext}

type observeCommand struct {
	sendFlags
	databaseFlags
	layoutFlags
	Campaign    string        `required:"" placeholder:"ID" help:"Campaign that the read belongs to."`
	Publication string        `required:"" placeholder:"FILE" help:"The claim: a JSON object of ids, or - for standard input."`
	Profile     string        `enum:"kimi-context" default:"kimi-context" help:"Provider, tool and prompt names: kimi-context."`
	Deadline    time.Duration `default:"5m" help:"How long to poll, a database that is away included; exit 1 when it has passed."`
	Interval    time.Duration `default:"2s" help:"How long to wait between two reads."`
	Once        bool          `help:"Read and publish once, whatever the answer is."`
}

// Help is shown below the command's flags.
func (observeCommand) Help() string {
	return `Nothing is ever written to the runner's database: each read is one read-only transaction. A pending answer is published once, not at every poll. The ledger binds the read again by itself.

Example:
  ingest checkpoint --campaign chat-review --publication claim.json --database-url postgres://observer@127.0.0.1:5432/runner --wait`
}

// Validate is kong's check.
func (c *observeCommand) Validate() error {
	if c.Deadline <= 0 {
		return errors.New("--deadline must be longer than 0s")
	}
	if c.Interval <= 0 {
		return errors.New("--interval must be longer than 0s")
	}
	if err := c.check(); err != nil {
		return err
	}
	return c.sendFlags.Validate()
}

// databaseFlags say which database is the runner's.
type databaseFlags struct {
	DatabaseURL    string `name:"database-url" env:"LEDGERD_RUNNER_DATABASE_URL" xor:"database" placeholder:"URL" help:"The runner's Postgres: postgres://…"`
	InstanceRoot   string `xor:"database" placeholder:"DIR" help:"In place of --database-url: directory that an instance with an embedded database was set apart under."`
	InstanceHome   string `placeholder:"DIR" help:"The instance's home, below --instance-root."`
	InstanceID     string `name:"instance-id" placeholder:"ID" help:"The instance's id."`
	InstanceConfig string `placeholder:"FILE" help:"The instance's config.json, below its home."`
}

// check refuses flags that name no database, or two. The parser does not see
// that one of two comes from the environment.
func (f databaseFlags) check() error {
	switch {
	case f.DatabaseURL != "" && f.InstanceRoot+f.InstanceHome+f.InstanceID+f.InstanceConfig != "":
		return errors.New("--database-url and --instance-root name two databases: give one (LEDGERD_RUNNER_DATABASE_URL is --database-url)")
	case f.DatabaseURL == "" && f.InstanceRoot == "":
		return errors.New("no database is given: use --database-url, or --instance-root with --instance-home, --instance-id and --instance-config")
	}
	return nil
}

func (f databaseFlags) url() (string, error) {
	if f.InstanceRoot == "" {
		return f.DatabaseURL, nil
	}
	return observer.Instance{Root: f.InstanceRoot, Home: f.InstanceHome, ID: f.InstanceID, Config: f.InstanceConfig}.DatabaseURL()
}

// layoutFlags say where a deployment keeps its records.
type layoutFlags struct {
	CheckpointsTable string `default:"native_runner_checkpoints" help:"Table with one row a run."`
	EvidenceColumn   string `default:"recovery_evidence" help:"Its column with the recovery evidence."`
	RecordsTable     string `default:"native_runner_checkpoint_records" help:"Table with the records."`
	KeyColumn        string `default:"record_key" help:"Its column with a record's key."`
	TextColumn       string `default:"record_text" help:"Its column with a record's text."`
	OrderColumn      string `default:"position" help:"Its column with the records' order."`
}

func (f layoutFlags) layout() observer.Layout {
	layout := observer.DefaultLayout()
	layout.Checkpoints, layout.Evidence = f.CheckpointsTable, f.EvidenceColumn
	layout.Records, layout.Key, layout.Text, layout.Order = f.RecordsTable, f.KeyColumn, f.TextColumn, f.OrderColumn
	return layout
}

func (c *observeCommand) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) error {
	err := c.observe(ctx, streams, log)
	if errors.IsAny(err, observer.ErrPublication, observer.ErrConfig, observer.ErrNotIsolated) {
		return errors.Mark(err, cli.ErrUsage) // nothing was read: what was given cannot be used
	}
	return err
}

func (c *observeCommand) observe(ctx context.Context, streams cli.Streams, log *slog.Logger) error {
	publication, err := c.claim(streams)
	if err != nil {
		return err
	}
	url, err := c.url()
	if err != nil {
		return err
	}
	source, err := observer.New(observer.Config{URL: url, Layout: c.layout(), Profile: profiles[c.Profile]()})
	if err != nil {
		return err
	}
	defer source.Close()
	publish := func(ctx context.Context, reading observer.Reading) error {
		return c.publish(ctx, streams, log, reading)
	}
	if c.Once {
		return c.once(ctx, source, publication, publish)
	}
	bounded, cancel := context.WithTimeout(ctx, c.Deadline)
	defer cancel()
	_, err = observer.Poll(bounded, source, publication, observer.Polling{
		Interval: c.Interval,
		Publish:  func(_ context.Context, reading observer.Reading) error { return publish(ctx, reading) }, // the deadline is for reading
		Retrying: func(err error) { log.Warn("reading the runner's database again", "error", err) },
	})
	return err
}

func (c *observeCommand) claim(streams cli.Streams) (checkpoint.Publication, error) {
	raw, err := readFile(c.Publication, streams)
	if err != nil {
		return checkpoint.Publication{}, err
	}
	claim, err := strictjson.Parse(raw)
	if err == nil && claim.Kind() != strictjson.Object {
		err = errors.Newf("it is %s", claim.Kind())
	}
	if err != nil {
		return checkpoint.Publication{}, errors.WithHintf(errors.Mark(errors.Wrapf(err, "%s is no claim", c.Publication), cli.ErrUsage),
			"it must be a JSON object with a string for each of %v", checkpoint.PublicationIDs())
	}
	return claim, nil
}

func (c *observeCommand) once(ctx context.Context, source *observer.Observer, publication checkpoint.Publication, publish func(context.Context, observer.Reading) error) error {
	reading, err := source.Read(ctx, publication)
	if err != nil {
		return err
	}
	if reading.Read == nil {
		return errors.WithHint(errors.New("the run has no checkpoint yet; nothing was published"), "leave --once out to wait for it")
	}
	return publish(ctx, reading)
}

// publish sends what was read. The answer here is said for people; the ledger
// makes its own.
func (c *observeCommand) publish(ctx context.Context, streams cli.Streams, log *slog.Logger, reading observer.Reading) error {
	fmt.Fprintf(streams.Err, "the runner's checkpoint: %s%s\n", reading.Result.Outcome, sentence(reading.Result.Message))
	data, err := events.EncodeCheckpoint(reading.Read)
	if err != nil {
		return err
	}
	return c.send(ctx, streams, log, []fact{{campaign: c.Campaign, kind: domain.KindCheckpoint, data: data}})
}

func sentence(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}
