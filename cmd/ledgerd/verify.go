package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/cockroachdb/errors"
	"golang.org/x/mod/sumdb/note"

	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/tree"
)

type verifyCommand struct {
	auditFlags
	Evidence    bool     `help:"Hash every arrival and every imported document again, too."`
	Heads       []string `name:"head" type:"existingfile" placeholder:"FILE" help:"A signed tree head that somebody keeps; the ledger must continue it. May be repeated."`
	Keys        []string `name:"key" placeholder:"KEY" help:"Public key of --head, or of the head that came with a backup, or a file with it, as ledgerd tree key prints it. May be repeated."`
	DatabaseURL string   `placeholder:"URL" help:"Where the views are kept, when not in the data directory: what they have seen must be there."`
	JSON        bool     `name:"json" help:"Print one JSON object instead of sentences."`
}

// Help is shown below the command's flags.
func (verifyCommand) Help() string {
	return `Walks the ledger from its first record to its last: that none is missing, each is canonical, in its place, chained to the one before it and consistent with its campaign's history, and that the signed tree heads and the views have seen the same. It names all damage that it finds, and ends with exit code 1 if there is any. Nothing is written. Without a daemon it reads the server's files as they are; verify a damaged directory before a daemon starts on it, since the server drops what it cannot read.

Example:
  ledgerd verify --evidence
  ledgerd verify export.jsonl --head head.txt --key ledger.pub
  ledgerd verify /backups/2026-10-01 --evidence --key ledger.pub`
}

// Validate is kong's check.
func (c *verifyCommand) Validate() error {
	if len(c.Heads) > 0 && len(c.Keys) == 0 {
		return errors.New("--head needs --key: a head counts by its signature")
	}
	return c.auditFlags.Validate()
}

// errDamaged is what a verification ends in that finds something.
var errDamaged = errors.New("the ledger is damaged")

// verifyAnswer is what --json prints.
type verifyAnswer struct {
	Ledger string `json:"ledger"` // where it was read
	Sound  bool   `json:"sound"`
	*audit.Verified
	Seconds float64 `json:"seconds"`
}

func (c *verifyCommand) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) (err error) {
	keys, err := c.keys()
	if err != nil {
		return err
	}
	heads, err := c.keptHeads(keys)
	if err != nil {
		return err
	}
	from, err := c.open(ctx, streams, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, from.close()) }()
	cfg := audit.VerifyConfig{Source: from.source, Evidence: c.Evidence, Heads: append(heads, from.heads...)}
	if c.Source == "" {
		memories, signed, err := from.remembered(ctx, c.Flags, c.DatabaseURL)
		if err != nil {
			return err
		}
		cfg.Memories, cfg.Heads = memories, append(cfg.Heads, signed...)
	}
	if from.treeHead != "" && len(keys) > 0 {
		head, err := auditedHead("the head that came with the backup", from.treeHead, keys)
		if err != nil {
			return err
		}
		cfg.Heads = append(cfg.Heads, head)
	}
	bar := newWalkBar(streams, "verified")
	cfg.Progress = bar.show
	result, err := audit.Verify(ctx, cfg)
	seconds := bar.end()
	if err != nil {
		return err
	}
	if c.JSON {
		err = printLine(streams.Out, verifyAnswer{from.name, result.Sound(), result, seconds})
	} else {
		err = printVerified(streams.Out, from.name, result, c.Evidence, seconds)
	}
	return errors.CombineErrors(err, damaged(result))
}

// keys reads --key.
func (c *verifyCommand) keys() (keys []note.Verifier, err error) {
	texts, err := readKeys(c.Keys)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		key, err := tree.ParseKey(text)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// keptHeads reads --head.
func (c *verifyCommand) keptHeads(keys []note.Verifier) ([]audit.Head, error) {
	var heads []audit.Head
	for _, file := range c.Heads {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, errors.Wrap(err, "read a tree head")
		}
		head, err := auditedHead("the head in "+file, string(text), keys)
		if err != nil {
			return nil, err
		}
		heads = append(heads, head)
	}
	return heads, nil
}

func printVerified(out io.Writer, name string, v *audit.Verified, evidence bool, seconds float64) error {
	var b strings.Builder
	fmt.Fprintf(&b, "ledger     %s\n", name)
	fmt.Fprintf(&b, "decisions  %s\n", rate(v.Decisions, seconds))
	if evidence {
		fmt.Fprintf(&b, "arrivals   %d hashed again, %d undecided at the end\n", v.Arrivals, v.Undecided)
	}
	fmt.Fprintf(&b, "heads      %d agree\n", v.Heads)
	if v.Root != nil {
		fmt.Fprintf(&b, "root       %s over %d records\n", v.Root, v.Decisions)
	}
	for _, finding := range v.Found {
		fmt.Fprintf(&b, "damage: %s\n", finding)
	}
	if more := v.Damage - len(v.Found); more > 0 {
		fmt.Fprintf(&b, "and %d findings more\n", more)
	}
	if v.Sound() {
		b.WriteString("nothing is wrong\n")
	}
	_, err := io.WriteString(out, b.String())
	return errors.Wrap(err, "print the answer")
}

// damaged is the error that a verification comes to, nil when nothing is wrong.
func damaged(v *audit.Verified) error {
	if v.Sound() {
		return nil
	}
	return errors.WithHint(errors.Wrapf(errDamaged, "%d findings, the first: %s", v.Damage, v.Found[0]),
		"nothing was changed; keep the directory as it is, and bring the streams back from a backup into another one with `ledgerd restore`")
}
