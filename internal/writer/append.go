package writer

import (
	"context"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
)

// appender stores batches, one after the other. It belongs to Commit; when
// following has ended lost may be called.
type appender struct {
	writer   *Writer
	position position          // behind the last batch that was acknowledged
	sent     map[uint64]string // record hashes by sequence, of what was given to the stream and not acknowledged
}

// Commit appends a batch behind the one before it.
func (a *appender) Commit(ctx context.Context, next *batch) error {
	if next.after != a.position {
		return errors.AssertionFailedf("writer: a batch behind %d was made for %d", a.position.seq, next.after.seq)
	}
	for i, sum := range next.hashes {
		a.sent[next.after.seq+1+uint64(i)] = sum
	}
	started := time.Now() // only measured, nothing is decided by it
	// A crash before this line loses only work: the arrivals are decided again.
	last, err := a.writer.Ledger.Append(ctx, a.position.seq, next.messages)
	if err != nil {
		return errors.Wrapf(err, "writer: append decisions %d to %d", a.position.seq+1, next.last.seq)
	}
	// Durable from here: a restart reads the tail and goes on behind it.
	if last != next.last.seq {
		return errors.Wrapf(events.ErrStateUnknown, "writer: the stream says its last sequence is %d, not %d", last, next.last.seq)
	}
	a.position = next.last
	clear(a.sent)
	a.writer.committed.Store(last)
	a.writer.Observer.Appended(next.decisions, next.bytes, time.Since(started))
	return nil
}

// lost gives what is known of batches whose fate is not. Without any it is
// still worth having: a tail that moved since shows by it.
func (a *appender) lost() *flight { return &flight{after: a.position, sent: a.sent} }
