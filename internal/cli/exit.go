package cli

import "github.com/cockroachdb/errors"

// Exit codes of both binaries.
const (
	ExitDone    = 0 // what was asked is done
	ExitFailed  = 1 // it failed; the message says why and what to do
	ExitUsage   = 2 // the command line or its input cannot be used as it is
	ExitRefused = 3 // the ledger refused what was sent
)

// Marks that give an error its exit code; anything else is ExitFailed.
var (
	ErrUsage   = errors.New("cli: usage")
	ErrRefused = errors.New("cli: the ledger refused what was sent")
)

// Usagef makes an error that ends in ExitUsage.
func Usagef(format string, args ...any) error {
	return errors.Mark(errors.Newf(format, args...), ErrUsage)
}

// ExitCode is the code that an error ends the program with.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return ExitDone
	case errors.Is(err, ErrRefused):
		return ExitRefused
	case errors.Is(err, ErrUsage):
		return ExitUsage
	default:
		return ExitFailed
	}
}
