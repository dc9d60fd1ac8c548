package tree_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/internal/tree"
)

func signHead(t testing.TB, keys *tree.Keys, size int64, root tlog.Hash) tree.Head {
	t.Helper()
	head, err := tree.SignHead(keys.Signer, size, root)
	if err != nil {
		t.Fatal(err)
	}
	return head
}

// TestHeadFormat: the text is what C2SP's tlog-checkpoint has, and what the
// note package reads.
func TestHeadFormat(t *testing.T) {
	keys := newKeys(t)
	head := signHead(t, keys, 20852163, tlog.Hash{1, 2, 3})
	text, signature, found := strings.Cut(head.Note, "\n\n")
	if !found || text != testOrigin+"\n20852163\nAQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=" || !strings.HasPrefix(signature, "— "+testOrigin+" ") {
		t.Errorf("the note is %q", head.Note)
	}
	key := parseKey(t, keys.Current())
	opened, err := note.Open([]byte(head.Note), note.VerifierList(key))
	if err != nil || opened.Text != text+"\n" {
		t.Errorf("%v", err)
	}
	got, err := tree.OpenHead(head.Note, parseKey(t, newKeys(t).Current()), key, key)
	if err != nil || got != head {
		t.Errorf("opened %+v, %v", got, err)
	}
	if again := signHead(t, keys, 20852163, tlog.Hash{1, 2, 3}); again != head {
		t.Errorf("signed again: %+v", again)
	}
}

// TestHeadsWithWitnesses: signatures of others do not disturb.
func TestHeadsWithWitnesses(t *testing.T) {
	keys := newKeys(t)
	head := signHead(t, keys, 7, tlog.Hash{7})
	secret, _, err := note.GenerateKey(nil, "witness.example.org")
	if err != nil {
		t.Fatal(err)
	}
	witness, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := note.Open([]byte(head.Note), note.VerifierList(parseKey(t, keys.Current())))
	if err != nil {
		t.Fatal(err)
	}
	cosigned, err := note.Sign(opened, witness)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tree.OpenHead(string(cosigned), parseKey(t, keys.Current()))
	if err != nil || got.Size != 7 || got.Root != head.Root {
		t.Errorf("opened %+v, %v", got, err)
	}
}

func TestLargestHead(t *testing.T) {
	keys := newKeys(t)
	const largest = 1<<53 - 1
	if head, err := tree.OpenHead(signHead(t, keys, largest, tlog.Hash{}).Note, parseKey(t, keys.Current())); err != nil || head.Size != largest {
		t.Errorf("%+v, %v", head, err)
	}
	for _, size := range []int64{-1, largest + 1} {
		if _, err := tree.SignHead(keys.Signer, size, tlog.Hash{}); err == nil {
			t.Errorf("a head of %d records is signed", size)
		}
	}
}

func TestOpenHeadRefuses(t *testing.T) {
	keys := newKeys(t)
	key := parseKey(t, keys.Current())
	sign := func(text string) string {
		signed, err := note.Sign(&note.Note{Text: text}, keys.Signer)
		if err != nil {
			t.Fatal(err)
		}
		return string(signed)
	}
	root := tlog.Hash{}.String()
	for _, row := range []struct {
		name, note string
		want       error
	}{
		{"nothing", "", tree.ErrHeadMalformed},
		{"no note", "text\n", tree.ErrHeadMalformed},
		{"another origin", sign("other.example\n7\n" + root + "\n"), tree.ErrUntrusted},
		{"two lines", sign(testOrigin + "\n7\n"), tree.ErrHeadMalformed},
		{"an extension", sign(testOrigin + "\n7\n" + root + "\nmore\n"), tree.ErrHeadMalformed},
		{"a leading zero", sign(testOrigin + "\n07\n" + root + "\n"), tree.ErrHeadMalformed},
		{"a plus", sign(testOrigin + "\n+7\n" + root + "\n"), tree.ErrHeadMalformed},
		{"a negative size", sign(testOrigin + "\n-7\n" + root + "\n"), tree.ErrHeadMalformed},
		{"a size beyond JSON's integers", sign(testOrigin + "\n9007199254740992\n" + root + "\n"), tree.ErrHeadMalformed},
		{"a size beyond int64", sign(testOrigin + "\n9223372036854775808\n" + root + "\n"), tree.ErrHeadMalformed},
		{"a short root", sign(testOrigin + "\n7\nAAAA\n"), tree.ErrHeadMalformed},
		{"a root in another spelling", sign(testOrigin + "\n7\n" + strings.Replace(root, "A=", "B=", 1) + "\n"), tree.ErrHeadMalformed},
		{"another key", signHead(t, newKeys(t), 7, tlog.Hash{}).Note, tree.ErrUntrusted},
		{"too long", sign(testOrigin + "\n7\n" + root + "\n" + strings.Repeat("x", 16<<10) + "\n"), tree.ErrHeadMalformed},
	} {
		if _, err := tree.OpenHead(row.note, key); !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, err, row.want)
		}
	}
	if _, err := tree.OpenHead(sign(testOrigin + "\n7\n" + root + "\n")); !errors.Is(err, tree.ErrUntrusted) {
		t.Errorf("without keys: %v", err)
	}
}

// TestHeadWithAnyBitFlipped: what of a head is signed cannot be altered; the
// signature's spare bits alone can.
func TestHeadWithAnyBitFlipped(t *testing.T) {
	keys := newKeys(t)
	head := signHead(t, keys, 1027, tlog.Hash{1, 2, 3})
	key := parseKey(t, keys.Current())
	for bit := range 8 * len(head.Note) {
		altered := []byte(head.Note)
		altered[bit/8] ^= 1 << (bit % 8)
		got, err := tree.OpenHead(string(altered), key)
		if err == nil && (got.Size != head.Size || got.Root != head.Root || got.Origin != head.Origin) {
			t.Errorf("bit %d flipped gives %+v", bit, got)
		}
		if err != nil && !errors.IsAny(err, tree.ErrHeadMalformed, tree.ErrUntrusted) {
			t.Errorf("bit %d flipped: %v", bit, err)
		}
	}
}
