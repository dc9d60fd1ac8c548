package writer

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

const (
	// chunkMessages is how many arrivals one worker prepares at a time: enough
	// to make hand-over cheap, few enough to spread a burst over all workers.
	chunkMessages = 64
	// maxChunksAhead bounds what is prepared ahead of the decider.
	maxChunksAhead = 64
)

// chunk is a run of arrivals on its way through the workers. The decider takes
// chunks in stream order and waits for each to be prepared.
type chunk struct {
	messages []events.Message
	prepared chan []*domain.Arrival // buffered, filled once by a worker
}

// decideFrom runs the pipeline behind a position until something ends it. The
// error comes with what is known of appends that were not acknowledged.
func (w *Writer) decideFrom(ctx context.Context, from position, sent map[uint64]string) (*flight, error) {
	group, ctx := errgroup.WithContext(ctx)
	work := make(chan *chunk)
	ordered := make(chan *chunk, maxChunksAhead)
	batches := make(chan *batch) // unbuffered: one batch in flight
	appender := &appender{writer: w, position: from, sent: sent}

	group.Go(func() error { return w.read(ctx, from.seq+1, work, ordered) })
	for range w.workers {
		group.Go(func() error { return w.prepare(ctx, work) })
	}
	group.Go(func() error { return w.decide(ctx, from, ordered, batches) })
	group.Go(func() error { return appender.run(ctx, batches) })

	err := group.Wait()
	return appender.lost(), err
}

// read delivers arrivals from a sequence on, in chunks, to the workers and in
// order to the decider.
func (w *Writer) read(ctx context.Context, from uint64, work chan<- *chunk, ordered chan<- *chunk) error {
	cursor, err := w.Arrivals.Read(ctx, from)
	if err != nil {
		return damagedGap(err, "ARRIVALS")
	}
	defer cursor.Close()
	for {
		messages, err := cursor.Next(ctx)
		if err != nil {
			return damagedGap(err, "ARRIVALS")
		}
		for len(messages) > 0 {
			n := min(len(messages), chunkMessages)
			next := &chunk{messages: messages[:n], prepared: make(chan []*domain.Arrival, 1)}
			messages = messages[n:]
			// In order first: what a worker holds always has its place.
			for _, to := range []chan<- *chunk{ordered, work} {
				select {
				case to <- next:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
	}
}

// prepare does the part of deciding that needs no campaign: decoding, hashing
// and parsing. It never fails; what cannot be read is malformed.
func (w *Writer) prepare(ctx context.Context, work <-chan *chunk) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case next := <-work:
			arrivals := make([]*domain.Arrival, len(next.messages))
			for i := range next.messages {
				arrivals[i] = events.DecodeArrivalBy(w.rules, &next.messages[i])
			}
			next.prepared <- arrivals
		}
	}
}
