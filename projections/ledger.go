package projections

import (
	"context"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
)

// checkLedger makes sure that the ledger goes on from a position, and gives
// the stream's identity. Errors: ErrForeignLedger, ErrDamaged, errors of a Log.
func checkLedger(ctx context.Context, ledger events.Log, at Position) (stream string, err error) {
	stream, err = ledger.Identity(ctx)
	if err != nil {
		return "", errors.Wrap(err, "projections: ask LEDGER's identity")
	}
	if at.Seq == 0 {
		return stream, nil
	}
	tail, err := ledger.Tail(ctx)
	switch {
	case err != nil:
		return "", asDamage(errors.Wrap(err, "projections: read the end of LEDGER"))
	case at.Stream != stream:
		return "", foreign("the views were read from stream %q, LEDGER is stream %q", at.Stream, stream)
	case tail.Last < at.Seq:
		return "", foreign("the views have read LEDGER up to sequence %d, but it ends at %d: its end was lost", at.Seq, tail.Last)
	}
	found, err := hashAt(ctx, ledger, at.Seq)
	switch {
	case err != nil:
		return "", err
	case found != at.Hash:
		return "", foreign("the views remember record hash %s at LEDGER sequence %d, the stream holds %s: the history was replaced", at.Hash, at.Seq, found)
	}
	return stream, nil
}

// hashAt gives the hash of the record at a sequence that must be there.
func hashAt(ctx context.Context, ledger events.Log, seq uint64) (string, error) {
	message, err := ledger.Get(ctx, seq)
	switch {
	case errors.Is(err, events.ErrNotFound):
		return "", damaged("LEDGER sequence %d is gone", seq)
	case err != nil:
		return "", errors.Wrapf(err, "projections: read LEDGER sequence %d", seq)
	}
	return events.RecordHash(message.Data), nil
}
