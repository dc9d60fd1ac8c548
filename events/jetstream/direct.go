package jetstream

import (
	"context"

	"github.com/cockroachdb/errors"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/ledgerd/ledgerd/events"
)

// DirectLog is a stream for readers who may ask for its information and its
// messages, and make no consumer. It cannot append. Messages may come from a
// follower that is a little behind; what is told of the end comes from the
// leader.
type DirectLog struct {
	stream
}

var _ events.Log = (*DirectLog)(nil)

// OpenDirect gives the log of a stream for a reader.
func OpenDirect(js natsjs.JetStream, name string) *DirectLog { return &DirectLog{newStream(js, name)} }

// Identity is the ledger id that the stream was made with, or else when it was
// made.
func (l *DirectLog) Identity(ctx context.Context) (string, error) { return l.identity(ctx) }

// Tail reads the end of the stream.
func (l *DirectLog) Tail(ctx context.Context) (events.Tail, error) { return l.tail(ctx) }

// Get reads the message at seq.
func (l *DirectLog) Get(ctx context.Context, seq uint64) (*events.Message, error) {
	return l.get(ctx, seq)
}

// Last reads the last message whose subject matches filter.
func (l *DirectLog) Last(ctx context.Context, filter string) (*events.Message, error) {
	return l.message(ctx, "last_by_subj", filter)
}

// Append is refused.
func (l *DirectLog) Append(context.Context, uint64, []events.Outgoing) (uint64, error) {
	return 0, errors.Wrapf(events.ErrRefused, "%s is opened for reading", l.name)
}

// Read follows the stream from a sequence on, by asking again and again.
func (l *DirectLog) Read(ctx context.Context, from uint64, filters ...string) (events.Cursor, error) {
	if from == 0 {
		return nil, errors.AssertionFailedf("jetstream: sequences begin at 1")
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.Wrapf(err, "read %s", l.name)
	}
	c, err := newDirectCursor(ctx, l.stream, from, filters)
	if err != nil { // no nil cursor in an interface
		return nil, err
	}
	return c, nil
}
