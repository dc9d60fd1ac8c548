package jetstream

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"

	"github.com/ledgerd/ledgerd/events"
)

// flight publishes one batch. Messages go out in order on one connection, so
// that what is stored is in order too; what is sent again starts at the first
// message that is not acknowledged, with the same ids, and the server answers
// those that it has with their sequences.
//
// A message that is lost while later ones are in the air is stored behind
// them. So only cells share the air with others: whatever else a campaign
// consists of is sent when everything before it is acknowledged, and is
// acknowledged before anything behind it is sent.
type flight struct {
	publisher *Publisher
	batch     []events.Outgoing
	results   []Result
	settled   []bool // acknowledged or refused
	open      []int  // how often each was sent and nothing was heard of it

	answers   chan *nats.Msg
	broken    chan nats.Status // hears when the connection is lost
	prefix    string           // of the inbox; the message's index follows
	first     int              // first message that is not settled
	next      int              // next message to send
	reached   int              // messages before it were sent at least once
	bytes     int              // of messages between first and next, settled ones too
	waiting   int              // answers that are awaited, over all tries
	link      uint64           // how often the connection had been made again when first was sent
	silences  int              // since the last acknowledgement
	refused   bool             // send nothing more
	notNow    error            // the stream takes nothing just now: send nothing until all that is out is answered
	heard     time.Time        // of the last acknowledgement
	lastError error            // of the connection, before it was used
}

// run publishes until every message is settled or hope is lost.
func (f *flight) run(ctx context.Context) {
	conn := f.publisher.conn
	f.settled, f.open = make([]bool, len(f.batch)), make([]int, len(f.batch))
	f.lastError, f.heard = conn.LastError(), time.Now()
	f.link = conn.Stats().Reconnects
	f.prefix = conn.NewInbox() + "."
	f.answers = make(chan *nats.Msg, maxAnswers)
	inbox, err := conn.ChanSubscribe(f.prefix+"*", f.answers)
	if err != nil {
		f.giveUp(errors.Mark(err, events.ErrUnavailable))
		return
	}
	defer func() { _ = inbox.Unsubscribe() }() // fails on a closed connection, which has none
	f.broken = conn.StatusChanged(nats.RECONNECTING, nats.CLOSED)
	defer conn.RemoveStatusListener(f.broken)
	for f.first < f.end() {
		if err := f.step(ctx); err != nil {
			f.giveUp(err)
			return
		}
	}
	f.giveUp(errors.New("jetstream: not sent, since an earlier message was refused"))
}

// end is behind the last message that is still to be settled.
func (f *flight) end() int {
	if f.refused {
		return f.reached
	}
	return len(f.batch)
}

// step sends what may be sent and takes one answer.
func (f *flight) step(ctx context.Context) error {
	whole, err := f.send()
	switch {
	case err != nil:
		return err
	case !whole:
		return f.relink(ctx)
	case f.notNow != nil && f.waiting == 0:
		return f.pause(ctx)
	}
	return f.await(ctx)
}

// send fills the flight. It reports false when the connection is not the one
// that the flight began on: what was in the air is perhaps lost.
func (f *flight) send() (whole bool, err error) {
	for f.mayDepart() {
		if !f.settled[f.next] {
			if !f.linked() {
				return false, nil
			}
			if err := f.depart(); isFinal(err) {
				return false, err
			} else if err != nil {
				return false, nil // the connection is going, even if it has not noticed yet
			}
		}
		f.bytes += len(f.batch[f.next].Data)
		f.next++
	}
	return f.linked(), nil
}

// isFinal tells what the client refuses to send from a write that failed.
func isFinal(err error) bool {
	return errors.IsAny(err, nats.ErrMaxPayload, nats.ErrBadSubject, nats.ErrBadHeaderMsg, nats.ErrHeadersNotSupported,
		nats.ErrInvalidConnection, nats.ErrConnectionClosed, nats.ErrConnectionDraining)
}

// mayDepart tells whether the next message may be in the air with those that
// are.
func (f *flight) mayDepart() bool {
	switch {
	case f.next >= f.end() || f.notNow != nil:
		return false
	case f.next == f.first:
		return true // alone
	}
	return f.next-f.first < maxInFlight && f.bytes < maxInFlightBytes &&
		f.sharesAir(f.next) && f.sharesAir(f.first)
}

// sharesAir tells whether a message may overtake its neighbours: a cell, which
// counts wherever it comes between an opening, a void and a seal.
func (f *flight) sharesAir(index int) bool {
	return strings.HasSuffix(f.batch[index].Subject, cellSuffix)
}

// depart publishes the next message.
func (f *flight) depart() error {
	out := f.batch[f.next]
	// From here on the message may be stored.
	f.reached = max(f.reached, f.next+1)
	f.open[f.next]++
	f.waiting++
	return f.publisher.conn.PublishMsg(&nats.Msg{
		Subject: out.Subject, Reply: f.prefix + strconv.Itoa(f.next), Header: nats.Header(out.Header), Data: out.Data,
	})
}

// linked tells whether the connection is up and still the same.
func (f *flight) linked() bool {
	conn := f.publisher.conn
	return conn.IsConnected() && conn.Stats().Reconnects == f.link
}

// giveUp says of every message that is not settled what is known of it.
func (f *flight) giveUp(why error) {
	for i := range f.results {
		switch result := &f.results[i]; {
		case result.Sequence > 0 || result.Err != nil:
		case i >= f.reached || f.open[i] <= 0: // never sent, or each time to nobody
			result.Err = errors.Mark(why, events.ErrUnavailable)
		case errors.Is(why, events.ErrRefused):
			result.Err = why
		default:
			result.Err = errors.WithHint(errors.Mark(why, events.ErrStateUnknown), "publish it again with the same id: it is stored once")
		}
	}
}
