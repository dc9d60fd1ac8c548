package follow

import (
	"context"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

// Position is how far LEDGER has been followed.
type Position struct {
	Seq    uint64 `json:"seq"`    // sequence of the last decision that was committed, 0 before the first
	Stream string `json:"stream"` // identity of the stream that it was read from, "" before the first
	Hash   string `json:"hash"`   // lower hex SHA-256 of that decision's record, "" before the first
}

// AsOf is the ledger index of the last decision, -1 before the first.
func (p Position) AsOf() int64 { return int64(p.Seq) - 1 }

// SameRecord reports whether two positions are behind the same record,
// whatever stream it was read from: a stream that was copied is another one.
func (p Position) SameRecord(other Position) bool { return p.Seq == other.Seq && p.Hash == other.Hash }

// Why a follower cannot go on. Both are final: whoever runs it looks.
var (
	// ErrForeignLedger: the ledger is not the one, or no longer all of the
	// one, that was followed.
	ErrForeignLedger = errors.New("follow: the ledger is not the one that was followed")
	// ErrDamaged: a stream has a hole, a broken chain or a record that does
	// not decode.
	ErrDamaged = errors.New("follow: the streams are damaged")
)

// Errors of a store that keeps a position. Both are tried again.
var (
	// ErrMoved: the stored position is not the expected one. Nothing was
	// written. Read the position and go on from there.
	ErrMoved = errors.New("follow: the stored position is not the expected one")
	// ErrUnavailable: the database cannot be reached just now. Whether a write
	// was stored is unknown; the position tells.
	ErrUnavailable = errors.New("follow: the database is unavailable")
)

const hintDamaged = "nothing was written over it; look at the damage with `ledgerd verify`, then bring the streams back with `ledgerd restore`"

// Damaged is an ErrDamaged with what to do about it.
func Damaged(format string, args ...any) error {
	return errors.WithHint(errors.Wrapf(ErrDamaged, format, args...), hintDamaged)
}

func foreign(format string, args ...any) error {
	return errors.WithHint(errors.Wrapf(ErrForeignLedger, format, args...), hintDamaged)
}

// AsDamage marks errors that mean damage, wherever they come from, and leaves
// others as they are.
func AsDamage(err error) error {
	if errors.IsAny(err, events.ErrGap, events.ErrRecordMalformed, events.ErrRecordMisplaced, events.ErrChainBroken, domain.ErrLedgerContradicts) &&
		!errors.Is(err, ErrDamaged) {
		return errors.WithHint(errors.Mark(err, ErrDamaged), hintDamaged)
	}
	return err
}

// IsTransient tells what is tried again from what ends a follower.
func IsTransient(err error) bool {
	return errors.IsAny(err, ErrUnavailable, ErrMoved, events.ErrUnavailable)
}

// CheckLedger makes sure that LEDGER goes on from a position, and gives the
// stream's identity. who has that position, for people. Errors:
// ErrForeignLedger, ErrDamaged, errors of a Log.
func CheckLedger(ctx context.Context, ledger events.Log, who string, at Position) (stream string, err error) {
	if stream, err = ledger.Identity(ctx); err != nil {
		return "", errors.Wrap(err, "follow: ask LEDGER's identity")
	}
	if at.Seq > 0 && at.Stream != stream {
		return "", foreign("%s followed stream %q, LEDGER is stream %q", who, at.Stream, stream)
	}
	return stream, CheckRecord(ctx, ledger, who, at.Seq, at.Hash)
}

// CheckRecord makes sure that LEDGER still holds the record with a hash at a
// sequence that who has seen; at sequence 0 nothing was seen. Errors:
// ErrForeignLedger, ErrDamaged, errors of a Log.
func CheckRecord(ctx context.Context, ledger events.Log, who string, seq uint64, hash string) error {
	if seq == 0 {
		return nil
	}
	tail, err := ledger.Tail(ctx)
	switch {
	case err != nil:
		return AsDamage(errors.Wrap(err, "follow: read the end of LEDGER"))
	case seq > tail.Last:
		return foreign("%s has seen LEDGER up to sequence %d, but it ends at %d: its end was lost", who, seq, tail.Last)
	}
	message, err := ledger.Get(ctx, seq)
	switch {
	case errors.Is(err, events.ErrNotFound):
		return Damaged("%s has seen LEDGER sequence %d, which is gone", who, seq)
	case err != nil:
		return errors.Wrapf(err, "follow: read LEDGER sequence %d", seq)
	}
	if found := events.RecordHash(message.Data); found != hash {
		return foreign("%s has seen record hash %s at LEDGER sequence %d, the stream holds %s: the history was replaced", who, hash, seq, found)
	}
	return nil
}

// Memory is a local memory of the ledger's past: a position, the last signed
// tree head. A stream that lost its end looks healthy by itself; only a memory
// can tell.
type Memory interface {
	// Name says whose memory it is.
	Name() string
	// Remembered gives the last sequence that was seen and the hash of its
	// record; 0 and "" when nothing was seen yet.
	Remembered(ctx context.Context) (seq uint64, hash string, err error)
}

// Step is a moment at which a crash would matter.
type Step string

// Fault is a hook for tests: what it answers fails the step. An error after a
// commit is a lost acknowledgement.
type Fault func(Step) error

// At asks the hook, if there is one.
func (f Fault) At(step Step) error {
	if f == nil {
		return nil
	}
	return f(step)
}
