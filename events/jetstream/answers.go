package jetstream

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/ledgerd/ledgerd/events"
)

// maxAnswers is room for the answers to all tries, so that none is dropped.
const maxAnswers = (maxSilences + 1) * maxInFlight

// await takes one answer, and goes back to the first unsettled message when
// none comes.
func (f *flight) await(ctx context.Context) error {
	timer := time.NewTimer(f.publisher.ackTimeout)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case m := <-f.answers:
		f.answer(m)
		return nil
	case <-f.broken:
		return nil // the next step finds out what of it
	case <-timer.C:
	}
	if denied := f.denied(); denied != nil {
		return denied
	}
	return f.silence()
}

// silence counts one time-out, and goes back.
func (f *flight) silence() error {
	f.silences++
	if f.silences >= maxSilences {
		return errors.Newf("jetstream: no acknowledgement within %s, %d times", f.publisher.ackTimeout, f.silences)
	}
	f.goBack()
	return nil
}

// pause waits before a stream is asked again that takes nothing just now.
func (f *flight) pause(ctx context.Context) error {
	if time.Since(f.heard) > f.publisher.ackTimeout {
		return f.notNow
	}
	timer := time.NewTimer(retryDelay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}
	f.goBack()
	return nil
}

// relink waits until the connection is made again, and goes back: of what was
// in the air on the old one nobody knows how much arrived.
func (f *flight) relink(ctx context.Context) error {
	conn := f.publisher.conn
	changed := conn.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer conn.RemoveStatusListener(changed)
	if f.linked() {
		return f.unnoticed(ctx)
	}
	timer := time.NewTimer(f.publisher.ackTimeout)
	defer timer.Stop()
	for !conn.IsConnected() {
		if conn.IsClosed() {
			return nats.ErrConnectionClosed
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return f.silence()
		case <-changed:
		}
	}
	f.link = conn.Stats().Reconnects
	f.goBack()
	return nil
}

// unnoticed waits until the connection notices that a write of its failed.
func (f *flight) unnoticed(ctx context.Context) error {
	timer := time.NewTimer(retryDelay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-f.broken:
		return nil // the next step finds out what of it
	case <-timer.C:
		return f.silence()
	}
}

// goBack starts again at the first message that is not settled, after taking
// what else came to the try before.
func (f *flight) goBack() {
	for len(f.answers) > 0 {
		f.answer(<-f.answers)
	}
	f.next, f.bytes, f.notNow, f.waiting = f.first, 0, nil, 0
}

// denied tells a publication that the server dropped for want of permission:
// it is never answered, and the connection hears of it on the side.
func (f *flight) denied() error {
	last := f.publisher.conn.LastError()
	if last == nil || last == f.lastError || !errors.Is(last, nats.ErrPermissionViolation) {
		return nil
	}
	return errors.WithHint(errors.Mark(last, events.ErrRefused), "these credentials may not publish that; another role's may")
}

// answer settles the message that an answer is about.
func (f *flight) answer(m *nats.Msg) {
	index, err := strconv.Atoi(strings.TrimPrefix(m.Subject, f.prefix))
	if err != nil || index < 0 || index >= len(f.batch) {
		return // no answer of ours
	}
	f.open[index]--
	f.waiting = max(f.waiting-1, 0) // one of an earlier try may come late
	if f.settled[index] {
		return // it was sent twice
	}
	if m.Header.Get(headerStatus) != "" {
		f.notNow = errors.WithHint(errors.New("jetstream: nobody takes arrivals"), "is ledgerd running, and does it have its streams?")
		return
	}
	result := readPublication(m.Data)
	if errors.Is(result.Err, events.ErrUnavailable) {
		f.notNow = result.Err // among others that an earlier try is still being stored
		return
	}
	f.settle(index, result)
}

func (f *flight) settle(index int, result Result) {
	f.settled[index] = true
	f.results[index] = result
	if result.Err == nil {
		f.silences, f.heard = 0, time.Now()
		if told := f.publisher.Acknowledged; told != nil {
			told(index, result.Sequence)
		}
	} else {
		f.refused = true
	}
	for f.first < len(f.batch) && f.settled[f.first] {
		if f.first < f.next {
			f.bytes -= len(f.batch[f.first].Data)
		}
		f.first++
	}
	f.next = max(f.next, f.first)
}

// readPublication reads the answer to a publication.
func readPublication(data []byte) Result {
	var ack struct {
		Error     *natsjs.APIError `json:"error"`
		Stream    string           `json:"stream"`
		Sequence  uint64           `json:"seq"`
		Duplicate bool             `json:"duplicate"`
	}
	if err := json.Unmarshal(data, &ack); err != nil {
		return Result{Err: errors.Mark(errors.Wrap(err, "read the acknowledgement"), events.ErrStateUnknown)}
	}
	switch {
	case ack.Error != nil:
		return Result{Err: notTaken(ack.Error)}
	case ack.Stream != events.ArrivalsStream || ack.Sequence == 0:
		return Result{Err: errors.Wrapf(events.ErrStateUnknown, "the acknowledgement is sequence %d of stream %q", ack.Sequence, ack.Stream)}
	}
	return Result{Sequence: ack.Sequence, Duplicate: ack.Duplicate}
}
