package writer

import (
	"context"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/follow"
)

// position is where the writer goes on: behind the record at seq.
type position struct {
	seq  uint64 // last decided sequence, 0 at the start
	hash string // of the record at seq
}

// flight is what was given to the stream and not acknowledged. Deciding is
// pure, so a batch that is decided again holds the same records: one hash a
// sequence is enough, however often it was sent.
type flight struct {
	after position          // the last acknowledged record
	sent  map[uint64]string // record hashes by sequence, at most one batch behind after
}

// behind gives what may still arrive late behind the found position: a batch
// that timed out here can be stored after the tail was read.
func (f *flight) behind(found position) map[uint64]string {
	sent := map[uint64]string{}
	if f == nil {
		return sent
	}
	for seq, sum := range f.sent {
		if seq > found.seq {
			sent[seq] = sum
		}
	}
	return sent
}

// resync reads the tail from the leader and finds the position behind it. It
// is both how a writer starts and how it recovers; a flight is what this
// writer had in the air when it lost track.
func (w *Writer) resync(ctx context.Context, flight *flight) (position, error) {
	tail, err := w.Ledger.Tail(ctx)
	if err != nil {
		return position{}, follow.AsDamage(errors.Wrap(err, "writer: read the end of LEDGER"))
	}
	found, record, err := w.readTail(ctx, tail)
	if err != nil {
		return position{}, err
	}
	if flight != nil {
		if err := w.ownTail(ctx, *flight, found, tail.End); err != nil {
			return position{}, err
		}
	}
	if err := w.agree(ctx); err != nil {
		return position{}, err
	}
	w.rules = domain.RuleVersion
	if record != nil { // a version never falls along the ledger
		w.rules = max(w.rules, record.V)
	}
	return found, w.checkAnswered(ctx, record)
}

// readTail checks the last record by itself and against the one before it.
func (w *Writer) readTail(ctx context.Context, tail events.Tail) (position, *domain.Decision, error) {
	if tail.First > 1 {
		return position{}, nil, follow.Damaged("LEDGER begins at sequence %d: the records before it are gone", tail.First)
	}
	if tail.End == nil {
		if tail.Last != 0 {
			return position{}, nil, follow.Damaged("LEDGER has no records left of %d", tail.Last)
		}
		return position{hash: events.GenesisHash}, nil, nil
	}
	record, err := events.ReadRecord(tail.End)
	if err != nil {
		return position{}, nil, follow.AsDamage(err)
	}
	before := events.GenesisHash
	if tail.Last > 1 {
		previous, err := w.Ledger.Get(ctx, tail.Last-1)
		switch {
		case errors.Is(err, events.ErrNotFound):
			return position{}, nil, follow.Damaged("LEDGER sequence %d is missing", tail.Last-1)
		case err != nil:
			return position{}, nil, err
		}
		before = events.RecordHash(previous.Data)
	}
	if err := events.LinkOf(record).Follows(tail.Last-1, before); err != nil {
		return position{}, nil, follow.AsDamage(err)
	}
	return position{seq: tail.Last, hash: events.RecordHash(tail.End.Data)}, record, nil
}

// ownTail decides whose the tail is after a batch was lost track of.
func (w *Writer) ownTail(ctx context.Context, flight flight, found position, end *events.Message) error {
	switch {
	case found.seq < flight.after.seq:
		return follow.Damaged("LEDGER ended at sequence %d and now ends at %d: its end was lost", flight.after.seq, found.seq)
	case found == flight.after:
		return nil // nothing was stored: decide it again
	case end.Header.Get(events.HeaderEpoch) == w.Epoch && flight.sent[found.seq] == found.hash:
		return nil // it was stored, only the acknowledgement was lost
	case end.Header.Get(events.HeaderEpoch) == w.Epoch:
		return follow.Damaged("LEDGER sequence %d carries this writer's epoch %s, but not the record it wrote", found.seq, w.Epoch)
	}
	return w.standAside(ctx, flight.after, end)
}

// standAside makes sure that what the other writer appended continues the
// chain, then names it.
func (w *Writer) standAside(ctx context.Context, after position, end *events.Message) error {
	if end.Seq == after.seq {
		return follow.Damaged("LEDGER sequence %d was replaced by another record", end.Seq)
	}
	next, err := w.Ledger.Get(ctx, after.seq+1)
	switch {
	case errors.Is(err, events.ErrNotFound):
		return follow.Damaged("LEDGER sequence %d is missing", after.seq+1)
	case err != nil:
		return err
	}
	record, err := events.ReadRecord(next)
	if err != nil {
		return follow.AsDamage(err)
	}
	if err := events.LinkOf(record).Follows(after.seq, after.hash); err != nil {
		return follow.AsDamage(errors.Wrapf(err, "another writer (epoch %s)", next.Header.Get(events.HeaderEpoch)))
	}
	return errors.WithHintf(
		errors.Wrapf(ErrStoodAside, "LEDGER went on to sequence %d by epoch %s on host %s, this writer is epoch %s",
			end.Seq, end.Header.Get(events.HeaderEpoch), end.Header.Get(events.HeaderHost), w.Epoch),
		"nothing was lost: the other writer decides the same arrivals; stop one of the two daemons")
}

// agree compares every memory of the past with the stream.
func (w *Writer) agree(ctx context.Context) error {
	for _, memory := range w.Memories {
		seq, hash, err := memory.Remembered(ctx)
		if err != nil {
			return errors.Wrapf(err, "writer: ask what %s remembers", memory.Name())
		}
		err = follow.CheckRecord(ctx, w.Ledger, memory.Name(), seq, hash)
		if errors.Is(err, follow.ErrForeignLedger) {
			return errors.Mark(err, follow.ErrDamaged) // whose ledger it is, the writer does not ask: its end or history is not what it was
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkAnswered compares the last decision with the arrival it answers. An
// ARRIVALS stream that lost its end would give old sequences to new arrivals.
func (w *Writer) checkAnswered(ctx context.Context, record *domain.Decision) error {
	if record == nil {
		return nil
	}
	tail, err := w.Arrivals.Tail(ctx)
	if err != nil {
		return follow.AsDamage(errors.Wrap(err, "writer: read the end of ARRIVALS"))
	}
	if tail.Last < record.Arrival.Seq {
		return follow.Damaged("LEDGER answers arrival %d, but ARRIVALS ends at %d: its end was lost", record.Arrival.Seq, tail.Last)
	}
	message, err := w.Arrivals.Get(ctx, record.Arrival.Seq)
	switch {
	case errors.Is(err, events.ErrNotFound):
		return follow.Damaged("ARRIVALS sequence %d is missing, which LEDGER answers", record.Arrival.Seq)
	case err != nil:
		return err
	}
	if found := events.RecordHash(message.Data); found != record.Arrival.SHA256 {
		return follow.Damaged("LEDGER sequence %d answers a body with digest %s, ARRIVALS holds %s there", record.Arrival.Seq, record.Arrival.SHA256, found)
	}
	return nil
}
