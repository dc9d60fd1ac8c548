package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/natsclient"
	"github.com/ledgerd/ledgerd/internal/progress"
	"github.com/ledgerd/ledgerd/projections"
)

type rebuildCommand struct {
	natsclient.Flags
	DatabaseURL string             `placeholder:"URL" help:"Where the views are kept, when not in the data directory: postgres://…"`
	Views       []projections.View `arg:"" optional:"" help:"Views to rebuild (default: all)."`
	Accept      bool               `help:"Switch although rows differ from the live ones, or the ledger is another one."`
	JSON        bool               `name:"json" help:"Print JSON instead of sentences."`
}

// Help is shown below the command's flags.
func (rebuildCommand) Help() string {
	return `The views are made anew beside the live ones, compared with them, and switched in one step; readers go on meanwhile. A difference at the same fold version refuses the switch: the rebuilt rows come from the ledger alone, so the live ones are wrong. Look at it, then --accept.

Example:
  ledgerd rebuild
  ledgerd rebuild campaigns cells`
}

// Validate is kong's check.
func (c *rebuildCommand) Validate() error {
	for _, view := range c.Views {
		if !view.Known() {
			return errors.Newf("no view is called %q; the views are %v", view, projections.Views())
		}
	}
	return nil
}

func (c *rebuildCommand) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) (err error) {
	source, err := openSource(ctx, c.Flags, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, source.close()) }()
	store, err := openViews(ctx, c.DataDir, c.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, store.Close()) }()
	bar := &rebuildBar{streams: streams}
	rebuilt, err := projections.Rebuild(ctx, projections.RebuildConfig{
		Log: source.ledger, Store: store, Views: c.Views, Accept: c.Accept, Progress: bar.show, Logger: log,
	})
	bar.end()
	if c.JSON && rebuilt.Comparison != nil {
		err = errors.CombineErrors(err, printJSON(streams.Out, rebuilt.Comparison))
	}
	if err != nil {
		return withDifference(err, rebuilt.Comparison)
	}
	fmt.Fprintf(streams.Err, "the views were rebuilt and switched as of ledger index %d, in %s\n", rebuilt.Position.AsOf(), rebuilt.Took.Round(time.Millisecond))
	return nil
}

// withDifference shows the row that keeps a rebuild from being switched.
func withDifference(err error, comparison *projections.Comparison) error {
	if comparison == nil || comparison.Difference() == nil {
		return err
	}
	d := comparison.Difference()
	return errors.WithHintf(err, "first difference, view %s, row %s:\n  live  %s\n  built %s", d.View, d.Key, orNone(d.Live), orNone(d.Built))
}

// rebuildBar shows how far the folding is.
type rebuildBar struct {
	streams cli.Streams
	bar     *progress.Progress
}

func (b *rebuildBar) show(p projections.RebuildProgress) {
	if p.Stage != projections.StageLoad {
		b.end()
		return
	}
	if b.bar == nil {
		b.bar = progress.Start(b.streams.Err, "folding decisions", int64(p.Target))
	}
	b.bar.Set(int64(p.Read))
}

func (b *rebuildBar) end() {
	if b.bar != nil {
		b.bar.Done()
		b.bar = nil
	}
}
