package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/natsclient"
	"github.com/ledgerd/ledgerd/internal/tree"
)

type bundleCommand struct {
	natsclient.Flags
	Campaign string `arg:"" help:"The campaign's id."`
	Output   string `short:"o" placeholder:"FILE" help:"Write to a file (default: standard output)."`
}

// Help is shown below the command's flags.
func (bundleCommand) Help() string {
	return `One file: the campaign's records from its opening to its seal, byte for byte, and of no other campaign, with the proofs of the first and the last under one signed tree head. Each record names the campaign's one before it, so nothing between them can be missing: ledgerd receipt verify folds them again and derives the verdict, the counts and what was spent, what refused cells claim included. Before the seal it goes to the last record there is.

Example:
  ledgerd bundle refunds-1 -o refunds-1.bundle
  ledgerd receipt verify refunds-1.bundle --key ledger.pub`
}

func (c *bundleCommand) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) (err error) {
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
	bundle, err := waitForBundle(ctx, reader, c.Campaign, source.dir == nil)
	if errors.Is(err, tree.ErrNoCampaign) {
		return errors.WithHint(err, "`ledgerd query campaigns` lists what was opened.")
	}
	if err != nil {
		return err
	}
	return writeBundle(streams, c.Output, bundle)
}

// waitForBundle makes a bundle as soon as a head covers its last record, which
// only a running daemon can sign.
func waitForBundle(ctx context.Context, reader *tree.Reader, campaign string, running bool) (*tree.Bundle, error) {
	deadline := time.After(headPatience)
	for {
		bundle, err := reader.CampaignBundle(ctx, campaign)
		if !running || !errors.IsAny(err, tree.ErrBeyondHead, tree.ErrNoHead) {
			return bundle, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-deadline:
			return nil, errors.WithHint(err, "/readyz says whether the tree follows the ledger.")
		case <-time.After(headPoll):
		}
	}
}

func writeBundle(streams cli.Streams, path string, bundle *tree.Bundle) error {
	var file bytes.Buffer
	if _, err := bundle.WriteTo(&file); err != nil {
		return err
	}
	if path == "" {
		_, err := streams.Out.Write(file.Bytes())
		return errors.Wrap(err, "print the bundle")
	}
	const bundleMode = 0o644 // it is for showing
	return errors.Wrap(os.WriteFile(path, file.Bytes(), bundleMode), "write the bundle")
}

// verifiedBundle is what --json prints.
type verifiedBundle struct {
	OK             bool           `json:"ok"`
	Campaign       string         `json:"campaign"`
	SourceRevision string         `json:"source_revision"`
	Records        int            `json:"records"`
	Sealed         bool           `json:"sealed"`
	Index          uint64         `json:"index"` // of the last record
	Verdict        domain.Verdict `json:"verdict"`
	Tally          domain.Tally   `json:"tally"`
	RefusedSpend   domain.Spend   `json:"refused_spend"`
	Origin         string         `json:"origin"`
	Size           int64          `json:"size"` // of the tree
	Root           string         `json:"root"`
	VerifierKey    string         `json:"verifier_key"`
}

// verifyBundle proves a bundle and prints what it comes to.
func (c *receiptVerify) verifyBundle(file []byte, keys []string, out io.Writer) error {
	v, err := tree.VerifyBundle(file, keys...)
	if err != nil {
		return errors.Wrapf(err, "%s is not proven", c.File)
	}
	summary := verifiedBundle{OK: true, Campaign: v.Campaign, SourceRevision: v.State.Opening().SourceRevision, Records: v.Records, Sealed: v.Sealed,
		Index: v.Last.Index, Verdict: v.Verdict, Tally: v.Tally, RefusedSpend: v.Refused,
		Origin: v.Head.Origin, Size: v.Head.Size, Root: v.Head.Root.String(), VerifierKey: v.Key}
	if c.JSON {
		return printJSON(out, summary)
	}
	_, err = io.WriteString(out, summary.text())
	return errors.Wrap(err, "print the result")
}

func (s *verifiedBundle) text() string {
	var b strings.Builder
	until := "its seal"
	if !s.Sealed {
		until = "its last record here; it is not sealed, and what followed is not shown"
	}
	fmt.Fprintf(&b, "proven: campaign %s at %s is %s, by all %d of its records from its opening to %s (decision %d of %s, under its head of %d records)\n",
		s.Campaign, s.SourceRevision, s.Verdict.Word, s.Records, until, s.Index, s.Origin, s.Size)
	for _, reason := range s.Verdict.Reasons {
		fmt.Fprintf(&b, "  %d × %s%s\n", reason.Count, reason.Code, slotsText(reason))
	}
	for _, void := range s.Tally.Voids {
		fmt.Fprintf(&b, "  voided %s (%s) by %s: %s\n", void.Slot, failedWord(void.Failed), strconv.QuoteToASCII(void.Actor), strconv.QuoteToASCII(void.Reason))
	}
	t := &s.Tally
	fmt.Fprintf(&b, "  cells: %d selected, %d passed, %d failed, %d missing; %d voided (%d failed); %d refused (%d failed)\n",
		t.Selected, t.Passed, t.Failed, t.Missing, t.Voided, t.VoidedFailed, t.Refused, t.RefusedFailed)
	fmt.Fprintf(&b, "  spent: counted %s, voided %s, refused %s\n", boundText(t.Spend.Counted), boundText(t.Spend.Voided), boundText(s.RefusedSpend))
	b.WriteString("It cannot exclude other campaigns at this revision, nor what came after its last record.\n")
	return b.String()
}

func failedWord(failed bool) string {
	if failed {
		return "failed"
	}
	return "passed"
}

// boundText is a sum with what is known of it: "≥" when it is a lower bound.
func boundText(s domain.Spend) string {
	switch {
	case s.Cells == 0:
		return "nothing"
	case s.CostUSD == nil:
		return "unknown"
	case !s.Complete:
		return "≥ $" + *s.CostUSD
	}
	return "$" + *s.CostUSD
}
