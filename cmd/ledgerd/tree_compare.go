package main

import (
	"context"
	"os"
	"strings"

	"github.com/cockroachdb/errors"
	"golang.org/x/mod/sumdb/note"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web/webtree"
	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/tree"
)

type treeCompare struct {
	treeFlags
	A     string   `arg:"" name:"head-a" help:"File with a signed head, as /checkpoint and \"tree head\" give it."`
	B     string   `arg:"" name:"head-b" help:"Another one."`
	Key   []string `required:"" placeholder:"KEY" help:"The ledger's public key, or a file with it; repeat it for keys before."`
	Proof string   `placeholder:"FILE" help:"Proof between their sizes, as /v1/proofs/consistency and \"tree consistency --json\" give it (default: asked of the tree in --data-dir)."`
}

// Help is shown below the command's flags.
func (treeCompare) Help() string {
	return `Both heads must be signed by a given key. Two heads of one size with different roots, or a ledger that cannot prove the one from the other, are a split view: somebody was shown another history. The exit code is then 1, and the two files are the evidence.

Example:
  ledgerd tree compare old-head.txt new-head.txt --key ledger.pub --proof proof.json`
}

// comparison is what --json prints.
type comparison struct {
	Consistent bool  `json:"consistent"`
	From       int64 `json:"from"`
	To         int64 `json:"to"`
}

func (c *treeCompare) Run(ctx context.Context, streams cli.Streams) error {
	keys, err := readKeys(c.Key)
	if err != nil {
		return err
	}
	a, err := openHeadFile(c.A, keys)
	if err != nil {
		return err
	}
	b, err := openHeadFile(c.B, keys)
	if err != nil {
		return err
	}
	if err := tree.CompareHeads(a, b, func(from, to int64) (tree.Consistency, error) { return c.prove(ctx, from, to) }); err != nil {
		return err
	}
	from, to := min(a.Size, b.Size), max(a.Size, b.Size)
	return c.print(streams, comparison{true, from, to}, "the head of %d records continues the one of %d\n", to, from)
}

// prove reads the proof that was given, or asks the tree.
func (c *treeCompare) prove(ctx context.Context, from, to int64) (proof tree.Consistency, err error) {
	if c.Proof != "" {
		raw, err := os.ReadFile(c.Proof)
		if err != nil {
			return proof, errors.Wrap(err, "read the proof")
		}
		return webtree.ReadConsistency(raw)
	}
	err = c.read(ctx, func(r *tree.Reader) error {
		proof, err = r.Consistency(ctx, from, to)
		return err
	})
	return proof, err
}

func openHeadFile(path string, texts []string) (tree.Head, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return tree.Head{}, errors.Wrap(err, "read a head")
	}
	keys := make([]note.Verifier, len(texts))
	for i, text := range texts {
		if keys[i], err = tree.ParseKey(text); err != nil {
			return tree.Head{}, err
		}
	}
	head, err := tree.OpenHead(string(raw), keys...)
	return head, errors.Wrapf(err, "%s", path)
}

// readKeys takes public keys as they are, or reads them from files, a key a
// line.
func readKeys(values []string) ([]string, error) {
	var keys []string
	for _, value := range values {
		if _, err := tree.ParseKey(value); err == nil {
			keys = append(keys, value)
			continue
		}
		raw, err := os.ReadFile(value)
		if err != nil {
			return nil, errors.WithHint(cli.Usagef("--key is neither a public key nor a file that can be read"),
				"`ledgerd tree key` prints a ledger's key; get it another way than the receipt or head came")
		}
		for _, line := range strings.Fields(string(raw)) {
			if _, err := tree.ParseKey(line); err != nil {
				return nil, errors.Mark(errors.Wrapf(err, "--key %s", value), cli.ErrUsage)
			}
			keys = append(keys, line)
		}
	}
	return keys, nil
}
