package writer

import (
	"context"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/follow"
)

const (
	// standbyPatience is how long arrivals may wait undecided, with the ledger
	// not moving, before a writer that stood aside takes over. Longer than any
	// batch or server restart takes, shorter than people wait for an answer.
	standbyPatience = 10 * time.Second
	// standbyInterval is how often it looks.
	standbyInterval = time.Second
)

// RunWithStandby runs the writer, and when another one holds the ledger stands
// by until that one no longer decides. Taking over needs nobody's leave: the
// compare-and-swap on the stream decides between two writers that both try.
func (w *Writer) RunWithStandby(ctx context.Context) error {
	for {
		err := w.Run(ctx)
		if !errors.Is(err, ErrStoodAside) {
			return err
		}
		w.Logger.Warn("the writer stands aside", "why", err)
		if !w.standBy(ctx) {
			return nil
		}
		w.Logger.Warn("the writer takes over: arrivals wait and nobody decides them")
	}
}

// standBy waits until the ledger has not moved for standbyPatience although
// arrivals wait, and reports false when ctx ended first. Streams that cannot be
// reached just now count as moving.
func (w *Writer) standBy(ctx context.Context) bool {
	var still time.Duration
	var before uint64
	for follow.Sleep(ctx, standbyInterval) {
		ledger, err := w.Ledger.Tail(ctx)
		if err != nil {
			still = 0
			continue
		}
		arrivals, err := w.Arrivals.Tail(ctx)
		if err != nil || ledger.Last != before || arrivals.Last <= ledger.Last {
			before, still = ledger.Last, 0
			continue
		}
		if still += standbyInterval; still >= standbyPatience {
			return true
		}
	}
	return false
}
