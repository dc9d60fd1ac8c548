package jetstream

import (
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
)

// Error codes of the server that are told apart here.
const (
	codeAccountRoom    natsjs.ErrorCode = 10002 // the account's resources are exceeded
	codeServerRoom     natsjs.ErrorCode = 10023 // the server's resources are exceeded
	codeNoMessage      natsjs.ErrorCode = 10037
	codeNoStorage      natsjs.ErrorCode = 10047 // no storage left; the embedded server says so before its disk is full
	codeStreamNotFound natsjs.ErrorCode = 10059
	codeStoreFailed    natsjs.ErrorCode = 10077 // for one message: more than the stream may keep
)

// notStored says what a refused batch is, by error code: each of these is
// decided before anything is stored. Every other code leaves the question
// open. In particular 10077 (store failed) does: it says that a limit was
// reached, before, or that the disk failed in the middle of a batch.
var notStored = map[natsjs.ErrorCode]error{
	10071: events.ErrMoved, // wrong last sequence
	// The same from a replicated stream. It also refuses an expectation on a
	// later message of a batch, which CheckBatch does not let through.
	10164: events.ErrMoved,

	codeAccountRoom: events.ErrRefused,
	codeServerRoom:  events.ErrRefused,

	10054: events.ErrRefused, // message too large
	10060: events.ErrRefused, // another stream takes the subject
	10097: events.ErrRefused, // headers too large
	10109: events.ErrRefused, // stream sealed
	10174: events.ErrRefused, // atomic publish disabled
	10199: events.ErrRefused, // too many messages for one batch
	10201: events.ErrRefused, // message id stored before, or twice in the batch

	codeNoStorage: events.ErrUnavailable,

	10039: events.ErrUnavailable, // JetStream not enabled for the account
	10076: events.ErrUnavailable, // JetStream not enabled
	10158: events.ErrUnavailable, // message id is in process
	10176: events.ErrUnavailable, // a message of the batch did not arrive, for instance over a change of leader
	10210: events.ErrUnavailable, // too many open batches
}

// classify marks an API error of an append.
func classify(err *natsjs.APIError) error {
	if mark, ok := notStored[err.ErrorCode]; ok {
		return errors.Mark(err, mark)
	}
	return errors.Mark(err, events.ErrStateUnknown)
}
