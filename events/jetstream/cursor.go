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
	// pullsOpen is how many requests for messages wait at the server: while
	// one is answered, the other one is on its way.
	pullsOpen = 2
	// pullMessages is how many messages one request asks for.
	pullMessages = events.MaxBatchMessages
	// pullBytes bounds the messages of one request: two of the largest, so
	// that each fits, and a cursor holds no more than four.
	pullBytes = 2 * (events.MaxArrivalBytes + events.MaxHeaderBytes)
	// pullExpiry is how long a request waits at the server.
	pullExpiry = 30 * time.Second
	// pullHeartbeat is how often the server shows that a request still waits.
	pullHeartbeat = 2 * time.Second
	// silence is how long nothing may come before the consumer counts as lost.
	silence = 3*pullHeartbeat - time.Second
	// wordsOpen is room for what else the server says of the open requests:
	// its heartbeats and their ends, until somebody looks.
	wordsOpen = pullsOpen * (2 + int(pullExpiry/pullHeartbeat))
)

// headerPendingMessages is on the server's word that a request has ended as it
// should, and says how many messages it still asked for: none when it was
// answered in full, some when it expired or the next message goes beyond its
// bytes. Every other end is the consumer's.
const headerPendingMessages = "Nats-Pending-Messages"

const (
	headerStatus      = "Status"
	headerDescription = "Description"
	statusHeartbeat   = "100"
)

// cursor follows a consumer. It belongs to one goroutine.
type cursor struct {
	stream   stream
	consumer string
	filtered bool

	next      uint64 // first sequence that was not given yet
	delivered uint64 // messages that the consumer delivered so far

	incoming chan *nats.Msg // messages and the server's words, in order
	pulls    [pullsOpen]pull
	status   chan nats.Status // tells when the connection is lost
	quiet    *time.Timer
	failed   error // once set it is the answer
}

// pull is a request for messages, asked again whenever it has ended.
type pull struct {
	inbox *nats.Subscription
	left  int // messages still to come
}

func newCursor(s stream, consumer string, from uint64, filtered bool) (*cursor, error) {
	c := &cursor{
		stream: s, consumer: consumer, filtered: filtered, next: from,
		incoming: make(chan *nats.Msg, pullsOpen*pullMessages+wordsOpen),
		status:   s.conn.StatusChanged(nats.RECONNECTING, nats.CLOSED),
		quiet:    time.NewTimer(silence),
	}
	for i := range c.pulls {
		inbox, err := s.conn.ChanSubscribe(s.conn.NewInbox(), c.incoming)
		if err == nil {
			c.pulls[i].inbox = inbox
			err = c.ask(&c.pulls[i])
		}
		if err != nil {
			c.release()
			return nil, errors.Wrapf(errors.Mark(err, events.ErrUnavailable), "read %s", s.name)
		}
	}
	return c, nil
}

// pullRequest is the body of a request for messages. Times are nanoseconds.
var pullRequest = must(json.Marshal(map[string]int64{
	"batch": pullMessages, "max_bytes": pullBytes, "expires": int64(pullExpiry), "idle_heartbeat": int64(pullHeartbeat),
}))

func must[T any](value T, err error) T {
	if err != nil {
		panic(err) // at the start of the program
	}
	return value
}

// ask sends a request whose messages come to its own inbox.
func (c *cursor) ask(p *pull) error {
	p.left = pullMessages
	return c.stream.conn.PublishRequest(c.stream.subject("CONSUMER.MSG.NEXT."+c.stream.name+"."+c.consumer), p.inbox.Subject, pullRequest)
}

// Next gives what is at hand, or waits.
func (c *cursor) Next(ctx context.Context) ([]events.Message, error) {
	var messages []events.Message
	for {
		messages = c.drain(messages)
		switch {
		case len(messages) > 0:
			return messages, nil
		case c.failed != nil:
			return nil, c.failed
		case ctx.Err() != nil:
			return nil, errors.Wrapf(ctx.Err(), "read %s", c.stream.name)
		}
		messages = c.wait(ctx, messages)
	}
}

// drain takes what has arrived, up to a full portion.
func (c *cursor) drain(messages []events.Message) []events.Message {
	for c.failed == nil && len(messages) < events.MaxBatchMessages {
		select {
		case m := <-c.incoming:
			messages = c.take(messages, m)
		default:
			return messages
		}
	}
	return messages
}

// wait blocks until something arrives, or nothing will.
func (c *cursor) wait(ctx context.Context, messages []events.Message) []events.Message {
	c.quiet.Reset(silence)
	select {
	case <-ctx.Done():
	case m := <-c.incoming:
		return c.take(messages, m)
	case <-c.status:
		c.fail("the connection was lost")
	case <-c.quiet.C:
		c.fail("the server says nothing any more")
	}
	return messages
}

func (c *cursor) fail(why string) {
	c.failed = errors.Wrapf(events.ErrUnavailable, "read %s: %s", c.stream.name, why)
}

// take handles one message or word of the server's.
func (c *cursor) take(messages []events.Message, m *nats.Msg) []events.Message {
	p := &c.pulls[0]
	if m.Sub != p.inbox {
		p = &c.pulls[1]
	}
	d, ok := readDelivery(m.Reply)
	if !ok {
		c.heed(p, m)
		return messages
	}
	if !c.follows(d) {
		return messages
	}
	c.delivered, c.next = d.delivered, d.sequence+1
	if p.left--; p.left == 0 {
		c.renew(p)
	}
	return append(messages, deliveredMessage(m, d))
}

// follows checks that a message is the next one: of the consumer, whatever it
// filters, and of the stream.
func (c *cursor) follows(d delivery) bool {
	switch {
	case d.delivered != c.delivered+1:
		c.fail("a message was lost on the way")
	case d.sequence < c.next, d.sequence > c.next && !c.filtered:
		c.failed = errors.Wrapf(events.ErrGap, "%s: sequence %d comes where %d must be", c.stream.name, d.sequence, c.next)
	default:
		return true
	}
	return false
}

// heed handles a word of the server's.
func (c *cursor) heed(p *pull, m *nats.Msg) {
	if m.Header.Get(headerStatus) == statusHeartbeat {
		return
	}
	switch m.Header.Get(headerPendingMessages) {
	case "0": // take has seen it too, and asked again
	case "":
		c.fail("the server ended the consumer: " + m.Header.Get(headerStatus) + " " + m.Header.Get(headerDescription))
	default:
		c.renew(p)
	}
}

func (c *cursor) renew(p *pull) {
	if err := c.ask(p); err != nil {
		c.fail(err.Error())
	}
}

// Close ends the consumer.
func (c *cursor) Close() {
	if c.pulls[0].inbox == nil {
		return
	}
	c.release()
	c.stream.deleteConsumer(c.consumer)
	c.fail("the cursor was closed")
}

// release lets go of what a cursor holds in this process.
func (c *cursor) release() {
	c.quiet.Stop()
	c.stream.conn.RemoveStatusListener(c.status)
	for i := range c.pulls {
		if inbox := c.pulls[i].inbox; inbox != nil {
			_ = inbox.Unsubscribe() // fails on a closed connection, which has none
			c.pulls[i].inbox = nil
		}
	}
}
