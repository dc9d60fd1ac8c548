package tree_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/tree"
)

func TestOrigins(t *testing.T) {
	for _, row := range []struct {
		origin string
		ok     bool
	}{
		{tree.Origin("00112233445566778899aabbccddeeff"), true},
		{"ledger.example.com/evaluations", true},
		{strings.Repeat("x", tree.MaxOriginBytes), true},
		{strings.Repeat("x", tree.MaxOriginBytes+1), false},
		{"", false}, {"a b", false}, {"a+b", false}, {"a\nb", false}, {"a\u00a0b", false}, {"a\x00b", false}, {"\xff", false},
	} {
		if err := tree.CheckOrigin(row.origin); (err == nil) != row.ok || err != nil && !errors.Is(err, tree.ErrKeyMalformed) {
			t.Errorf("%.40q: %v", row.origin, err)
		}
	}
}

func TestParseKeyRefuses(t *testing.T) {
	good := newKeys(t).Current()
	parseKey(t, good)
	secret, _, err := tree.GenerateKey(testOrigin)
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Split(good, "+")
	for _, text := range []string{"", "x", secret, good + "=", good + "\n", good[:len(good)-1], "other" + good, fields[0] + "+00000000+" + fields[2],
		fields[0] + "+" + strings.ToUpper(fields[1]) + "x+" + fields[2]} {
		_, err := tree.ParseKey(text)
		if !errors.Is(err, tree.ErrKeyMalformed) {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "PRIVATE") {
			t.Errorf("the message shows a secret: %v", err)
		}
	}
	for i := range good { // the hash covers name and key, and there is one spelling
		altered := []byte(good)
		altered[i] ^= 1
		if _, err := tree.ParseKey(string(altered)); err == nil {
			t.Errorf("byte %d flipped: %s", i, altered)
		}
	}
}

func TestKeysBelongTogether(t *testing.T) {
	first := newKeys(t)
	second := rotated(t, first)
	third := rotated(t, second)
	other := newKeys(t)
	switched := third.All[1]
	switched.Switch = third.All[2].Switch
	for _, row := range []struct {
		name string
		keys *tree.Keys
		want error
	}{
		{"one", first, nil},
		{"three", third, nil},
		{"without a signer", &tree.Keys{All: third.All}, nil},
		{"none", &tree.Keys{}, tree.ErrKeyMalformed},
		{"another signer", &tree.Keys{All: third.All, Signer: second.Signer}, tree.ErrKeyMalformed},
		{"one left out", &tree.Keys{All: []tree.Key{third.All[0], third.All[2]}}, tree.ErrUntrusted},
		{"another order", &tree.Keys{All: []tree.Key{third.All[1], third.All[0]}}, tree.ErrHeadMalformed},
		{"one put in", &tree.Keys{All: []tree.Key{first.All[0], other.All[0]}}, tree.ErrHeadMalformed},
		{"another's switch", &tree.Keys{All: []tree.Key{third.All[0], switched}}, tree.ErrUntrusted},
		{"no key", &tree.Keys{All: []tree.Key{{Verifier: "x"}}}, tree.ErrKeyMalformed},
	} {
		if err := row.keys.Check(); !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, err, row.want)
		}
	}
	if third.Origin() != testOrigin || third.Current() != third.All[2].Verifier {
		t.Errorf("origin %s, current %s", third.Origin(), third.Current())
	}
}
