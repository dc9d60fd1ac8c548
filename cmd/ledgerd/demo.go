package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/natsclient"
	"github.com/ledgerd/ledgerd/internal/simci"
)

type demoCommand struct {
	Once bool   `help:"Exit when everything is decided, instead of serving on."`
	JSON bool   `name:"json" help:"Print one JSON object instead of tables."`
	Seed uint64 `default:"1" help:"Another number is another simulated CI."`
}

// Help is shown below the command's flags.
func (demoCommand) Help() string {
	return `Starts a daemon in a temporary directory on free ports, lets a simulated CI's jobs write their artifacts, and publishes what is in them: late, repeated, out of order, edited, from the wrong branch, re-run, conflicting, unreadable. Meanwhile observers read the checkpoints of some runs. Then it shows what the ledger made of it, and whether that is what it must be.

Example:
  ledgerd demo --once`
}

func (c *demoCommand) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) (err error) {
	dir, err := os.MkdirTemp("", "ledgerd-demo-")
	if err != nil {
		return errors.Wrap(err, "make a temporary directory")
	}
	defer func() { err = errors.CombineErrors(err, os.RemoveAll(dir)) }()
	// What the daemon logs is not what the demo is about, unless it is grave.
	quiet := slog.New(levelHandler{log.Handler(), slog.LevelWarn})
	return withDaemon(ctx, filepath.Join(dir, "ledger"), quiet, func(ctx context.Context, d *daemon) error {
		if err := c.show(ctx, d, filepath.Join(dir, "artifacts"), streams, quiet); err != nil || c.Once {
			return err
		}
		fmt.Fprintf(streams.Err, "still serving at %s; --data-dir is %s; interrupt to end\n", d.httpURL(), d.dir.Path())
		<-ctx.Done()
		return nil
	})
}

// withDaemon runs a daemon in a directory, on free ports, for as long as use
// takes. When one of the two fails both end.
func withDaemon(ctx context.Context, dataDir string, log *slog.Logger, use func(context.Context, *daemon) error) error {
	d, err := openDaemon(ctx, serveCommand{
		Flags: natsclient.Flags{DataDir: dataDir}, Listen: "127.0.0.1:0", NATSListen: "127.0.0.1:0",
	}, log)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ready := make(chan struct{})
	d.announced = func() { close(ready) }
	ended := make(chan error, 1)
	go func() {
		ended <- d.run(ctx)
		cancel() // a daemon that ends takes its user along
	}()
	var used error
	select {
	case <-ready:
		used = use(ctx, d)
	case <-ctx.Done():
	}
	cancel()
	return errors.CombineErrors(<-ended, used)
}

// show runs the simulated CI and prints what became of it.
func (c *demoCommand) show(ctx context.Context, d *daemon, artifacts string, streams cli.Streams, log *slog.Logger) error {
	ci, err := simci.New(simci.Demo(c.Seed))
	if err != nil {
		return err
	}
	written, err := ci.WriteArtifacts(ctx, artifacts)
	if err != nil {
		return err
	}
	fmt.Fprintf(streams.Err, "the CI's jobs left %d artifacts for %d campaigns\n", len(written), len(ci.Campaigns()))
	run := demoRun{daemon: d, ci: ci, log: log}
	if err := run.publish(ctx, artifacts, streams.Err); err != nil {
		return err
	}
	summary, err := run.summarise(ctx)
	if err != nil {
		return err
	}
	if err := run.check(ctx, summary); err != nil {
		return err
	}
	if c.JSON {
		return printLine(streams.Out, summary)
	}
	out := bufio.NewWriter(streams.Out) // keeps the first error of many prints
	err = run.print(ctx, out, summary)
	return errors.CombineErrors(err, errors.Wrap(out.Flush(), "print the tables"))
}

// levelHandler drops what is less grave than a level.
type levelHandler struct {
	slog.Handler
	level slog.Level
}

func (h levelHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.level && h.Handler.Enabled(ctx, level)
}

func (h levelHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return levelHandler{h.Handler.WithAttrs(attrs), h.level}
}

func (h levelHandler) WithGroup(name string) slog.Handler {
	return levelHandler{h.Handler.WithGroup(name), h.level}
}

// heading is a line above a table.
func heading(out io.Writer, format string, args ...any) {
	fmt.Fprintf(out, "\n"+format+"\n", args...)
}
