package tree_test

import (
	"testing"

	"github.com/cockroachdb/errors"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/internal/tree"
)

// TestSplitViews: two histories under one key are told apart from one that
// grew, whatever proof the ledger offers.
func TestSplitViews(t *testing.T) {
	keys := newKeys(t)
	l := newLedger(t, 300)
	merkle := signed(t, l, newStore(t), keys)
	other := newLedger(t, 100)
	other.Publish(other.next("another history"))
	other.grow(199)
	otherTree := signed(t, other, newStore(t), keys)

	prove := func(merkle *tree.Tree) func(from, to int64) (tree.Consistency, error) {
		return func(from, to int64) (tree.Consistency, error) { return merkle.Consistency(t.Context(), from, to) }
	}
	headOf := func(merkle *tree.Tree, size int64) tree.Head {
		c, err := merkle.Consistency(t.Context(), size, size)
		if err != nil {
			t.Fatal(err)
		}
		return signHead(t, keys, size, c.ToRoot)
	}
	elsewhere := signHead(t, keys, 300, headOf(merkle, 300).Root)
	elsewhere.Origin = "other.example"
	wrong := func(from, to int64) (tree.Consistency, error) {
		c, err := merkle.Consistency(t.Context(), from, to)
		c.Proof[0][0] ^= 1
		return c, err
	}
	otherSizes := func(from, to int64) (tree.Consistency, error) {
		return merkle.Consistency(t.Context(), from-1, to)
	}
	away := errors.New("test: away")
	for _, row := range []struct {
		name  string
		a, b  tree.Head
		prove func(from, to int64) (tree.Consistency, error)
		want  error
	}{
		{"one head twice", headOf(merkle, 300), headOf(merkle, 300), nil, nil},
		{"it grew", headOf(merkle, 77), headOf(merkle, 300), prove(merkle), nil},
		{"in the other order", headOf(merkle, 300), headOf(merkle, 77), prove(merkle), nil},
		{"from nothing", signHead(t, keys, 0, tree.EmptyRoot), headOf(merkle, 300), nil, nil},
		{"one size, two roots", headOf(merkle, 300), headOf(otherTree, 300), nil, tree.ErrSplitView},
		{"before they part", headOf(merkle, 100), headOf(otherTree, 300), prove(otherTree), nil},
		{"the old head is of the other history", headOf(otherTree, 101), headOf(merkle, 300), prove(merkle), tree.ErrSplitView},
		{"the new head is of the other history", headOf(merkle, 101), headOf(otherTree, 300), prove(merkle), tree.ErrSplitView},
		{"a root of nothing that is none", signHead(t, keys, 0, tlog.Hash{}), headOf(merkle, 300), nil, tree.ErrSplitView},
		{"two ledgers", elsewhere, headOf(merkle, 300), nil, tree.ErrHeadMalformed},
		{"a wrong proof", headOf(merkle, 77), headOf(merkle, 300), wrong, tree.ErrProofFailed},
		{"a proof of something else", headOf(merkle, 77), headOf(merkle, 300), otherSizes, tree.ErrProofFailed},
		{"no answer", headOf(merkle, 77), headOf(merkle, 300), func(int64, int64) (tree.Consistency, error) { return tree.Consistency{}, away }, away},
	} {
		if err := tree.CompareHeads(row.a, row.b, row.prove); !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, err, row.want)
		}
	}
}

// TestSplitViewsAreNotSigned: the store keeps one root for a size, whoever
// signs.
func TestSplitViewsAreNotSigned(t *testing.T) {
	store, keys := newStore(t), newKeys(t)
	for _, row := range []struct {
		head tree.Head
		key  string
		want error
	}{
		{signHead(t, keys, 5, tlog.Hash{5}), keys.Current(), nil},
		{signHead(t, keys, 5, tlog.Hash{5}), keys.Current(), nil},
		{signHead(t, keys, 5, tlog.Hash{6}), keys.Current(), tree.ErrSplitView},
		{signHead(t, keys, 5, tlog.Hash{5}), "another", nil},
		{signHead(t, keys, 5, tlog.Hash{6}), "a third", tree.ErrSplitView},
	} {
		if err := store.AddHead(t.Context(), tree.KeptHead{Head: row.head, Key: row.key}); !errors.Is(err, row.want) {
			t.Errorf("root %s by %s: got %v, want %v", row.head.Root, row.key, err, row.want)
		}
	}
	heads, err := store.Heads(t.Context(), 0, 10)
	if len(heads) != 2 || err != nil {
		t.Errorf("%d heads, %v", len(heads), err)
	}
}
