package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web/webtree"
	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/natsclient"
	"github.com/ledgerd/ledgerd/internal/tree"
)

type receiptCommands struct {
	Make   receiptMake   `cmd:"" default:"withargs" help:"Make a receipt (the default)."`
	Verify receiptVerify `cmd:"" help:"Verify a receipt, offline, with the public key alone."`
}

const (
	// headPatience is how long a receipt is waited for until a head covers its
	// decision: some head intervals.
	headPatience = 10 * time.Second
	// headPoll is how often it is looked for.
	headPoll = 100 * time.Millisecond
)

type receiptMake struct {
	natsclient.Flags
	DatabaseURL string  `placeholder:"URL" help:"Where the views are kept, when not in the data directory: postgres://…"`
	Key         string  `arg:"" name:"import-key" optional:"" help:"Import key (runId/runAttempt/executionId)."`
	Campaign    string  `placeholder:"ID" help:"Of the import key; needed when several campaigns have it."`
	Index       *uint64 `placeholder:"N" help:"Ledger index, instead of an import key: any decision has a receipt."`
	Output      string  `short:"o" placeholder:"FILE" help:"Write to a file (default: standard output)."`
}

// Help is shown below the command's flags.
func (receiptMake) Help() string {
	return `One file: the decision's record, its ledger index, the proof that it is in the tree, the signed tree head, and the evidence's digests. Keep its bytes as they are.

Example:
  ledgerd receipt 27401/1/chat.local.refund-r1 -o receipt.json
  ledgerd receipt verify receipt.json --key ledger.pub`
}

// Validate is kong's check.
func (c *receiptMake) Validate() error {
	if (c.Key == "") == (c.Index == nil) {
		return errors.Newf("give an import key or --index")
	}
	return nil
}

func (c *receiptMake) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) (err error) {
	index, err := c.index(ctx)
	if err != nil {
		return err
	}
	source, err := openSource(ctx, c.Flags, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, source.close()) }()
	store, keys, err := openTreeFile(ctx, c.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, store.Close()) }()
	reader, err := tree.NewReader(store, keys, source.ledger)
	if err != nil {
		return err
	}
	receipt, err := waitForReceipt(ctx, reader, int64(index), source.dir == nil)
	if err != nil {
		return err
	}
	return writeReceipt(streams, c.Output, receipt)
}

// index is which decision the receipt is for.
func (c *receiptMake) index(ctx context.Context) (index uint64, err error) {
	if c.Index != nil {
		return *c.Index, nil
	}
	store, err := openViews(ctx, c.DataDir, c.DatabaseURL)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.CombineErrors(err, store.Close()) }()
	index, err = webtree.FindImport(ctx, store, c.Key, c.Campaign)
	switch {
	case errors.Is(err, webtree.ErrNoImport):
		return 0, errors.WithHint(err, "`ledgerd query imports` lists the keys; `ledgerd query rejections` what was refused")
	case errors.Is(err, webtree.ErrManyImports):
		return 0, errors.WithHint(err, "say which by --campaign or by --index")
	}
	return index, err
}

// waitForReceipt makes a receipt as soon as a head covers the decision, which
// only a running daemon can sign.
func waitForReceipt(ctx context.Context, reader *tree.Reader, index int64, running bool) (*tree.Receipt, error) {
	deadline := time.After(headPatience)
	for {
		receipt, err := reader.Receipt(ctx, index)
		if !running || !errors.IsAny(err, tree.ErrBeyondHead, tree.ErrNoHead) {
			return receipt, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-deadline:
			return nil, errors.WithHint(err, "is there a decision with that index? /readyz says whether the tree follows the ledger")
		case <-time.After(headPoll):
		}
	}
}

func writeReceipt(streams cli.Streams, path string, receipt *tree.Receipt) error {
	if path == "" {
		_, err := streams.Out.Write(receipt.Encode())
		return errors.Wrap(err, "print the receipt")
	}
	const receiptMode = 0o644 // it is for showing
	return errors.Wrap(os.WriteFile(path, receipt.Encode(), receiptMode), "write the receipt")
}
