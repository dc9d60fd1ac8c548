package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web/webtree"
	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/natsclient"
	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/internal/tree/treestore"
)

type treeCommands struct {
	Head        treeHead        `cmd:"" help:"Print the last signed tree head."`
	Key         treeKey         `cmd:"" help:"Print the public key that tree heads are signed with."`
	Inclusion   treeInclusion   `cmd:"" help:"Prove that a record is in the tree."`
	Consistency treeConsistency `cmd:"" help:"Prove that a tree continues a smaller one."`
	Compare     treeCompare     `cmd:"" help:"Tell whether two signed heads can be of one ledger."`
	Check       treeCheck       `cmd:"" help:"Look through every stored hash."`
	Rebuild     treeRebuild     `cmd:"" help:"Make the hashes from the ledger again; no daemon may run."`
	RotateKey   treeRotateKey   `cmd:"" name:"rotate-key" help:"Make a new signing key; no daemon may run."`
}

// treeFlags say where the tree is. It is read directly, beside a running daemon
// or without one.
type treeFlags struct {
	DataDir string `name:"data-dir" default:"./ledger-data" placeholder:"DIR" help:"The ledger's data directory."`
	JSON    bool   `name:"json" help:"Print JSON, as HTTP answers it."`
}

// read opens the tree for one question.
func (f treeFlags) read(ctx context.Context, ask func(*tree.Reader) error) (err error) {
	reader, closing, err := readTree(ctx, f.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, closing()) }()
	return ask(reader)
}

// readTree opens what is stored, for questions that need no records.
func readTree(ctx context.Context, dataDir string) (*tree.Reader, func() error, error) {
	store, keys, err := openTreeFile(ctx, dataDir)
	if err != nil {
		return nil, nil, err
	}
	reader, err := tree.NewReader(store, keys, nil)
	if err != nil {
		return nil, nil, errors.CombineErrors(err, store.Close())
	}
	return reader, store.Close, nil
}

// openTreeFile opens a tree that is there, with its public keys.
func openTreeFile(ctx context.Context, dataDir string) (*treestore.Store, *tree.Keys, error) {
	if _, err := os.Stat(treestore.File(dataDir)); err != nil {
		return nil, nil, errors.WithHint(errors.Newf("%s holds no tree", dataDir),
			"check --data-dir (default "+natsclient.DefaultDataDir+"); `ledgerd serve` makes a ledger there")
	}
	keys, err := treestore.ReadKeys(dataDir)
	if err != nil {
		return nil, nil, err
	}
	store, err := treestore.Open(ctx, treestore.File(dataDir))
	return store, keys, err
}

// print prints an answer as JSON, or as text.
func (f treeFlags) print(streams cli.Streams, answer any, format string, args ...any) error {
	if f.JSON {
		return printJSON(streams.Out, answer)
	}
	_, err := fmt.Fprintf(streams.Out, format, args...)
	return errors.Wrap(err, "print the answer")
}

type treeHead struct {
	treeFlags
	Size int64 `placeholder:"N" help:"The last head of at most N records, instead of the last one."`
}

func (c *treeHead) Run(ctx context.Context, streams cli.Streams) error {
	return c.read(ctx, func(r *tree.Reader) error {
		size := c.Size
		if size == 0 {
			size = math.MaxInt64
		}
		head, err := r.HeadAt(ctx, size)
		if err != nil {
			return err
		}
		return c.print(streams, webtree.NewHead(head), "%s", head.Note)
	})
}

type treeKey struct {
	treeFlags
	All bool `help:"Print every key that ever signed, oldest first, with the time since when."`
}

func (c *treeKey) Run(_ context.Context, streams cli.Streams) error {
	keys, err := treestore.ReadKeys(c.DataDir)
	switch {
	case err != nil:
		return err
	case c.JSON:
		return printJSON(streams.Out, webtree.NewKeys(keys))
	case !c.All:
		return c.print(streams, nil, "%s\n", keys.Current())
	}
	for _, key := range keys.All {
		if err := c.print(streams, nil, "%s  since %s\n", key.Verifier, key.Since.Format(time.RFC3339)); err != nil {
			return err
		}
	}
	return nil
}

type treeInclusion struct {
	treeFlags
	Index int64 `arg:"" help:"The record's ledger index."`
	Size  int64 `placeholder:"N" help:"Size of the tree (default: the last head's)."`
}

func (c *treeInclusion) Run(ctx context.Context, streams cli.Streams) error {
	return c.read(ctx, func(r *tree.Reader) error {
		proof, err := r.Inclusion(ctx, c.Index, c.Size)
		if err != nil {
			return err
		}
		return c.print(streams, webtree.NewInclusion(proof), "record %d is in the tree of %d records\nleaf %s\nroot %s\n%s",
			proof.Index, proof.Size, proof.Leaf, proof.Root, hashLines(proof.Proof))
	})
}

type treeConsistency struct {
	treeFlags
	From int64 `arg:"" help:"Size of the smaller tree."`
	To   int64 `arg:"" optional:"" help:"Size of the larger tree (default: the last head's)."`
}

func (c *treeConsistency) Run(ctx context.Context, streams cli.Streams) error {
	return c.read(ctx, func(r *tree.Reader) error {
		proof, err := r.Consistency(ctx, c.From, c.To)
		if err != nil {
			return err
		}
		return c.print(streams, webtree.NewConsistency(proof), "the tree of %d records continues the one of %d\nold root %s\nnew root %s\n%s",
			proof.To, proof.From, proof.FromRoot, proof.ToRoot, hashLines(proof.Proof))
	})
}

func hashLines[H fmt.Stringer, P ~[]H](proof P) string {
	text := ""
	for i, hash := range proof {
		text += fmt.Sprintf("hash %d %s\n", i, hash)
	}
	return text
}

type treeCheck struct{ treeFlags }

func (c *treeCheck) Run(ctx context.Context, streams cli.Streams) error {
	return c.read(ctx, func(r *tree.Reader) error {
		if err := r.Audit(ctx); err != nil {
			return err
		}
		head, err := r.Head(ctx)
		if err != nil {
			return err
		}
		return c.print(streams, webtree.NewHead(head), "every stored hash is right; the last head has %d records and root %s\n", head.Size, head.Root)
	})
}
