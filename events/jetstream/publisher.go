package jetstream

import (
	"context"
	"iter"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

const (
	// maxInFlight bounds what is published and not acknowledged: enough to hide
	// the way to the server and back, little enough to be sent again.
	maxInFlight = 256
	// maxInFlightBytes bounds the same in bytes of bodies; one message more
	// always fits.
	maxInFlightBytes = 16 << 20
	// ackTimeout is how long nothing may be acknowledged before what is in
	// flight is sent again.
	ackTimeout = 5 * time.Second
	// maxSilences is how often that may happen without an acknowledgement in
	// between. All tries together stay within the streams' duplicate window.
	maxSilences = 3
	// retryDelay is the pause before a stream that takes nothing just now is
	// asked again, for ackTimeout in all.
	retryDelay = 250 * time.Millisecond

	// cellSuffix ends the subjects of cells.
	cellSuffix = "." + string(domain.KindCell)
)

// Publisher publishes arrivals. It needs no more than the right to publish
// them and to hear the answers, so it works through an account's service
// import. It is safe for concurrent use.
type Publisher struct {
	// Acknowledged, when set, is told of every acknowledgement as it comes:
	// the index of the message in its call, and its sequence.
	Acknowledged func(index int, sequence uint64)

	conn       *nats.Conn
	ackTimeout time.Duration
}

// NewPublisher gives a publisher on a connection, which stays the caller's.
func NewPublisher(conn *nats.Conn) *Publisher { return &Publisher{conn: conn, ackTimeout: ackTimeout} }

// Result is what became of one message.
type Result struct {
	Sequence  uint64 // on ARRIVALS; 0 unless acknowledged
	Duplicate bool   // it had been stored before, by an earlier try
	// Err is nil exactly when the message was acknowledged. Else it is
	// events.ErrRefused (not stored, do not try again), events.ErrUnavailable
	// (never sent, or nobody listened) or events.ErrStateUnknown (perhaps
	// stored: publish it again with the same id to find out).
	Err error
}

// Sequences are where messages were stored, in their order.
func Sequences(results []Result) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, result := range results {
			if !yield(result.Sequence) {
				return
			}
		}
	}
}

// Publish publishes one message and gives its sequence. A message that is not
// acknowledged in time is sent again with the same id, which stores it once.
// Errors: those of [Result].
func (p *Publisher) Publish(ctx context.Context, out events.Outgoing) (uint64, error) {
	results, err := p.PublishAll(ctx, []events.Outgoing{out})
	return results[0].Sequence, err
}

// PublishAll publishes messages in order, many in flight, and gives a result
// for each. They are stored in the order that they have here; only among cells
// with nothing else between them, one that was lost on the way and sent again
// may come late. After the first one that is refused no more are sent; the
// error is that of the first message that was not acknowledged. When a message
// could not be published in any case (too large, a header of the server's),
// nothing is sent.
func (p *Publisher) PublishAll(ctx context.Context, batch []events.Outgoing) ([]Result, error) {
	f := &flight{publisher: p, batch: batch, results: make([]Result, len(batch))}
	for i := range batch {
		if err := p.check(batch[i]); err != nil {
			f.results[i].Err = err
			f.giveUp(errors.New("jetstream: nothing was sent, since another message is refused"))
			return f.results, errors.Wrapf(err, "message %d of %d", i+1, len(batch))
		}
	}
	f.run(ctx)
	for i := range f.results {
		if err := f.results[i].Err; err != nil {
			return f.results, errors.Wrapf(err, "message %d of %d", i+1, len(batch))
		}
	}
	return f.results, nil
}

// check refuses what no server would store.
func (p *Publisher) check(out events.Outgoing) error {
	if err := events.CheckBatch([]events.Outgoing{out}); err != nil {
		return err
	}
	if out.Header.Get(events.HeaderMsgID) == "" {
		return errors.Wrapf(events.ErrRefused, "without a %s a message that is sent again would be stored again", events.HeaderMsgID)
	}
	m := nats.Msg{Subject: out.Subject, Header: nats.Header(out.Header), Data: out.Data}
	// The subject is no part of what the server limits.
	if limit := p.conn.MaxPayload(); limit > 0 && int64(m.Size()-len(m.Subject)) > limit {
		return errors.WithHintf(errors.Mark(errors.Wrapf(events.ErrTooLarge, "%d bytes with headers", m.Size()-len(m.Subject)), events.ErrRefused),
			"the NATS server takes %d; its max_payload should be %d", limit, maxMessageBytes)
	}
	return nil
}
