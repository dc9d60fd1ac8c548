package writer

import (
	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/internal/follow"
)

// ErrStoodAside: another writer appended. Its decisions are as good as ours;
// the ledger needs only one of us. It is final for the writer that says it.
var ErrStoodAside = errors.New("writer: another writer holds the ledger")

// isFinal tells what ends a writer from what it tries again.
func isFinal(err error) bool {
	return errors.HasAssertionFailure(err) || errors.IsAny(err, ErrStoodAside, follow.ErrDamaged, domain.ErrLedgerContradicts, domain.ErrUnknownRules)
}
