package projections

import (
	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

// Why views cannot follow a ledger. Both are final: whoever runs them looks.
var (
	// ErrForeignLedger: the ledger is not the one, or no longer all of the
	// one, that the views were made from.
	ErrForeignLedger = errors.New("projections: the ledger is not the one the views were made from")
	// ErrDamaged: the ledger has a hole, a broken chain or a record that does
	// not decode.
	ErrDamaged = errors.New("projections: the ledger is damaged")
)

const (
	hintForeign = "nothing was changed and the views can still be read; check the streams with `ledgerd verify` and bring them back " +
		"with `ledgerd restore`, or, if this ledger is the right one, make the views from it with `ledgerd rebuild`"
	hintDamaged = "nothing was changed and the views can still be read; look at the damage with `ledgerd verify`, " +
		"then bring the streams back with `ledgerd restore`"
	hintVersion = "make the views anew with `ledgerd rebuild`; a daemon does so when it starts"
)

func foreign(format string, args ...any) error {
	return errors.WithHint(errors.Wrapf(ErrForeignLedger, format, args...), hintForeign)
}

func damaged(format string, args ...any) error {
	return errors.WithHint(errors.Wrapf(ErrDamaged, format, args...), hintDamaged)
}

// asDamage marks errors that mean damage, wherever they come from.
func asDamage(err error) error {
	if errors.IsAny(err, events.ErrGap, events.ErrRecordMalformed, events.ErrRecordMisplaced, events.ErrChainBroken, domain.ErrLedgerContradicts) && !errors.Is(err, ErrDamaged) {
		return errors.WithHint(errors.Mark(err, ErrDamaged), hintDamaged)
	}
	return err
}

// isTransient tells what is tried again from what ends a runner.
func isTransient(err error) bool {
	return errors.IsAny(err, ErrUnavailable, ErrMoved, events.ErrUnavailable)
}
