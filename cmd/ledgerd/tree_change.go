package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/datadir"
	"github.com/ledgerd/ledgerd/internal/natsclient"
	"github.com/ledgerd/ledgerd/internal/progress"
	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/internal/tree/treestore"
)

type treeRotateKey struct {
	DataDir string `name:"data-dir" default:"./ledger-data" placeholder:"DIR" help:"The ledger's data directory."`
}

// Help is shown below the command's flags.
func (treeRotateKey) Help() string {
	return `New heads are signed with the new key from the next start on. The old public key stays, so that old heads and receipts verify; its secret is removed. A note by which the old key names the new one is kept and served at /v1/tree/keys. Tell those who verify.`
}

func (c *treeRotateKey) Run(_ context.Context, streams cli.Streams) (err error) {
	dir, err := datadir.OpenExisting(c.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, dir.Close()) }()
	keys, err := treestore.Rotate(dir.Path(), time.Now())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(streams.Out, keys.Current())
	return errors.Wrap(err, "print the key")
}

type treeRebuild struct {
	natsclient.Flags
}

// Help is shown below the command's flags.
func (treeRebuild) Help() string {
	return `For a tree whose stored hashes are damaged. The heads that were signed stay, and the tree is compared with each of them when it gets there: a ledger that is not the one that was signed is refused.`
}

func (c *treeRebuild) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) (err error) {
	source, dataDir, err := c.open(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, source.close()) }()
	if err := resetTree(ctx, dataDir); err != nil {
		return err
	}
	tail, err := source.ledger.Tail(ctx)
	if err != nil {
		return errors.Wrap(err, "read the end of LEDGER")
	}
	merkle, closing, err := openTree(ctx, dataDir, "", source.ledger, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, closing()) }()
	state, err := growTree(ctx, merkle, int64(tail.Last), streams)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(streams.Out, "the tree of %d records has root %s, as it was signed\n", state.Size(), state.Root)
	return errors.Wrap(err, "print the root")
}

// open holds the data directory and opens the ledger behind it.
func (c *treeRebuild) open(ctx context.Context, log *slog.Logger) (*source, string, error) {
	if c.NATSURL == "" {
		source, err := openStopped(ctx, c.DataDir, log)
		if err != nil {
			return nil, "", err
		}
		return source, source.dir.Path(), nil
	}
	dir, err := datadir.OpenExisting(c.DataDir)
	if err != nil {
		return nil, "", err
	}
	external, err := openSource(ctx, c.Flags, log)
	if err != nil {
		return nil, "", errors.CombineErrors(err, dir.Close())
	}
	closing := external.close
	external.close = func() error { return errors.CombineErrors(closing(), dir.Close()) }
	return external, dir.Path(), nil
}

func resetTree(ctx context.Context, dataDir string) error {
	store, _, err := openTreeFile(ctx, dataDir)
	if err != nil {
		return err
	}
	return errors.CombineErrors(store.Reset(ctx), store.Close())
}

// growTree runs a tree until it has size records.
func growTree(ctx context.Context, merkle *tree.Tree, size int64, streams cli.Streams) (tree.State, error) {
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- merkle.Run(running) }()
	bar := progress.Start(streams.Err, "hashing records", size)
	var state tree.State
	var err error
	for step := int64(0); err == nil && state.Size() < size || step == 0; step++ {
		if state, err = merkle.WaitFor(ctx, min(size, state.Size()+1)); err == nil {
			bar.Set(state.Size())
		}
	}
	bar.Done()
	cancel()
	return state, errors.CombineErrors(err, <-ended)
}
