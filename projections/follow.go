package projections

import (
	"context"
	"math"
	"runtime"

	"github.com/cockroachdb/errors"
	"golang.org/x/sync/errgroup"

	"github.com/ledgerd/ledgerd/events"
)

// Rows that a batch holds before it is taken, whatever waits. It may end a
// campaign's opening (domain.MaxSelections) above that.
const (
	applyRows = 5_000  // a transaction that keeps nobody waiting for long
	loadRows  = 20_000 // a rebuild's: nobody reads yet; some 40 MiB
)

// heldCells is how many cells the campaigns may have whose rows a rebuild
// writes later, and once: some 256 MiB, within what its fold may hold.
const heldCells = 1 << 18

// forever follows the ledger beyond every end.
const forever = math.MaxUint64

// batch is what one transaction takes.
type batch struct {
	from, to Position
	changes  *Changes
}

// follower reads the ledger behind a position and folds it. Reading, decoding,
// folding and applying go on at the same time, each in order. After an error
// it must be dropped: the fold may be ahead of what was applied.
type follower struct {
	ledger events.Log
	stream string // identity of the ledger
	fold   *Fold
	rows   int      // that a batch holds
	held   int      // nobody reads until run ends: batches are full, and rows that will be replaced wait until campaigns have so many cells; 0: they do not wait
	at     Position // of the last decision folded; owned by the folding stage while it runs
}

// run applies the ledger up to and with sequence upTo, waiting for what is not
// there yet. apply is called from run's goroutine. What was read before an error is
// applied before run returns it.
func (f *follower) run(ctx context.Context, upTo uint64, apply func(context.Context, batch) error) error {
	if f.at.Seq >= upTo {
		return nil
	}
	stagesCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	stages, stagesCtx := errgroup.WithContext(stagesCtx)
	chunks := make(chan *chunk, runtime.GOMAXPROCS(0))
	batches := make(chan batch)
	from := f.at.Seq + 1
	stages.Go(func() error {
		defer close(chunks)
		f.read(stagesCtx, stages, from, upTo, chunks)
		return nil
	})
	stages.Go(func() error {
		defer close(batches)
		return f.foldChunks(stagesCtx, chunks, batches)
	})
	for b := range batches {
		if err := apply(ctx, b); err != nil {
			cancel()
			_ = stages.Wait() // of the cancellation
			return err
		}
	}
	return stages.Wait()
}

// read hands chunks on in order, each decoding on its own, the last one with
// the error that ended the reading. At most as many as the channel holds, and
// one more, are in the air.
func (f *follower) read(ctx context.Context, stages *errgroup.Group, from, upTo uint64, chunks chan<- *chunk) {
	send := func(c *chunk) bool {
		select {
		case chunks <- c:
			return true
		case <-ctx.Done():
			return false
		}
	}
	cursor, err := f.ledger.Read(ctx, from)
	if err != nil {
		send(failedChunk(errors.Wrapf(err, "projections: read LEDGER from sequence %d", from)))
		return
	}
	defer cursor.Close()
	for from <= upTo {
		messages, err := cursor.Next(ctx)
		if err != nil {
			send(failedChunk(errors.Wrapf(err, "projections: read LEDGER from sequence %d", from)))
			return
		}
		messages = messages[:min(uint64(len(messages)), upTo-from+1)]
		from += uint64(len(messages))
		next := newChunk(messages)
		stages.Go(func() error { next.decode(); return nil })
		if !send(next) {
			return
		}
	}
}

// foldChunks folds what has been read and hands it on when enough has gathered
// or nothing more is at hand. Where nobody reads it waits for the former, and
// at last hands on what was held.
func (f *follower) foldChunks(ctx context.Context, chunks <-chan *chunk, batches chan<- batch) error {
	taken := f.at
	hand := func(take func() *Changes) error {
		b := batch{from: taken, to: f.at, changes: take()}
		taken = f.at
		select {
		case batches <- b:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for next := range chunks {
		records, failed := next.wait(ctx)
		for _, r := range records {
			if err := events.LinkOf(r.decision).Follows(f.at.Seq, f.at.Hash); err != nil {
				failed = asDamage(err) // of this one; those behind it do not matter
				break
			}
			if err := f.add(ctx, r); err != nil {
				return err
			}
			if f.full() {
				if err := hand(f.taking()); err != nil {
					return err
				}
			}
		}
		if f.waits() && (failed != nil || len(chunks) == 0 && f.held == 0) {
			if err := hand(f.fold.Take); err != nil {
				return err
			}
		}
		if failed != nil {
			return failed
		}
	}
	if f.waits() {
		return hand(f.fold.Take)
	}
	return ctx.Err()
}

// full reports whether the batch holds enough.
func (f *follower) full() bool {
	if f.held > 0 {
		return f.fold.changes.Rows() >= f.rows || f.fold.Held() >= f.held
	}
	return f.fold.Weight() >= f.rows
}

// taking is how a full batch is taken.
func (f *follower) taking() func() *Changes {
	if f.fold.Held() < f.held {
		return f.fold.TakeNew
	}
	return f.fold.Take
}

// waits reports whether anything was folded and not handed on.
func (f *follower) waits() bool { return f.fold.Decisions() > 0 || f.fold.Held() > 0 }

// add folds the next record. After an error the batch is lost: the fold may
// have taken half of the decision.
func (f *follower) add(ctx context.Context, r record) error {
	if err := f.fold.Add(ctx, r.decision, r.hash); err != nil {
		return asDamage(err)
	}
	f.at = Position{Seq: r.decision.Arrival.Seq, Stream: f.stream, Hash: r.hash}
	return nil
}
