package eventstest

import (
	"context"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
)

// Read starts at a sequence.
func (l *Log) Read(ctx context.Context, from uint64, filters ...string) (events.Cursor, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.reachable(ctx); err != nil {
		return nil, err
	}
	if from == 0 {
		return nil, errors.AssertionFailedf("eventstest: sequences begin at 1")
	}
	return &cursor{log: l, next: from, filters: filters, generation: l.generation, closed: make(chan struct{})}, nil
}

// cursor belongs to one goroutine.
type cursor struct {
	log        *Log
	next       uint64
	filters    []string
	generation int
	failed     error
	closed     chan struct{}
}

func (c *cursor) Next(ctx context.Context) ([]events.Message, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c.failed != nil {
			return nil, c.failed
		}
		messages, moved := c.atHand()
		if len(messages) > 0 {
			return messages, nil
		}
		if c.failed != nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-c.closed:
			c.failed = errors.Wrap(events.ErrUnavailable, "the cursor was closed")
		case <-moved:
		}
	}
}

// atHand gives what can be delivered now, and what to wait for otherwise.
func (c *cursor) atHand() (messages []events.Message, moved <-chan struct{}) {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	if c.log.unavailable || c.log.generation != c.generation {
		c.failed = errors.Wrap(events.ErrUnavailable, "the stream went away")
		return nil, nil
	}
	for ; c.next <= c.log.last() && len(messages) < events.MaxBatchMessages; c.next++ {
		m := c.log.messages[c.next-1]
		switch {
		case m == nil && len(c.filters) > 0:
		case m == nil:
			if len(messages) == 0 {
				c.failed = errors.Wrapf(events.ErrGap, "sequence %d is missing", c.next)
			}
			return messages, nil
		case events.AnyMatches(c.filters, m.Subject):
			messages = append(messages, *m)
		}
	}
	return messages, c.log.moved
}

func (c *cursor) Close() {
	select {
	case <-c.closed:
	default:
		close(c.closed)
	}
}
