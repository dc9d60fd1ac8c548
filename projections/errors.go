package projections

import (
	"context"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/follow"
)

const (
	hintForeign = "if this ledger is the right one, make the views from it with `ledgerd rebuild`"
	hintVersion = "make the views anew with `ledgerd rebuild`; a daemon does so when it starts"
)

// checkLedger makes sure that the ledger goes on from the views' position, and
// gives the stream's identity. Errors: follow.ErrForeignLedger,
// follow.ErrDamaged, errors of a Log.
func checkLedger(ctx context.Context, ledger events.Log, at Position) (stream string, err error) {
	stream, err = follow.CheckLedger(ctx, ledger, "the views", at)
	if errors.Is(err, follow.ErrForeignLedger) {
		return "", errors.WithHint(err, hintForeign)
	}
	return stream, err
}
