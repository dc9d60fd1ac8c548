package tree

import (
	"context"
	"math"

	"github.com/cockroachdb/errors"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/events"
)

// Reader answers what strangers ask of a tree. It needs no daemon: the store
// may be written by another process meanwhile. It is safe for concurrent use.
//
// It answers within the last signed head only: what nobody vouches for yet is
// not shown.
type Reader struct {
	store  Store
	ledger events.Log // nil: records cannot be asked for
	keys   *Keys
	known  []note.Verifier
}

// NewReader makes a reader. ledger may be nil for whoever asks for no records,
// bundles or receipts. Errors: those of Keys.Check.
func NewReader(store Store, keys *Keys, ledger events.Log) (*Reader, error) {
	if err := keys.Check(); err != nil {
		return nil, err
	}
	known, err := keys.Verifiers()
	return &Reader{store: store, ledger: ledger, keys: keys, known: known}, err
}

// Keys are the ledger's.
func (r *Reader) Keys() *Keys { return r.keys }

// Head is the last signed head. Error: ErrNoHead.
func (r *Reader) Head(ctx context.Context) (KeptHead, error) {
	return r.HeadAt(ctx, math.MaxInt64)
}

// HeadAt is the last signed head of at most size records, checked with the
// ledger's keys. Errors: ErrNoHead, ErrKeyUnknown.
func (r *Reader) HeadAt(ctx context.Context, size int64) (KeptHead, error) {
	head, err := r.store.LastHead(ctx, size)
	if err != nil {
		return KeptHead{}, err
	}
	return head, r.checkHead(head)
}

// checkHead makes sure that a kept head is what one of the keys signed.
func (r *Reader) checkHead(head KeptHead) error {
	opened, key, err := exactHead(head.Note, r.known)
	switch {
	case errors.Is(err, ErrUntrusted):
		return errors.WithHint(errors.Mark(errors.Wrapf(err, "tree: the head of %d records", head.Size), ErrKeyUnknown), hintKey)
	case err != nil:
		return errors.WithHint(errors.Mark(errors.Wrapf(err, "tree: the kept head of %d records", head.Size), ErrTreeDamaged), hintTree)
	}
	signed, err := ParseKey(head.Key)
	if err != nil || opened != head.Head || signed.KeyHash() != key.KeyHash() {
		return treeDamaged("the kept head of %d records is not the one that was signed", head.Size)
	}
	return nil
}

// Inclusion is a proof that a record is in a tree.
type Inclusion struct {
	Index int64
	Size  int64
	Leaf  tlog.Hash
	Root  tlog.Hash // of the tree of that size
	Proof tlog.RecordProof
}

// Inclusion proves that the record with an index is in the tree of a size; 0
// is the last head's. Errors: ErrNoHead, ErrBeyondHead, ErrTreeDamaged.
func (r *Reader) Inclusion(ctx context.Context, index, size int64) (Inclusion, error) {
	head, err := r.Head(ctx)
	if err != nil {
		return Inclusion{}, err
	}
	if size == 0 {
		size = head.Size
	}
	if size < 1 || index < 0 || index >= size || size > head.Size {
		return Inclusion{}, errors.Wrapf(ErrBeyondHead, "index %d in a tree of %d records; the last signed head has %d", index, size, head.Size)
	}
	hashes := storedHashes(ctx, r.store)
	in := Inclusion{Index: index, Size: size}
	leaf, err := hashes.ReadHashes([]int64{tlog.StoredHashIndex(0, index)})
	if err != nil {
		return Inclusion{}, err
	}
	in.Leaf = leaf[0]
	if in.Root, err = r.rootAt(ctx, size, head); err != nil {
		return Inclusion{}, err
	}
	if in.Proof, err = tlog.ProveRecord(size, index, hashes); err != nil {
		return Inclusion{}, err
	}
	if err := in.Check(); err != nil {
		return Inclusion{}, treeDamaged("the hashes around record %d do not lead to the root of %d records", index, size)
	}
	return in, nil
}

// Check runs the proof. Error: ErrProofFailed.
func (in *Inclusion) Check() error {
	if in.Size > maxSize {
		return errors.Wrapf(ErrProofFailed, "a tree of %d records", in.Size)
	}
	if err := tlog.CheckRecord(in.Proof, in.Size, in.Root, in.Index, in.Leaf); err != nil {
		return errors.Mark(errors.Wrapf(err, "tree: record %d in a tree of %d", in.Index, in.Size), ErrProofFailed)
	}
	return nil
}

// Consistency is a proof that a tree continues a smaller one.
type Consistency struct {
	From, To         int64 // sizes
	FromRoot, ToRoot tlog.Hash
	Proof            tlog.TreeProof
}

// Consistency proves that the tree of size to continues the one of size from;
// 0 as to is the last head's. Errors: ErrNoHead, ErrBeyondHead,
// ErrTreeDamaged.
func (r *Reader) Consistency(ctx context.Context, from, to int64) (Consistency, error) {
	head, err := r.Head(ctx)
	if err != nil {
		return Consistency{}, err
	}
	if to == 0 {
		to = head.Size
	}
	if from < 1 || from > to || to > head.Size {
		return Consistency{}, errors.Wrapf(ErrBeyondHead, "from %d to %d records; the last signed head has %d", from, to, head.Size)
	}
	c := Consistency{From: from, To: to}
	if c.FromRoot, err = r.rootAt(ctx, from, head); err != nil {
		return Consistency{}, err
	}
	if c.ToRoot, err = r.rootAt(ctx, to, head); err != nil {
		return Consistency{}, err
	}
	if c.Proof, err = tlog.ProveTree(to, from, storedHashes(ctx, r.store)); err != nil {
		return Consistency{}, err
	}
	if err := c.Check(); err != nil {
		return Consistency{}, treeDamaged("the hashes between %d and %d records do not lead from one root to the other", from, to)
	}
	return c, nil
}

// Check runs the proof. Error: ErrProofFailed.
func (c *Consistency) Check() error {
	if c.To > maxSize {
		return errors.Wrapf(ErrProofFailed, "a tree of %d records", c.To)
	}
	if err := tlog.CheckTree(c.Proof, c.To, c.ToRoot, c.From, c.FromRoot); err != nil {
		return errors.Mark(errors.Wrapf(err, "tree: from %d to %d records", c.From, c.To), ErrProofFailed)
	}
	return nil
}

// rootAt is the root of the first size records, held against what was signed
// for as many, if anything was.
func (r *Reader) rootAt(ctx context.Context, size int64, last KeptHead) (tlog.Hash, error) {
	root, err := tlog.TreeHash(size, storedHashes(ctx, r.store))
	if err != nil {
		return tlog.Hash{}, err
	}
	signed := last
	if size != last.Size {
		signed, err = r.store.LastHead(ctx, size)
		if errors.Is(err, ErrNoHead) {
			return root, nil
		}
		if err != nil {
			return tlog.Hash{}, err
		}
	}
	if signed.Size == size && signed.Root != root {
		return tlog.Hash{}, treeDamaged("the stored hashes of %d records give root %s, signed was %s", size, root, signed.Root)
	}
	return root, nil
}

// Tile gives a tile of the last head's tree: its first width hashes. Errors:
// ErrNoHead, ErrNoTile, ErrTreeDamaged.
func (r *Reader) Tile(ctx context.Context, id TileID, width int) ([]byte, error) {
	if err := r.covers(ctx, id, width); err != nil {
		return nil, err
	}
	tiles, err := r.store.Tiles(ctx, []TileID{id})
	if err != nil {
		return nil, err
	}
	if len(tiles[0]) < width*tlog.HashSize {
		return nil, treeDamaged("tile %d of level %d is gone or short", id.N, id.Level)
	}
	return tiles[0][:width*tlog.HashSize], nil
}

// covers makes sure that the last head's tree has so much of a tile.
func (r *Reader) covers(ctx context.Context, id TileID, width int) error {
	head, err := r.Head(ctx)
	if err != nil {
		return err
	}
	if has := id.width(head.Size); width < 1 || width > has {
		return errors.Wrapf(ErrNoTile, "tile %d of level %d has %d hashes below the head of %d records, not %d", id.N, id.Level, has, head.Size, width)
	}
	return nil
}
