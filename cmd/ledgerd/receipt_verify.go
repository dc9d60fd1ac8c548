package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/tree"
)

type receiptVerify struct {
	File string   `arg:"" help:"The receipt or bundle, - for standard input."`
	Key  []string `required:"" placeholder:"KEY" help:"The ledger's public key, or a file with it; repeat it for keys before. A key inside the receipt is never trusted."`
	JSON bool     `name:"json" help:"Print JSON instead of sentences."`
}

// Help is shown below the command's flags.
func (receiptVerify) Help() string {
	return `Needs no ledger and no network. Exit code 0: the decision is in the ledger whose key was given, under the head in the receipt. 1: it is not proven.

Example:
  ledgerd tree key > ledger.pub       once, on the ledger's machine
  ledgerd receipt verify receipt.json --key ledger.pub`
}

// verifiedReceipt is what --json prints.
type verifiedReceipt struct {
	OK          bool           `json:"ok"`
	Index       uint64         `json:"index"`
	Campaign    string         `json:"campaign"`
	Kind        domain.Kind    `json:"kind"`
	Outcome     domain.Outcome `json:"outcome"`
	Reason      domain.Reason  `json:"reason"`
	ImportKey   string         `json:"import_key"` // "" unless a cell was imported
	DecidedAt   string         `json:"decided_at"` // the arrival's stream time
	Origin      string         `json:"origin"`
	Size        int64          `json:"size"` // of the tree
	Root        string         `json:"root"`
	VerifierKey string         `json:"verifier_key"`
	Evidence    tree.Evidence  `json:"evidence"`
}

func (c *receiptVerify) Run(_ context.Context, streams cli.Streams) error {
	keys, err := readKeys(c.Key)
	if err != nil {
		return err
	}
	file, err := readReceipt(streams.In, c.File)
	if err != nil {
		return err
	}
	if tree.IsBundle(file) {
		return c.verifyBundle(file, keys, streams.Out)
	}
	verified, err := tree.VerifyReceipt(file, keys...)
	if err != nil {
		return errors.Wrapf(err, "%s is not proven", c.File)
	}
	summary := summarise(verified)
	if c.JSON {
		return printJSON(streams.Out, summary)
	}
	_, err = io.WriteString(streams.Out, summary.text())
	return errors.Wrap(err, "print the result")
}

// readReceipt reads no more than a receipt or a bundle can have.
func readReceipt(in io.Reader, path string) ([]byte, error) {
	if path != "-" {
		opened, err := os.Open(path)
		if err != nil {
			return nil, errors.Wrap(err, "read the receipt")
		}
		defer opened.Close()
		in = opened
	}
	file, err := io.ReadAll(io.LimitReader(in, tree.MaxBundleBytes+1))
	return file, errors.Wrap(err, "read the receipt")
}

func summarise(v *tree.Verified) verifiedReceipt {
	d := v.Decision
	summary := verifiedReceipt{
		OK: true, Index: d.Index, Campaign: d.Campaign, Kind: d.Kind, Outcome: d.Outcome, Reason: d.Reason,
		DecidedAt: d.Arrival.Time.UTC().Format("2006-01-02T15:04:05.000000Z"), Origin: v.Head.Origin, Size: v.Head.Size,
		Root: v.Head.Root.String(), VerifierKey: v.Receipt.VerifierKey, Evidence: v.Receipt.Evidence,
	}
	if imported, ok := d.Latest().(*domain.CellImported); ok {
		summary.ImportKey = imported.Cell.ImportKey
	}
	return summary
}

func (s *verifiedReceipt) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "proven: decision %d is in the ledger %s, under its head of %d records\n", s.Index, s.Origin, s.Size)
	for _, line := range [][2]string{
		{"outcome", strings.TrimSpace(string(s.Outcome) + " " + string(s.Reason))}, {"campaign", orNone(s.Campaign)}, {"kind", orNone(string(s.Kind))},
		{"import key", orNone(s.ImportKey)}, {"arrived", s.DecidedAt}, {"arrival sha256", s.Evidence.ArrivalSHA256},
	} {
		fmt.Fprintf(&b, "  %-18s %s\n", line[0], line[1])
	}
	for _, document := range s.Evidence.Documents {
		fmt.Fprintf(&b, "  %-18s %s\n", document.Name+" sha256", document.SHA256)
	}
	return b.String()
}
