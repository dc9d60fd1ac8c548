package writer

import "github.com/cockroachdb/errors"

// Why a writer ends. Both are final for the writer that says it.
var (
	// ErrStoodAside: another writer appended. Its decisions are as good as
	// ours; the ledger needs only one of us.
	ErrStoodAside = errors.New("writer: another writer holds the ledger")

	// ErrDamaged: a stream contradicts itself or what is remembered of it.
	ErrDamaged = errors.New("writer: the ledger or its arrivals are damaged")
)

const hintRestore = "nothing was written over it; compare with `ledgerd verify`, then bring the streams back with `ledgerd restore`"

func damaged(format string, args ...any) error {
	return errors.WithHint(errors.Mark(errors.Newf("writer: "+format, args...), ErrDamaged), hintRestore)
}
