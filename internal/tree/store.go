package tree

import (
	"context"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/internal/follow"
)

// State is how far a tree has read the ledger, and its root there.
type State struct {
	follow.Position
	Root tlog.Hash // of the tree over that many records; EmptyRoot before the first
}

// Size is the number of records in the tree.
func (s State) Size() int64 { return int64(s.Seq) }

// EmptyRoot is the root of the tree without records: SHA-256 of nothing.
var EmptyRoot = func() tlog.Hash {
	root, err := tlog.TreeHash(0, nil)
	if err != nil {
		panic("tree: the empty tree has no root: " + err.Error())
	}
	return root
}()

// KeptHead is a signed head as it is kept.
type KeptHead struct {
	Head
	Key      string    // verifier key of the key that signed it
	Record   string    // lower hex SHA-256 of the last record below it, what the ledger is compared with
	SignedAt time.Time // UTC, for people; no signature vouches for it
}

// Store keeps a tree: its tiles with their state, and the heads that were
// signed. Implementation: internal/tree/treestore. It is safe for concurrent use, and
// several processes may read while one writes.
//
// What a call stored survives a power failure before the call returns.
type Store interface {
	// State is how far the tree is. A new tree is empty.
	State(ctx context.Context) (State, error)

	// Append puts tiles in place of those with their ids and moves the state
	// from from to to, in one transaction. Errors: follow.ErrMoved when the
	// state is not from, follow.ErrUnavailable.
	Append(ctx context.Context, from, to State, tiles []Tile) error

	// Tiles gives the hashes of tiles, in the order of ids, nil where there is
	// none.
	Tiles(ctx context.Context, ids []TileID) ([][]byte, error)

	// AddHead keeps a head for good. A head that is there already is no error.
	// Errors: ErrSplitView when another root was signed for its size,
	// follow.ErrUnavailable.
	AddHead(ctx context.Context, head KeptHead) error

	// Heads gives the heads with sizes above after, smallest first, at most
	// limit of them.
	Heads(ctx context.Context, after int64, limit int) ([]KeptHead, error)

	// LastHead gives the newest of the largest heads with a size of at most
	// upTo. Error: ErrNoHead.
	LastHead(ctx context.Context, upTo int64) (KeptHead, error)

	// Reset empties the tree and keeps the heads.
	Reset(ctx context.Context) error

	// Close releases everything.
	Close() error
}

// Steps at which a follow.Fault is asked.
const (
	BeforeAppendCommit follow.Step = "before the commit of an append to the tree"
	AfterAppendCommit  follow.Step = "after the commit of an append to the tree"
	BeforeHeadCommit   follow.Step = "before the commit of a head"
	AfterHeadCommit    follow.Step = "after the commit of a head"
)
