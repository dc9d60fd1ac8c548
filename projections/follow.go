package projections

import (
	"context"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/follow"
)

// Rows that a batch holds before it is taken, whatever waits. It may end a
// campaign's opening (domain.MaxSelections) above that.
const (
	applyRows = 5_000  // a transaction that keeps nobody waiting for long
	loadRows  = 20_000 // a rebuild's: nobody reads yet; some 40 MiB
)

// heldBytes is how much the states of the campaigns may take whose rows a
// rebuild writes later, and once: within what its fold may hold.
const heldBytes = 256 << 20

// batch is what one transaction takes.
type batch struct {
	from, to Position
	changes  *Changes
}

// record is a decision as it was read, with the hash of its bytes.
type record struct {
	decision *domain.Decision
	hash     string
	err      error // why there is no decision
}

// follower folds the ledger behind a position: it is the views'
// [follow.Follower]. After an error it must be dropped: the fold may be ahead
// of what was applied.
type follower struct {
	ledger events.Log
	stream string // identity of the ledger
	apply  func(context.Context, batch) error

	fold   *Fold
	rows   int      // that a batch holds
	held   int      // nobody reads until run ends: batches are full, and rows that will be replaced wait until campaigns take so many bytes; 0: they do not wait
	at     Position // of the last decision folded
	taken  Position // that the last batch led to
	broken bool     // the fold has taken half of a decision
}

// run applies the ledger up to and with sequence upTo, waiting for what is not
// there yet. What was read before an error is applied before run returns it.
func (f *follower) run(ctx context.Context, upTo uint64) error {
	f.taken = f.at
	reading := follow.Reading{Log: f.ledger, Stream: events.LedgerStream, From: f.at.Seq + 1, UpTo: upTo}
	return follow.AsDamage(follow.Run(ctx, reading, f))
}

func (f *follower) Prepare(m *events.Message) record {
	decision, err := events.ReadRecord(m)
	return record{decision: decision, hash: events.RecordHash(m.Data), err: err}
}

// Step makes sure that a record is the next of the chain, and folds it.
func (f *follower) Step(ctx context.Context, r record) error {
	if r.err != nil {
		return r.err
	}
	if err := events.LinkOf(r.decision).Follows(f.at.Seq, f.at.Hash); err != nil {
		return err
	}
	if err := f.fold.Add(ctx, r.decision, r.hash); err != nil {
		f.broken = true // the batch is lost
		return err
	}
	f.at = Position{Seq: r.decision.Arrival.Seq, Stream: f.stream, Hash: r.hash}
	return nil
}

func (f *follower) Fill() follow.Fill {
	switch {
	case f.broken || f.fold.Decisions() == 0 && f.fold.Held() == 0:
		return follow.Empty
	case f.full():
		return follow.Full
	case f.held > 0:
		return follow.Held
	}
	return follow.Some
}

// full reports whether the batch holds enough.
func (f *follower) full() bool {
	if f.held > 0 {
		return f.fold.changes.Rows() >= f.rows || f.fold.Held() >= f.held
	}
	return f.fold.Weight() >= f.rows
}

func (f *follower) Take() batch {
	take := f.fold.Take
	if f.full() && f.fold.Held() < f.held {
		take = f.fold.TakeNew
	}
	b := batch{from: f.taken, to: f.at, changes: take()}
	f.taken = f.at
	return b
}

func (f *follower) Commit(ctx context.Context, b batch) error { return f.apply(ctx, b) }
