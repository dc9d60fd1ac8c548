package audit

import (
	"github.com/cockroachdb/errors"
	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/tlog"
)

var ranges = compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}

// leafHash is the tree's leaf over a record's bytes.
func leafHash(record []byte) []byte { return rfc6962.DefaultHasher.HashLeaf(record) }

// tree is the right edge of an RFC 6962 Merkle tree that grows.
type tree struct{ edge *compact.Range }

func newTree() *tree { return &tree{edge: ranges.NewEmptyRange(0)} }

func (t *tree) size() uint64 { return t.edge.End() }

func (t *tree) add(leaf []byte) error {
	return errors.Wrap(t.edge.Append(leaf, nil), "audit: grow the tree")
}

func (t *tree) root() (tlog.Hash, error) {
	if t.size() == 0 {
		return tlog.Hash(rfc6962.DefaultHasher.EmptyRoot()), nil
	}
	root, err := t.edge.GetRootHash(nil)
	if err != nil {
		return tlog.Hash{}, errors.Wrap(err, "audit: compute the root")
	}
	return tlog.Hash(root), nil
}
