package jetstream

import (
	"github.com/cockroachdb/errors"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/ledgerd/ledgerd/events"
)

// Why a ledger takes no more arrivals. In both cases nothing was stored.
var (
	// ErrFull: the streams keep as much as they may. It is events.ErrRefused:
	// trying again does not help.
	ErrFull = errors.New("jetstream: the ledger is full")
	// ErrNoStorage: the disk that the ledger is on has no room. It is
	// events.ErrUnavailable: the ledger goes on when there is some.
	ErrNoStorage = errors.New("jetstream: the ledger's disk is full")
)

const (
	hintFull = "it keeps as much as it may. With the embedded server: stop the daemon, raise store_limit_bytes in the data directory's ledger.json " +
		"(on a bigger disk when this one has no room), start it again, and publish the same again. On a NATS server of its own raise what the two streams may keep"
	hintNoStorage = "free space on the file system of the daemon's data directory: it goes on by itself"
)

// notTaken tells what an arrival was answered with. One message that a stream
// answers with an error was not stored.
func notTaken(err *natsjs.APIError) error {
	switch err.ErrorCode {
	case codeStoreFailed, codeAccountRoom, codeServerRoom:
		return errors.WithHint(errors.Mark(errors.Wrapf(ErrFull, "ARRIVALS takes no more, %s (%d)", err.Description, err.ErrorCode), events.ErrRefused), hintFull)
	case codeNoStorage:
		return errors.WithHint(errors.Mark(errors.Wrapf(ErrNoStorage, "%s", err.Description), events.ErrUnavailable), hintNoStorage)
	}
	mark, known := notStored[err.ErrorCode]
	if !known {
		mark = events.ErrRefused
	}
	return errors.Mark(err, mark)
}
