package audit

import (
	"encoding/hex"

	"github.com/cockroachdb/errors"
	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/rfc6962"
)

// Root is the RFC 6962 Merkle tree hash of records.
type Root [32]byte

// String is the root in lower hex.
func (r Root) String() string { return hex.EncodeToString(r[:]) }

// MarshalText implements encoding.TextMarshaler.
func (r Root) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

var ranges = compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}

// leafHash is the tree's leaf over a record's bytes.
func leafHash(record []byte) []byte { return rfc6962.DefaultHasher.HashLeaf(record) }

// tree is the right edge of a Merkle tree that grows.
type tree struct{ edge *compact.Range }

func newTree() *tree { return &tree{edge: ranges.NewEmptyRange(0)} }

func (t *tree) size() uint64 { return t.edge.End() }

func (t *tree) add(leaf []byte) error {
	return errors.Wrap(t.edge.Append(leaf, nil), "audit: grow the tree")
}

func (t *tree) root() (Root, error) {
	if t.size() == 0 {
		return Root(rfc6962.DefaultHasher.EmptyRoot()), nil
	}
	root, err := t.edge.GetRootHash(nil)
	if err != nil {
		return Root{}, errors.Wrap(err, "audit: compute the root")
	}
	return Root(root), nil
}
