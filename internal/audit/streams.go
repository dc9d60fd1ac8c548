package audit

import (
	"context"
	"io"
	"sync"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
)

// Streams is a source that keeps the two streams apart.
type Streams struct {
	Arrivals Stream
	Ledger   Stream
}

var _ Source = Streams{}

// Walk reads both streams side by side.
func (s Streams) Walk(ctx context.Context, what Selection) (Walk, error) {
	w := &streamsWalk{}
	// LEDGER's end first: what it answers is then within ARRIVALS' end.
	ledger, err := s.Ledger.Open(ctx, what.Campaign)
	if err != nil {
		return nil, err
	}
	w.ledger = newAhead(ctx, ledger)
	if !what.Arrivals {
		return w, nil
	}
	arrivals, err := s.Arrivals.Open(ctx, what.Campaign)
	if err != nil {
		return nil, errors.CombineErrors(err, w.Close())
	}
	w.arrivals = newAhead(ctx, arrivals)
	return w, nil
}

// streamsWalk joins what two streams hold by its sequence.
type streamsWalk struct {
	ledger   *ahead
	arrivals *ahead // nil when they are not walked
}

func (w *streamsWalk) Last() uint64 {
	if w.arrivals == nil {
		return w.ledger.reader.Last()
	}
	return max(w.ledger.reader.Last(), w.arrivals.reader.Last())
}

func (w *streamsWalk) Close() error {
	err := w.ledger.close()
	if w.arrivals != nil {
		err = errors.CombineErrors(err, w.arrivals.close())
	}
	return err
}

func (w *streamsWalk) Next(ctx context.Context) (Portion, error) {
	var p Portion
	for _, side := range []*ahead{w.ledger, w.arrivals} {
		if side == nil {
			continue
		}
		found, err := side.fill(ctx)
		p.Found = append(p.Found, found...)
		if err != nil {
			return p, err
		}
	}
	p.Pairs = w.join()
	if len(p.Pairs) == 0 && len(p.Found) == 0 {
		return p, io.EOF // both are at their end
	}
	return p, nil
}

// join takes pairs for as long as it is known what both streams hold.
func (w *streamsWalk) join() []Pair {
	if w.arrivals == nil {
		pairs := make([]Pair, len(w.ledger.waiting))
		for i := range w.ledger.waiting {
			pairs[i] = Pair{Seq: w.ledger.waiting[i].Seq, Decision: &w.ledger.waiting[i]}
		}
		w.ledger.waiting = nil
		return pairs
	}
	pairs := make([]Pair, 0, max(len(w.ledger.waiting), len(w.arrivals.waiting)))
	for w.ledger.known() && w.arrivals.known() {
		decision, arrival := w.ledger.head(), w.arrivals.head()
		if decision == nil && arrival == nil {
			break
		}
		pair := Pair{}
		if arrival != nil && (decision == nil || arrival.Seq <= decision.Seq) {
			pair.Seq, pair.Arrival = arrival.Seq, w.arrivals.take()
		}
		if decision != nil && (arrival == nil || decision.Seq <= arrival.Seq) {
			pair.Seq, pair.Decision = decision.Seq, w.ledger.take()
		}
		pairs = append(pairs, pair)
	}
	return pairs
}

// readAhead is how many portions of a stream wait to be joined: enough that
// reading and checking overlap.
const readAhead = 2

// ahead reads a stream in a goroutine of its own, which ends with close.
type ahead struct {
	reader StreamReader
	cancel context.CancelFunc
	done   sync.WaitGroup

	incoming chan read
	waiting  []events.Message // read and not joined yet
	ended    bool             // nothing comes behind what waits
}

type read struct {
	messages []events.Message
	found    []Finding
	err      error
}

func newAhead(ctx context.Context, reader StreamReader) *ahead {
	ctx, cancel := context.WithCancel(ctx)
	a := &ahead{reader: reader, cancel: cancel, incoming: make(chan read, readAhead)}
	a.done.Go(func() {
		defer close(a.incoming)
		for {
			messages, found, err := reader.Next(ctx)
			select {
			case a.incoming <- read{messages, found, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	})
	return a
}

// fill waits until something is at hand or the stream has ended.
func (a *ahead) fill(ctx context.Context) (found []Finding, err error) {
	for len(a.waiting) == 0 && !a.ended {
		select {
		case <-ctx.Done():
			return found, ctx.Err()
		case next, open := <-a.incoming:
			switch {
			case !open:
				return found, errors.Wrap(context.Canceled, "the walk was closed")
			case errors.Is(next.err, io.EOF):
				a.ended = true
			case next.err != nil:
				return found, next.err
			}
			a.waiting = next.messages
			found = append(found, next.found...)
		}
	}
	return found, nil
}

// known reports whether it is certain what comes next.
func (a *ahead) known() bool { return len(a.waiting) > 0 || a.ended }

// head is what comes next, nil at the end.
func (a *ahead) head() *events.Message {
	if len(a.waiting) == 0 {
		return nil
	}
	return &a.waiting[0]
}

func (a *ahead) take() *events.Message {
	m := &a.waiting[0]
	a.waiting = a.waiting[1:]
	return m
}

func (a *ahead) close() error {
	a.cancel()
	a.done.Wait()
	return a.reader.Close()
}
