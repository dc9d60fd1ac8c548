package tree_test

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
	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// receiptErrors are all that a file from elsewhere may be refused with.
var receiptErrors = []error{tree.ErrReceiptMalformed, tree.ErrUntrusted, tree.ErrHeadMalformed, tree.ErrProofFailed}

// story makes a ledger of real decisions, signed, and gives the tree.
func story(t testing.TB, keys *tree.Keys) (*tree.Tree, []*domain.Decision) {
	t.Helper()
	l := projectionstest.Story(t)
	merkle, stop := start(t, tree.Config{Log: l.Log, Store: newStore(t), Keys: keys})
	waitFor(t, merkle, int64(l.Last()))
	if err := stop(); err != nil {
		t.Fatalf("%+v", err)
	}
	return merkle, l.Decisions
}

func receiptOf(t testing.TB, merkle *tree.Tree, index int64) []byte {
	t.Helper()
	receipt, err := merkle.Receipt(t.Context(), index)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return receipt.Encode()
}

// TestEveryDecisionHasAReceipt that verifies with the key alone.
func TestEveryDecisionHasAReceipt(t *testing.T) {
	keys := newKeys(t)
	merkle, decisions := story(t, keys)
	kinds := map[string]bool{}
	for i, d := range decisions {
		verified, err := tree.VerifyReceipt(receiptOf(t, merkle, int64(i)), newKeys(t).Current(), keys.Current())
		if err != nil {
			t.Fatalf("decision %d: %+v", i, err)
		}
		if diff := cmp.Diff(tree.EvidenceOf(d), verified.Receipt.Evidence); diff != "" || verified.Decision.Index != d.Index || verified.Head.Size != int64(len(decisions)) {
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
		{"old receipt, new key", before, keys.Current(), tree.ErrUntrusted},
		{"new receipt, new key", after, keys.Current(), nil},
		{"new receipt, old key", after, old.Current(), tree.ErrUntrusted},
	} {
		if _, err := tree.VerifyReceipt(row.receipt, row.key); !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, err, row.want)
		}
	}
	if _, err := tree.VerifyReceipt(after); !errors.Is(err, tree.ErrUntrusted) {
		t.Errorf("without a key: %v", err)
	}
}

// TestForgedReceiptsNeverVerify: every byte of a receipt is flipped whole and
// in one bit, in the signed head in each bit, left out, doubled, and cut off
// behind.
func TestForgedReceiptsNeverVerify(t *testing.T) {
	keys := newKeys(t)
	merkle, decisions := story(t, keys)
	index := -1
	for i, d := range decisions {
		if d.Kind == domain.KindCell && d.Outcome == domain.Accepted {
			index = i
		}
	}
	receipt := receiptOf(t, merkle, int64(index))
	refuse := func(what string, at int, forged []byte) {
		t.Helper()
		verified, err := tree.VerifyReceipt(forged, keys.Current())
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
	if _, err := tree.VerifyReceipt(receipt, keys.Current()); err != nil {
		t.Fatalf("%+v", err)
	}
}

// TestForgeriesWithSense: receipts that are well-formed and lie.
func TestForgeriesWithSense(t *testing.T) {
	keys := newKeys(t)
	merkle, _ := story(t, keys)
	good := func() *tree.Receipt {
		receipt, err := merkle.Receipt(t.Context(), 3)
		if err != nil {
			t.Fatal(err)
		}
		return receipt
	}
	other, err := merkle.Receipt(t.Context(), 4)
	if err != nil {
		t.Fatal(err)
	}
	mallory := newKeys(t)
	for _, row := range []struct {
		name  string
		forge func(*tree.Receipt)
		want  error
	}{
		{"another index", func(r *tree.Receipt) { r.Index++ }, tree.ErrProofFailed},
		{"an index beyond the head", func(r *tree.Receipt) { r.Index = 1 << 40 }, tree.ErrProofFailed},
		{"a negative index", func(r *tree.Receipt) { r.Index = -1 }, tree.ErrProofFailed},
		{"another record", func(r *tree.Receipt) { r.Record = other.Record }, tree.ErrProofFailed},
		{"an outcome turned", func(r *tree.Receipt) { r.Record = strings.Replace(r.Record, "accepted", "rejected", 1) }, tree.ErrProofFailed},
		{"another arrival", func(r *tree.Receipt) { r.Evidence.ArrivalSequence++ }, tree.ErrReceiptMalformed},
		{"another arrival's digest", func(r *tree.Receipt) { r.Evidence.ArrivalSHA256 = other.Evidence.ArrivalSHA256 }, tree.ErrReceiptMalformed},
		{"another document", func(r *tree.Receipt) {
			r.Evidence.Documents = append(r.Evidence.Documents, tree.Document{Name: "result", SHA256: strings.Repeat("0", 64)})
		}, tree.ErrReceiptMalformed},
		{"no proof", func(r *tree.Receipt) { r.Inclusion = nil }, tree.ErrProofFailed},
		{"a longer proof", func(r *tree.Receipt) { r.Inclusion = append(r.Inclusion, tlog.Hash{}.String()) }, tree.ErrProofFailed},
		{"a proof of no hashes", func(r *tree.Receipt) { r.Inclusion[0] = "x" }, tree.ErrReceiptMalformed},
		{"another key named", func(r *tree.Receipt) { r.VerifierKey = mallory.Current() }, tree.ErrUntrusted},
		{"signed by another, who names their key", func(r *tree.Receipt) {
			head, err := merkle.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r.Head, r.VerifierKey = signHead(t, mallory, head.Size, head.Root).Note, mallory.Current()
		}, tree.ErrUntrusted},
		{"another format", func(r *tree.Receipt) { r.Format = "ledgerd-receipt/v2" }, tree.ErrReceiptMalformed},
	} {
		forged := good()
		row.forge(forged)
		if _, err := tree.VerifyReceipt(forged.Encode(), keys.Current()); !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, err, row.want)
		}
	}
	// A signature more is one that nobody has checked.
	cosigned := good()
	cosigned.Head += "— witness.example.org AAAAAAAA\n"
	if _, err := tree.VerifyReceipt(cosigned.Encode(), keys.Current()); !errors.Is(err, tree.ErrHeadMalformed) {
		t.Errorf("with another signature: %v", err)
	}
	reformatted := bytes.ReplaceAll(good().Encode(), []byte("\n  "), []byte("\n    "))
	if _, err := tree.VerifyReceipt(reformatted, keys.Current()); !errors.Is(err, tree.ErrReceiptMalformed) || len(errors.GetAllHints(err)) == 0 {
		t.Errorf("formatted again: %v", err)
	}
	if _, err := tree.VerifyReceipt(make([]byte, tree.MaxReceiptBytes+1), keys.Current()); !errors.Is(err, tree.ErrReceiptMalformed) {
		t.Errorf("too large: %v", err)
	}
	if _, err := tree.VerifyReceipt(good().Encode(), "no key"); !errors.Is(err, tree.ErrKeyMalformed) {
		t.Errorf("no key: %v", err)
	}
}

// TestNoReceiptWithoutAHead: what nobody signed for is not given out.
func TestNoReceiptWithoutAHead(t *testing.T) {
	keys := newKeys(t)
	l := newLedger(t, 10)
	store := newStore(t)
	reader, err := tree.NewReader(store, keys, l)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Receipt(t.Context(), 0); !errors.Is(err, tree.ErrNoHead) {
		t.Errorf("without a head: %v", err)
	}
	signed(t, l, store, keys)
	l.grow(5)
	for _, index := range []int64{-1, 10, 14, 1 << 60} {
		if _, err := reader.Receipt(t.Context(), index); !errors.Is(err, tree.ErrBeyondHead) {
			t.Errorf("record %d: %v", index, err)
		}
	}
	receiptOf(t, &tree.Tree{Reader: reader}, 9)
}

// TestHugeSizes: sizes that no tree has are refused, and soon.
func TestHugeSizes(t *testing.T) {
	keys := newKeys(t)
	merkle, _ := story(t, keys)
	receipt, err := merkle.Receipt(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitN(receipt.Head, "\n", 3)
	receipt.Head = lines[0] + "\n" + strconv.Itoa(math.MaxInt64) + "\n" + lines[2]
	if _, err := tree.VerifyReceipt(receipt.Encode(), keys.Current()); !errors.Is(err, tree.ErrHeadMalformed) {
		t.Errorf("a receipt: %v", err)
	}
	if err := (&tree.Inclusion{Size: math.MaxInt64}).Check(); !errors.Is(err, tree.ErrProofFailed) {
		t.Errorf("an inclusion: %v", err)
	}
	if err := (&tree.Consistency{From: 1, To: math.MaxInt64}).Check(); !errors.Is(err, tree.ErrProofFailed) {
		t.Errorf("a consistency: %v", err)
	}
}
