package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/audit/export"
	"github.com/ledgerd/ledgerd/internal/cli"
)

type exportCommand struct {
	auditFlags
	Output   string `short:"o" default:"-" placeholder:"FILE" help:"Where to write; - is standard output. A file is there whole or not at all."`
	Evidence bool   `help:"The arrivals too: replay needs them."`
}

// Help is shown below the command's flags.
func (exportCommand) Help() string {
	return `Writes the ledger as JSON Lines, for people without NATS: a first line that says what it is; each message with its sequence, time, subject and headers, a decision's record as the bytes that were hashed; a last line with counts and the SHA-256 of all before it. "ledgerd replay FILE" and "ledgerd verify FILE" check it anywhere.

Example:
  ledgerd export --evidence -o ledger.jsonl
  ledgerd export | jq -c 'select(.decision.record.outcome == "rejected") | .decision.record'`
}

func (c *exportCommand) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) (err error) {
	from, err := c.open(ctx, streams, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, from.close()) }()
	name, err := from.ledgerName(ctx)
	if err != nil {
		return err
	}
	bar := newWalkBar(streams, "exported")
	var written *export.Exported
	err = writeOutput(c.Output, streams.Out, func(to io.Writer) (err error) {
		written, err = export.Write(ctx, to, export.Config{Source: from.source, Ledger: name, Evidence: c.Evidence, Progress: bar.show})
		return err
	})
	seconds := bar.end()
	if err != nil {
		return err
	}
	fmt.Fprintf(streams.Err, "exported %d decisions and %d arrivals in %.1f s\n", written.Decisions, written.Arrivals, seconds)
	if len(written.Found) > 0 {
		return errors.WithHint(errors.Wrapf(errDamaged, "what could not be read is not in the export; the first of %d: %s", len(written.Found), written.Found[0]),
			"`ledgerd verify` names all of it")
	}
	return nil
}

// writeOutput writes to standard output, or a file that is there whole or not
// at all.
func writeOutput(path string, stdout io.Writer, write func(io.Writer) error) error {
	if path == "-" {
		return write(stdout)
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return errors.WithHint(errors.Wrap(err, "make the file"), "its directory must exist, and this user may write there")
	}
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	err = errors.CombineErrors(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path) // a crash before this leaves the old file, and one with another name
	}
	if err != nil {
		return errors.CombineErrors(errors.Wrapf(err, "write %s", path), os.Remove(file.Name()))
	}
	return nil
}
