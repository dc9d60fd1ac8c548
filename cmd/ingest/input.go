package main

import (
	"io"
	"os"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/cli"
)

const (
	// maxFileBytes bounds a file that is read whole: a campaign, a policy, a
	// provenance. The ledger takes no larger arrival.
	maxFileBytes = 8 << 20
	// maxPublishBytes bounds what publish holds before it sends the first line.
	maxPublishBytes = 1 << 30
	// maxLineBytes bounds a line. The longest is a whole checkpoint, whose rows
	// may hold 32 MiB, all of it escaped.
	maxLineBytes = 128 << 20
)

// open gives a file, or standard input for "-".
func open(name string, streams cli.Streams) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(streams.In), nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, errors.WithHint(errors.Mark(errors.Wrap(err, "open the input"), cli.ErrUsage), "give a file that can be read, or - for standard input")
	}
	return file, nil
}

// readFile reads a file whole, or standard input for "-".
func readFile(name string, streams cli.Streams) ([]byte, error) {
	file, err := open(name, streams)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, errors.Mark(errors.Wrapf(err, "read %s", name), cli.ErrUsage)
	}
	if len(raw) > maxFileBytes {
		return nil, cli.Usagef("%s is larger than the %d bytes that the ledger takes", name, maxFileBytes)
	}
	return raw, nil
}
