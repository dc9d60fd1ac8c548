// Package fuzz_test feeds files from strangers to the verifiers. It is a
// package of its own because fuzzing instruments all that a test is linked
// with, and a database is much.
package fuzz_test

import (
	"testing"

	"github.com/cockroachdb/errors"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// hashes are a tree's, in memory, in the library's order.
type hashes []tlog.Hash

func (h hashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		found[i] = h[index]
	}
	return found, nil
}

// world is a signed ledger that no database keeps.
type world struct {
	ledger *projectionstest.Ledger
	tree   hashes
	signer note.Signer
	key    string
	head   tree.Head
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{ledger: projectionstest.Story(t)}
	secret, key, err := tree.GenerateKey("ledgerd.invalid/fuzz")
	if err != nil {
		t.Fatal(err)
	}
	w.key = key
	if w.signer, err = note.NewSigner(secret); err != nil {
		t.Fatal(err)
	}
	size := int64(w.ledger.Last())
	for n := range size {
		more, err := tlog.StoredHashes(n, w.record(t, n), w.tree)
		if err != nil {
			t.Fatal(err)
		}
		w.tree = append(w.tree, more...)
	}
	root, err := tlog.TreeHash(size, w.tree)
	if err != nil {
		t.Fatal(err)
	}
	if w.head, err = tree.SignHead(w.signer, size, root); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) record(t testing.TB, n int64) []byte {
	t.Helper()
	message, err := w.ledger.Log.Get(t.Context(), uint64(n)+1)
	if err != nil {
		t.Fatal(err)
	}
	return message.Data
}

// receipt is made by hand: the format, not the code, is what counts.
func (w *world) receipt(t testing.TB, n int64) []byte {
	t.Helper()
	proof, err := tlog.ProveRecord(w.head.Size, n, w.tree)
	if err != nil {
		t.Fatal(err)
	}
	r := tree.Receipt{
		Format: tree.ReceiptFormat, Index: n, Record: string(w.record(t, n)), Head: w.head.Note, VerifierKey: w.key,
		Evidence: tree.EvidenceOf(w.ledger.Decisions[n]),
	}
	for _, hash := range proof {
		r.Inclusion = append(r.Inclusion, hash.String())
	}
	return r.Encode()
}

// FuzzVerifyReceipt: whatever the file is, it is refused in words, and nothing
// verifies but a receipt of this key.
func FuzzVerifyReceipt(f *testing.F) {
	w := newWorld(f)
	receipts := map[string]bool{}
	for n := range w.head.Size {
		receipt := w.receipt(f, n)
		if _, err := tree.VerifyReceipt(receipt, w.key); err != nil {
			f.Fatalf("receipt %d: %+v", n, err)
		}
		receipts[string(receipt)] = true
		f.Add(receipt)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		_, err := tree.VerifyReceipt(file, w.key)
		if err == nil && !receipts[string(file)] {
			t.Errorf("it verifies: %s", file)
		}
		if err != nil && !errors.IsAny(err, tree.ErrReceiptMalformed, tree.ErrUntrusted, tree.ErrHeadMalformed, tree.ErrProofFailed) {
			t.Errorf("%+v", err)
		}
	})
}

// FuzzOpenHead: whatever the text is, nothing but what was signed is believed.
func FuzzOpenHead(f *testing.F) {
	w := newWorld(f)
	key, err := tree.ParseKey(w.key)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(w.head.Note)
	f.Fuzz(func(t *testing.T, text string) {
		head, err := tree.OpenHead(text, key)
		if err == nil && (head.Size != w.head.Size || head.Root != w.head.Root || head.Origin != w.head.Origin) {
			t.Errorf("it is believed: %s", text)
		}
		if err != nil && !errors.IsAny(err, tree.ErrHeadMalformed, tree.ErrUntrusted) {
			t.Errorf("%+v", err)
		}
	})
}
