package tree

import (
	"context"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/projections"
)

// checkLedger makes sure that the ledger goes on from the tree's position and
// still holds everything that was signed, and gives the stream's identity.
// Errors: projections.ErrForeignLedger, projections.ErrDamaged, errors of a
// Log.
func checkLedger(ctx context.Context, ledger events.Log, at projections.Position, signed *KeptHead) (stream string, err error) {
	stream, err = ledger.Identity(ctx)
	if err != nil {
		return "", errors.Wrap(err, "tree: ask LEDGER's identity")
	}
	if at.Seq > 0 && at.Stream != stream {
		return "", foreign("the tree was made from stream %q, LEDGER is stream %q", at.Stream, stream)
	}
	tail, err := ledger.Tail(ctx)
	if err != nil {
		return "", asDamage(errors.Wrap(err, "tree: read the end of LEDGER"))
	}
	if err := remembers(ctx, ledger, tail.Last, "the tree", at.Seq, at.Hash); err != nil {
		return "", err
	}
	if signed == nil {
		return stream, nil
	}
	return stream, remembers(ctx, ledger, tail.Last, "a signed tree head", uint64(signed.Size), signed.Record)
}

// remembers compares what who has seen with the stream, whose last sequence is
// last.
func remembers(ctx context.Context, ledger events.Log, last uint64, who string, seq uint64, hash string) error {
	switch {
	case seq == 0:
		return nil
	case seq > last:
		return foreign("%s covers LEDGER up to sequence %d, but it ends at %d: its end was lost", who, seq, last)
	}
	message, err := ledger.Get(ctx, seq)
	switch {
	case errors.Is(err, events.ErrNotFound):
		return damaged("LEDGER sequence %d is gone", seq)
	case err != nil:
		return errors.Wrapf(err, "tree: read LEDGER sequence %d", seq)
	}
	if found := events.RecordHash(message.Data); found != hash {
		return foreign("%s remembers record hash %s at LEDGER sequence %d, the stream holds %s: the history was replaced", who, hash, seq, found)
	}
	return nil
}

func foreign(format string, args ...any) error {
	return errors.WithHint(errors.Wrapf(projections.ErrForeignLedger, "tree: "+format, args...), hintLedger)
}

func damaged(format string, args ...any) error {
	return errors.WithHint(errors.Wrapf(projections.ErrDamaged, "tree: "+format, args...), hintLedger)
}

// asDamage marks a stream's gap, or a record that does not belong to its place,
// as damage.
func asDamage(err error) error {
	if errors.IsAny(err, events.ErrGap, events.ErrRecordMalformed, events.ErrRecordMisplaced, events.ErrChainBroken) {
		return errors.WithHint(errors.Mark(err, projections.ErrDamaged), hintLedger)
	}
	return err
}

// isTransient tells what is tried again from what ends a tree.
func isTransient(err error) bool {
	return errors.IsAny(err, projections.ErrUnavailable, projections.ErrMoved, events.ErrUnavailable)
}
