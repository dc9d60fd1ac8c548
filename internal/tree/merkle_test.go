package tree_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/internal/tree"
)

// independentRoots computes the root of every size with another
// implementation, from the records alone.
func independentRoots(t testing.TB, records [][]byte) [][]byte {
	t.Helper()
	factory := compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}
	r := factory.NewEmptyRange(0)
	roots := [][]byte{rfc6962.DefaultHasher.EmptyRoot()}
	for _, record := range records {
		if err := r.Append(rfc6962.DefaultHasher.HashLeaf(record), nil); err != nil {
			t.Fatal(err)
		}
		root, err := r.GetRootHash(nil)
		if err != nil {
			t.Fatal(err)
		}
		roots = append(roots, root)
	}
	return roots
}

func bytesOf[P ~[]tlog.Hash](p P) [][]byte {
	out := make([][]byte, len(p))
	for i := range p {
		out[i] = p[i][:]
	}
	return out
}

// sizesAround gives sizes at which something about tiles changes, up to last.
func sizesAround(last int64) []int64 {
	sizes := []int64{1, 2, 3, 4, 5, 7, 8, 9, 100}
	for at := int64(256); at <= last+256; at += 256 {
		sizes = append(sizes, at-1, at, at+1, at+100)
	}
	sizes = append(sizes, last)
	slices.Sort(sizes)
	return slices.DeleteFunc(slices.Compact(sizes), func(n int64) bool { return n > last })
}

// TestAgreesWithAnotherImplementation: roots, inclusion proofs and consistency
// proofs hold by transparency-dev's code, which shares nothing with ours but
// RFC 6962.
func TestAgreesWithAnotherImplementation(t *testing.T) {
	l := newLedger(t, 1300)
	merkle := signed(t, l, newStore(t), newKeys(t))
	roots := independentRoots(t, l.records)
	head, err := merkle.Head(t.Context())
	if err != nil || !bytes.Equal(head.Root[:], roots[1300]) {
		t.Fatalf("root %s, %v", head.Root, err)
	}
	sizes := sizesAround(1300)
	for _, size := range sizes {
		for _, index := range []int64{0, 1, size / 3, size / 2, size - 2, size - 1} {
			if index < 0 || index >= size {
				continue
			}
			in, err := merkle.Inclusion(t.Context(), index, size)
			if err != nil {
				t.Fatalf("record %d of %d: %+v", index, size, err)
			}
			leaf := rfc6962.DefaultHasher.HashLeaf(l.records[index])
			if !bytes.Equal(in.Leaf[:], leaf) || !bytes.Equal(in.Root[:], roots[size]) {
				t.Fatalf("record %d of %d: leaf %s, root %s", index, size, in.Leaf, in.Root)
			}
			if err := proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(index), uint64(size), leaf, bytesOf(in.Proof), roots[size]); err != nil {
				t.Fatalf("record %d of %d: %v", index, size, err)
			}
		}
		for _, from := range sizes {
			if from > size {
				break
			}
			c, err := merkle.Consistency(t.Context(), from, size)
			if err != nil {
				t.Fatalf("from %d to %d: %+v", from, size, err)
			}
			if err := proof.VerifyConsistency(rfc6962.DefaultHasher, uint64(from), uint64(size), bytesOf(c.Proof), roots[from], roots[size]); err != nil {
				t.Fatalf("from %d to %d: %v", from, size, err)
			}
		}
	}
}

// TestEverySmallSize: heads that are signed one record after the other have
// the roots of the other implementation, over the whole first tile and beyond,
// and each state survives being loaded again.
func TestEverySmallSize(t *testing.T) {
	const last = 520
	l := newLedger(t, 0)
	store, keys := newStore(t), newKeys(t)
	merkle, stop := start(t, tree.Config{Log: l, Store: store, Keys: keys})
	for size := int64(0); size <= last; size++ {
		head := waitFor(t, merkle, size)
		if head.Size != size {
			t.Fatalf("a head of %d records where there are %d", head.Size, size)
		}
		if size == last {
			break
		}
		if size%50 == 49 { // goes on from what is stored
			if err := stop(); err != nil {
				t.Fatalf("%+v", err)
			}
			merkle, stop = start(t, tree.Config{Log: l, Store: store, Keys: keys})
		}
		l.grow(1)
	}
	if err := stop(); err != nil {
		t.Fatalf("%+v", err)
	}
	roots := independentRoots(t, l.records)
	heads, err := store.Heads(t.Context(), -1, last+2)
	if err != nil || len(heads) != last+1 {
		t.Fatalf("%d heads, %v", len(heads), err)
	}
	for size, head := range heads {
		if head.Size != int64(size) || !bytes.Equal(head.Root[:], roots[size]) {
			t.Errorf("head %d has %d records and root %s", size, head.Size, head.Root)
		}
	}
	if err := merkle.Audit(t.Context()); err != nil {
		t.Errorf("%+v", err)
	}
}

// TestProofsWithAnyBitFlipped: a proof that is altered anywhere does not hold.
func TestProofsWithAnyBitFlipped(t *testing.T) {
	l := newLedger(t, 700)
	merkle := signed(t, l, newStore(t), newKeys(t))
	in, err := merkle.Inclusion(t.Context(), 431, 700)
	if err != nil {
		t.Fatal(err)
	}
	c, err := merkle.Consistency(t.Context(), 431, 700)
	if err != nil {
		t.Fatal(err)
	}
	flipEach := func(name string, hash *tlog.Hash, check func() error) {
		t.Helper()
		for bit := range 8 * len(hash) {
			hash[bit/8] ^= 1 << (bit % 8)
			if check() == nil {
				t.Fatalf("%s holds with bit %d flipped", name, bit)
			}
			hash[bit/8] ^= 1 << (bit % 8)
		}
		if err := check(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	flipEach("leaf", &in.Leaf, in.Check)
	flipEach("root", &in.Root, in.Check)
	for i := range in.Proof {
		flipEach(fmt.Sprintf("inclusion hash %d", i), &in.Proof[i], in.Check)
	}
	flipEach("old root", &c.FromRoot, c.Check)
	flipEach("new root", &c.ToRoot, c.Check)
	for i := range c.Proof {
		flipEach(fmt.Sprintf("consistency hash %d", i), &c.Proof[i], c.Check)
	}
	for index := range int64(700) {
		other := in
		other.Index = index
		if holds := other.Check() == nil; holds != (index == 431) {
			t.Errorf("the proof of record 431 for record %d holds: %v", index, holds)
		}
	}
}
