package jetstream

import (
	"context"
	"encoding/json"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"

	"github.com/ledgerd/ledgerd/events"
)

const (
	// directBytes bounds one answer; the server goes beyond it by at most one
	// message.
	directBytes = events.MaxArrivalBytes
	// directPoll is how often the end of the stream is looked at. Nobody tells
	// a reader without a consumer.
	directPoll = 200 * time.Millisecond
)

// directCursor asks for one batch after the other. It belongs to one goroutine.
type directCursor struct {
	stream   stream
	identity string // of the stream when the cursor was made
	filters  []string

	next uint64 // first sequence that was not looked at yet
	read uint64 // last sequence that was given, 0 before the first

	failed error // once set it is the answer
}

func newDirectCursor(ctx context.Context, s stream, from uint64, filters []string) (*directCursor, error) {
	identity, err := s.identity(ctx)
	if err != nil {
		return nil, err
	}
	return &directCursor{stream: s, identity: identity, filters: filters, next: from}, nil
}

// Next asks for what comes next until there is something.
func (c *directCursor) Next(ctx context.Context) ([]events.Message, error) {
	for {
		if c.failed != nil {
			return nil, c.failed
		}
		messages, err := c.batch(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			c.failed = err
		case ctx.Err() != nil && len(messages) == 0:
			return nil, errors.Wrapf(ctx.Err(), "read %s", c.stream.name)
		}
		switch {
		case len(messages) > 0:
			return messages, nil
		case c.failed != nil:
			continue
		}
		if err := c.idle(ctx); err != nil {
			return nil, err
		}
	}
}

// idle waits a while at the end of the stream, and makes sure that it is still
// the stream whose end was reached.
func (c *directCursor) idle(ctx context.Context) error {
	timer := time.NewTimer(directPoll)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return errors.Wrapf(ctx.Err(), "read %s", c.stream.name)
	case <-timer.C:
	}
	info, err := c.stream.info(ctx)
	switch {
	case err != nil:
		return err
	case identity(info) != c.identity:
		c.failed = errors.Wrapf(events.ErrUnavailable, "%s was made anew", c.stream.name)
	case info.State.LastSeq < c.read:
		c.failed = errors.Wrapf(events.ErrUnavailable, "%s ends at sequence %d, before %d, which was read", c.stream.name, info.State.LastSeq, c.read)
	}
	return nil
}

// batch asks one question and gives the messages of its answer that are
// wanted. An error comes with what was read before it.
func (c *directCursor) batch(ctx context.Context) ([]events.Message, error) {
	incoming := make(chan *nats.Msg, events.MaxBatchMessages+1) // a whole answer and its end
	inbox, err := c.stream.conn.ChanSubscribe(c.stream.conn.NewInbox(), incoming)
	if err == nil {
		defer func() { _ = inbox.Unsubscribe() }() // fails on a closed connection, which has none
		err = c.ask(inbox.Subject)
	}
	if err != nil {
		return nil, errors.Wrapf(errors.Mark(err, events.ErrUnavailable), "read %s", c.stream.name)
	}
	timer := time.NewTimer(requestTimeout)
	defer timer.Stop()
	var messages []events.Message
	for a := (answer{}); !a.ended; {
		select {
		case <-ctx.Done():
			return messages, ctx.Err()
		case <-timer.C:
			return messages, errors.WithHint(errors.Wrapf(events.ErrUnavailable, "read %s: no answer", c.stream.name),
				"a question that the credentials may not ask is never answered")
		case m := <-incoming:
			message, err := c.take(ctx, &a, m)
			if err != nil {
				return messages, err
			}
			if message != nil {
				messages = append(messages, *message)
			}
		}
	}
	return messages, nil
}

// ask sends the question for the next batch.
func (c *directCursor) ask(inbox string) error {
	question := map[string]any{"seq": c.next, "batch": events.MaxBatchMessages, "max_bytes": directBytes}
	if len(c.filters) == 1 { // the server knows one; more are looked at here
		question["next_by_subj"] = c.filters[0]
	}
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	return c.stream.conn.PublishRequest(c.stream.subject("DIRECT.GET."+c.stream.name), inbox, body)
}

// answer is how far one has been read.
type answer struct {
	last  uint64 // sequence of its last message so far
	ended bool
}

// take reads one message of an answer: a stored one, given if it is wanted, or
// the answer's end.
func (c *directCursor) take(ctx context.Context, a *answer, m *nats.Msg) (*events.Message, error) {
	d := readDirect(m, c.stream.name)
	switch {
	case d.status == "" && d.message == nil:
		// A stored message whose headers cannot be read, so that the server's
		// own among them cannot be either.
		a.ended = true
		return c.reread(ctx)
	case d.status == statusNoMessage:
		a.ended = true
		return nil, nil
	case d.status != "" && d.status != statusEnd:
		return nil, errors.Wrapf(events.ErrUnavailable, "read %s: the server answers %s", c.stream.name, d.status)
	case d.after != a.last:
		return nil, errors.Wrapf(events.ErrUnavailable, "read %s: a message was lost on the way", c.stream.name)
	case d.status == statusEnd:
		a.ended = true
		return nil, nil
	}
	a.last = d.message.Seq
	return c.accept(d.message)
}

// accept checks that a message is the next one, and gives it if it is wanted.
func (c *directCursor) accept(m *events.Message) (*events.Message, error) {
	if m.Seq < c.next || m.Seq > c.next && len(c.filters) == 0 {
		return nil, errors.Wrapf(events.ErrGap, "%s: sequence %d comes where %d must be", c.stream.name, m.Seq, c.next)
	}
	c.next, c.read = m.Seq+1, m.Seq
	if !events.AnyMatches(c.filters, m.Subject) {
		return nil, nil
	}
	return m, nil
}

// reread gets the next message another way.
func (c *directCursor) reread(ctx context.Context) (*events.Message, error) {
	m, err := c.stream.get(ctx, c.next)
	switch {
	case errors.Is(err, events.ErrNotFound) && len(c.filters) == 0:
		return nil, errors.Wrapf(events.ErrGap, "%s: sequence %d is missing", c.stream.name, c.next)
	case errors.Is(err, events.ErrNotFound):
		c.next++ // a hole; what follows is asked for again
		return nil, nil
	case err != nil:
		return nil, err
	}
	return c.accept(m)
}

// Close ends the cursor, which holds nothing between two calls.
func (c *directCursor) Close() {
	c.failed = errors.Wrapf(events.ErrUnavailable, "read %s: the cursor was closed", c.stream.name)
}
