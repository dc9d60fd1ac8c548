package main

import (
	"bufio"
	"bytes"
	"io"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/cli"
)

// eachLine hands the lines of a JSON Lines input to do, with their number from
// 1. Empty ones are skipped. A line is valid until the next one.
func eachLine(in io.Reader, do func(number int, line []byte) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxLineBytes)
	number := 0
	for lines.Scan() {
		number++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := do(number, line); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return cli.Usagef("line %d is longer than %d bytes", number+1, maxLineBytes)
	}
	return errors.Wrapf(lines.Err(), "read line %d", number+1)
}
