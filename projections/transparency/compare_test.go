package transparency_test

import (
	"testing"

	"github.com/cockroachdb/errors"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/projections/transparency"
)

// TestSplitViews: two histories under one key are told apart from one that
// grew, whatever proof the ledger offers.
func TestSplitViews(t *testing.T) {
	keys := newKeys(t)
	l := newLedger(t, 300)
	tree := signed(t, l, newStore(t), keys)
	other := newLedger(t, 100)
	other.Publish(other.next("another history"))
	other.grow(199)
	otherTree := signed(t, other, newStore(t), keys)

	prove := func(tree *transparency.Tree) func(from, to int64) (transparency.Consistency, error) {
		return func(from, to int64) (transparency.Consistency, error) { return tree.Consistency(t.Context(), from, to) }
	}
	headOf := func(tree *transparency.Tree, size int64) transparency.Head {
		c, err := tree.Consistency(t.Context(), size, size)
		if err != nil {
			t.Fatal(err)
		}
		return signHead(t, keys, size, c.ToRoot)
	}
	elsewhere := signHead(t, keys, 300, headOf(tree, 300).Root)
	elsewhere.Origin = "other.example"
	wrong := func(from, to int64) (transparency.Consistency, error) {
		c, err := tree.Consistency(t.Context(), from, to)
		c.Proof[0][0] ^= 1
		return c, err
	}
	otherSizes := func(from, to int64) (transparency.Consistency, error) {
		return tree.Consistency(t.Context(), from-1, to)
	}
	away := errors.New("test: away")
	for _, row := range []struct {
		name  string
		a, b  transparency.Head
		prove func(from, to int64) (transparency.Consistency, error)
		want  error
	}{
		{"one head twice", headOf(tree, 300), headOf(tree, 300), nil, nil},
		{"it grew", headOf(tree, 77), headOf(tree, 300), prove(tree), nil},
		{"in the other order", headOf(tree, 300), headOf(tree, 77), prove(tree), nil},
		{"from nothing", signHead(t, keys, 0, transparency.EmptyRoot), headOf(tree, 300), nil, nil},
		{"one size, two roots", headOf(tree, 300), headOf(otherTree, 300), nil, transparency.ErrSplitView},
		{"before they part", headOf(tree, 100), headOf(otherTree, 300), prove(otherTree), nil},
		{"the old head is of the other history", headOf(otherTree, 101), headOf(tree, 300), prove(tree), transparency.ErrSplitView},
		{"the new head is of the other history", headOf(tree, 101), headOf(otherTree, 300), prove(tree), transparency.ErrSplitView},
		{"a root of nothing that is none", signHead(t, keys, 0, tlog.Hash{}), headOf(tree, 300), nil, transparency.ErrSplitView},
		{"two ledgers", elsewhere, headOf(tree, 300), nil, transparency.ErrHeadMalformed},
		{"a wrong proof", headOf(tree, 77), headOf(tree, 300), wrong, transparency.ErrProofFailed},
		{"a proof of something else", headOf(tree, 77), headOf(tree, 300), otherSizes, transparency.ErrProofFailed},
		{"no answer", headOf(tree, 77), headOf(tree, 300), func(int64, int64) (transparency.Consistency, error) { return transparency.Consistency{}, away }, away},
	} {
		if err := transparency.CompareHeads(row.a, row.b, row.prove); !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, err, row.want)
		}
	}
}

// TestSplitViewsAreNotSigned: the store keeps one root for a size, whoever
// signs.
func TestSplitViewsAreNotSigned(t *testing.T) {
	store, keys := newStore(t), newKeys(t)
	for _, row := range []struct {
		head transparency.Head
		key  string
		want error
	}{
		{signHead(t, keys, 5, tlog.Hash{5}), keys.Current(), nil},
		{signHead(t, keys, 5, tlog.Hash{5}), keys.Current(), nil},
		{signHead(t, keys, 5, tlog.Hash{6}), keys.Current(), transparency.ErrSplitView},
		{signHead(t, keys, 5, tlog.Hash{5}), "another", nil},
		{signHead(t, keys, 5, tlog.Hash{6}), "a third", transparency.ErrSplitView},
	} {
		if err := store.AddHead(t.Context(), transparency.KeptHead{Head: row.head, Key: row.key}); !errors.Is(err, row.want) {
			t.Errorf("root %s by %s: got %v, want %v", row.head.Root, row.key, err, row.want)
		}
	}
	heads, err := store.Heads(t.Context(), 0, 10)
	if len(heads) != 2 || err != nil {
		t.Errorf("%d heads, %v", len(heads), err)
	}
}
