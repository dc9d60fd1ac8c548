package transparency_test

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
	"github.com/ledgerd/ledgerd/projections/transparency"
)

// receiptErrors are all that a file from elsewhere may be refused with.
var receiptErrors = []error{transparency.ErrReceiptMalformed, transparency.ErrUntrusted, transparency.ErrHeadMalformed, transparency.ErrProofFailed}

// story makes a ledger of real decisions, signed, and gives the tree.
func story(t testing.TB, keys *transparency.Keys) (*transparency.Tree, []*domain.Decision) {
	t.Helper()
	l := projectionstest.Story(t)
	tree, stop := start(t, transparency.Config{Log: l.Log, Store: newStore(t), Keys: keys})
	waitFor(t, tree, int64(l.Last()))
	if err := stop(); err != nil {
		t.Fatalf("%+v", err)
	}
	return tree, l.Decisions
}

func receiptOf(t testing.TB, tree *transparency.Tree, index int64) []byte {
	t.Helper()
	receipt, err := tree.Receipt(t.Context(), index)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return receipt.Encode()
}

// TestEveryDecisionHasAReceipt that verifies with the key alone.
func TestEveryDecisionHasAReceipt(t *testing.T) {
	keys := newKeys(t)
	tree, decisions := story(t, keys)
	kinds := map[string]bool{}
	for i, d := range decisions {
		verified, err := transparency.VerifyReceipt(receiptOf(t, tree, int64(i)), newKeys(t).Current(), keys.Current())
		if err != nil {
			t.Fatalf("decision %d: %+v", i, err)
		}
		if diff := cmp.Diff(transparency.EvidenceOf(d), verified.Receipt.Evidence); diff != "" || verified.Decision.Index != d.Index || verified.Head.Size != int64(len(decisions)) {
			t.Errorf("decision %d: %s", i, diff)
		}
		for _, document := range verified.Receipt.Evidence.Documents {
			kinds[document.Name] = true
		}
	}
	for _, name := range []string{"artifact", "result", "host", "definition"} {
		if !kinds[name] {
			t.Errorf("no receipt names a %s", name)
		}
	}
}

// TestReceiptsVerifyAfterAKeySwitch with the key that signed, and by no other.
func TestReceiptsVerifyAfterAKeySwitch(t *testing.T) {
	old := newKeys(t)
	l := newLedger(t, 40)
	store := newStore(t)
	before := receiptOf(t, signed(t, l, store, old), 17)
	keys := rotated(t, old)
	l.grow(10)
	after := receiptOf(t, signed(t, l, store, keys), 17)
	for _, row := range []struct {
		name    string
		receipt []byte
		key     string
		want    error
	}{
		{"old receipt, old key", before, old.Current(), nil},
		{"old receipt, new key", before, keys.Current(), transparency.ErrUntrusted},
		{"new receipt, new key", after, keys.Current(), nil},
		{"new receipt, old key", after, old.Current(), transparency.ErrUntrusted},
	} {
		if _, err := transparency.VerifyReceipt(row.receipt, row.key); !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, err, row.want)
		}
	}
	if _, err := transparency.VerifyReceipt(after); !errors.Is(err, transparency.ErrUntrusted) {
		t.Errorf("without a key: %v", err)
	}
}

// TestForgedReceiptsNeverVerify: every byte of a receipt is flipped whole and
// in one bit, in the signed head in each bit, left out, doubled, and cut off
// behind.
func TestForgedReceiptsNeverVerify(t *testing.T) {
	keys := newKeys(t)
	tree, decisions := story(t, keys)
	index := -1
	for i, d := range decisions {
		if d.Kind == domain.KindCell && d.Outcome == domain.Accepted {
			index = i
		}
	}
	receipt := receiptOf(t, tree, int64(index))
	refuse := func(what string, at int, forged []byte) {
		t.Helper()
		verified, err := transparency.VerifyReceipt(forged, keys.Current())
		if err == nil || verified != nil {
			t.Fatalf("%s %d of %d: it verifies\n%s", what, at, len(receipt), forged)
		}
		if !errors.IsAny(err, receiptErrors...) {
			t.Fatalf("%s %d: %+v", what, at, err)
		}
	}
	headAt := bytes.Index(receipt, []byte("\"head\": "))
	for at := range receipt {
		masks := []byte{0xff, 1 << (at % 8)}
		if at >= headAt {
			masks = []byte{0xff, 1, 2, 4, 8, 16, 32, 64, 128}
		}
		for _, mask := range masks {
			forged := bytes.Clone(receipt)
			forged[at] ^= mask
			refuse("byte", at, forged)
		}
		refuse("without byte", at, append(bytes.Clone(receipt[:at]), receipt[at+1:]...))
		refuse("doubled byte", at, append(append(bytes.Clone(receipt[:at+1]), receipt[at]), receipt[at+1:]...))
		refuse("cut at", at, receipt[:at])
	}
	refuse("twice", 0, append(bytes.Clone(receipt), receipt...))
	if _, err := transparency.VerifyReceipt(receipt, keys.Current()); err != nil {
		t.Fatalf("%+v", err)
	}
}

// TestForgeriesWithSense: receipts that are well-formed and lie.
func TestForgeriesWithSense(t *testing.T) {
	keys := newKeys(t)
	tree, _ := story(t, keys)
	good := func() *transparency.Receipt {
		receipt, err := tree.Receipt(t.Context(), 3)
		if err != nil {
			t.Fatal(err)
		}
		return receipt
	}
	other, err := tree.Receipt(t.Context(), 4)
	if err != nil {
		t.Fatal(err)
	}
	mallory := newKeys(t)
	for _, row := range []struct {
		name  string
		forge func(*transparency.Receipt)
		want  error
	}{
		{"another index", func(r *transparency.Receipt) { r.Index++ }, transparency.ErrProofFailed},
		{"an index beyond the head", func(r *transparency.Receipt) { r.Index = 1 << 40 }, transparency.ErrProofFailed},
		{"a negative index", func(r *transparency.Receipt) { r.Index = -1 }, transparency.ErrProofFailed},
		{"another record", func(r *transparency.Receipt) { r.Record = other.Record }, transparency.ErrProofFailed},
		{"an outcome turned", func(r *transparency.Receipt) { r.Record = strings.Replace(r.Record, "accepted", "rejected", 1) }, transparency.ErrProofFailed},
		{"another arrival", func(r *transparency.Receipt) { r.Evidence.ArrivalSequence++ }, transparency.ErrReceiptMalformed},
		{"another arrival's digest", func(r *transparency.Receipt) { r.Evidence.ArrivalSHA256 = other.Evidence.ArrivalSHA256 }, transparency.ErrReceiptMalformed},
		{"another document", func(r *transparency.Receipt) {
			r.Evidence.Documents = append(r.Evidence.Documents, transparency.Document{Name: "result", SHA256: strings.Repeat("0", 64)})
		}, transparency.ErrReceiptMalformed},
		{"no proof", func(r *transparency.Receipt) { r.Inclusion = nil }, transparency.ErrProofFailed},
		{"a longer proof", func(r *transparency.Receipt) { r.Inclusion = append(r.Inclusion, tlog.Hash{}.String()) }, transparency.ErrProofFailed},
		{"a proof of no hashes", func(r *transparency.Receipt) { r.Inclusion[0] = "x" }, transparency.ErrReceiptMalformed},
		{"another key named", func(r *transparency.Receipt) { r.VerifierKey = mallory.Current() }, transparency.ErrUntrusted},
		{"signed by another, who names their key", func(r *transparency.Receipt) {
			head, err := tree.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r.Head, r.VerifierKey = signHead(t, mallory, head.Size, head.Root).Note, mallory.Current()
		}, transparency.ErrUntrusted},
		{"another format", func(r *transparency.Receipt) { r.Format = "ledgerd-receipt/v2" }, transparency.ErrReceiptMalformed},
	} {
		forged := good()
		row.forge(forged)
		if _, err := transparency.VerifyReceipt(forged.Encode(), keys.Current()); !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, err, row.want)
		}
	}
	// A signature more is one that nobody has checked.
	cosigned := good()
	cosigned.Head += "— witness.example.org AAAAAAAA\n"
	if _, err := transparency.VerifyReceipt(cosigned.Encode(), keys.Current()); !errors.Is(err, transparency.ErrHeadMalformed) {
		t.Errorf("with another signature: %v", err)
	}
	reformatted := bytes.ReplaceAll(good().Encode(), []byte("\n  "), []byte("\n    "))
	if _, err := transparency.VerifyReceipt(reformatted, keys.Current()); !errors.Is(err, transparency.ErrReceiptMalformed) || len(errors.GetAllHints(err)) == 0 {
		t.Errorf("formatted again: %v", err)
	}
	if _, err := transparency.VerifyReceipt(make([]byte, transparency.MaxReceiptBytes+1), keys.Current()); !errors.Is(err, transparency.ErrReceiptMalformed) {
		t.Errorf("too large: %v", err)
	}
	if _, err := transparency.VerifyReceipt(good().Encode(), "no key"); !errors.Is(err, transparency.ErrKeyMalformed) {
		t.Errorf("no key: %v", err)
	}
}

// TestNoReceiptWithoutAHead: what nobody signed for is not given out.
func TestNoReceiptWithoutAHead(t *testing.T) {
	keys := newKeys(t)
	l := newLedger(t, 10)
	store := newStore(t)
	reader, err := transparency.NewReader(store, keys, l)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Receipt(t.Context(), 0); !errors.Is(err, transparency.ErrNoHead) {
		t.Errorf("without a head: %v", err)
	}
	signed(t, l, store, keys)
	l.grow(5)
	for _, index := range []int64{-1, 10, 14, 1 << 60} {
		if _, err := reader.Receipt(t.Context(), index); !errors.Is(err, transparency.ErrBeyondHead) {
			t.Errorf("record %d: %v", index, err)
		}
	}
	receiptOf(t, &transparency.Tree{Reader: reader}, 9)
}

// TestHugeSizes: sizes that no tree has are refused, and soon.
func TestHugeSizes(t *testing.T) {
	keys := newKeys(t)
	tree, _ := story(t, keys)
	receipt, err := tree.Receipt(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitN(receipt.Head, "\n", 3)
	receipt.Head = lines[0] + "\n" + strconv.Itoa(math.MaxInt64) + "\n" + lines[2]
	if _, err := transparency.VerifyReceipt(receipt.Encode(), keys.Current()); !errors.Is(err, transparency.ErrHeadMalformed) {
		t.Errorf("a receipt: %v", err)
	}
	if err := (&transparency.Inclusion{Size: math.MaxInt64}).Check(); !errors.Is(err, transparency.ErrProofFailed) {
		t.Errorf("an inclusion: %v", err)
	}
	if err := (&transparency.Consistency{From: 1, To: math.MaxInt64}).Check(); !errors.Is(err, transparency.ErrProofFailed) {
		t.Errorf("a consistency: %v", err)
	}
}
