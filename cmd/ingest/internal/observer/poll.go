package observer

import (
	"context"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain/checkpoint"
)

// ErrDeadline: time was up before the answer was final.
var ErrDeadline = errors.New("observer: no final answer in time")

// DefaultInterval is how often a claim is read.
const DefaultInterval = 2 * time.Second

// Reader reads a claim once. An [Observer] is one.
type Reader interface {
	Read(ctx context.Context, publication checkpoint.Publication) (Reading, error)
}

// Polling says how to poll.
type Polling struct {
	// Interval lies between two reads; 0: DefaultInterval.
	Interval time.Duration
	// Publish gets the first pending reading that can be published, and the
	// final one. Its error ends the polling.
	Publish func(ctx context.Context, reading Reading) error
	// Retrying hears of a read that failed and is tried again; may be nil.
	Retrying func(err error)
	// Wait waits for an interval, or until the context ends, with its error;
	// nil: by the clock.
	Wait func(ctx context.Context, interval time.Duration) error
}

// Poll reads until the answer is bound or rejected, or until ctx ends, and
// gives the last reading. A context that passes its deadline ends it with
// ErrDeadline; one that is cancelled, with the context's error. A read that may
// succeed later is tried again, any other error of a read ends it.
func Poll(ctx context.Context, from Reader, publication checkpoint.Publication, p Polling) (Reading, error) {
	p.fill()
	var last Reading
	var trouble error // of the latest read that ended by itself
	published := false
	for {
		reading, err := from.Read(ctx, publication)
		switch {
		case err == nil:
			last, trouble = reading, nil
			if reading.Final() || (!published && reading.Read != nil) {
				if err := p.Publish(ctx, reading); err != nil {
					return last, err
				}
				published = true
			}
			if reading.Final() {
				return last, nil
			}
		case ctx.Err() != nil: // the read failed because time is up
			return last, ended(ctx, last, trouble)
		case !Retryable(err):
			return last, err
		default:
			trouble = err
			p.Retrying(err)
		}
		if err := p.Wait(ctx, p.Interval); err != nil {
			return last, ended(ctx, last, trouble)
		}
	}
}

func (p *Polling) fill() {
	if p.Interval == 0 {
		p.Interval = DefaultInterval
	}
	if p.Retrying == nil {
		p.Retrying = func(error) {}
	}
	if p.Wait == nil {
		p.Wait = timer
	}
}

// ended says why polling stopped before the answer was final.
func ended(ctx context.Context, last Reading, trouble error) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.CombineErrors(errors.Wrap(ctx.Err(), "observer: stopped polling"), trouble)
	}
	state := last.Result.Message
	switch {
	case trouble != nil:
		state = "the last read failed: " + trouble.Error()
	case state == "":
		state = "the first read took too long"
	}
	err := errors.Mark(errors.Newf("%s: %s", ErrDeadline, state), ErrDeadline)
	for _, hint := range errors.GetAllHints(trouble) {
		err = errors.WithHint(err, hint)
	}
	return errors.WithHint(errors.CombineErrors(err, trouble), "run it again with a later deadline: what was published is only repeated")
}
