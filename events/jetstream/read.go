package jetstream

import (
	"context"
	"time"

	"github.com/cockroachdb/errors"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/ledgerd/ledgerd/events"
)

const (
	// consumerPatience is how long the server keeps a consumer that nobody
	// asks: longer than a reader takes to apply what it got.
	consumerPatience = 5 * time.Minute
	// deleteTimeout bounds what closing a cursor waits for.
	deleteTimeout = time.Second
)

// Read follows the stream from a sequence on, with a consumer of its own that
// ends with the cursor.
func (l *Log) Read(ctx context.Context, from uint64, filters ...string) (events.Cursor, error) {
	if from == 0 {
		return nil, errors.AssertionFailedf("jetstream: sequences begin at 1")
	}
	ctxt, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	consumer, err := l.js.CreateConsumer(ctxt, l.name, natsjs.ConsumerConfig{
		DeliverPolicy:     natsjs.DeliverByStartSequencePolicy,
		OptStartSeq:       from,
		AckPolicy:         natsjs.AckNonePolicy,
		FilterSubjects:    filters,
		InactiveThreshold: consumerPatience,
		MemoryStorage:     true, // it need not outlive the server: the cursor dies with it
		Replicas:          1,
	})
	if ctx.Err() != nil {
		return nil, errors.Wrapf(ctx.Err(), "read %s", l.name)
	}
	if err != nil {
		return nil, errors.Wrapf(errors.Mark(err, events.ErrUnavailable), "read %s from sequence %d", l.name, from)
	}
	c, err := newCursor(l.stream, consumer.CachedInfo().Name, from, len(filters) > 0)
	if err != nil {
		l.deleteConsumer(consumer.CachedInfo().Name)
		return nil, err
	}
	return c, nil
}

// deleteConsumer spares the server from keeping a consumer until it is stale.
func (s stream) deleteConsumer(name string) {
	if !s.conn.IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), deleteTimeout)
	defer cancel()
	_ = s.js.DeleteConsumer(ctx, s.name, name) // else it ends by itself
}
