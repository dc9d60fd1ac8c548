package canonicaljson_test

import (
	"bytes"
	"flag"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/domain/canonicaljson"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

var write = flag.Bool("golden", false, "write the golden table anew")

const goldenTable = "testdata/golden.json"

// TestGolden: what libraries order and print is hashed. The table holds names
// of every script and form, and numbers at every edge of their printing, so
// that a library's new release fails here, and not a replay.
func TestGolden(t *testing.T) {
	got := canonicaljson.Append(nil, strictjson.ObjectValue(
		strictjson.Member{Name: "names", Value: strictjson.ObjectValue(goldenNames()...)},
		strictjson.Member{Name: "numbers", Value: strictjson.ArrayValue(goldenNumbers()...)},
	))
	got = append(got, '\n')
	if *write {
		if err := os.WriteFile(goldenTable, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenTable)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		t.Errorf("from byte %d on it prints %.80q, the table has %.80q", at, got[at:], want[min(at, len(want)):])
	}
}

// goldenNames are members whose names are every seventh character of the basic
// plane's scripts and some beyond, alone and beside letters, in several forms.
func goldenNames() []strictjson.Member {
	names := []string{"", "a", "A", "ä", "a\u0308", "aa", "a-a", "a_a", "a a", "ab", "a1", "a10", "a2", "B", "b", "1", "10", "2", "01",
		"4294967294", "4294967295", "-1", "1.5", "ß", "ss", "ﬁ", "fi", "Å", "Å", "A\u030a", "\u0000", "\t", "\n", "\"", "\\", "/", "\u007f",
		"\u2028", "\u200b", "\ufeff", "\U0001f600", "\U0001d538", "\U00020000", "\U0010ffff"}
	for c := rune(0x21); c < 0x3100; c += 7 {
		names = append(names, string(c), "a"+string(c), string(c)+"a")
	}
	for c := rune(0x3100); c < 0xfffe; c += 211 {
		if c < 0xd800 || c > 0xdfff {
			names = append(names, string(c))
		}
	}
	members, known := []strictjson.Member{}, map[string]bool{}
	for _, name := range names {
		if !known[name] {
			known[name] = true
			members = append(members, strictjson.Member{Name: name, Value: strictjson.NumberValue(float64(strings.Count(name, "")))})
		}
	}
	return members
}

// goldenNumbers are numbers at the edges of every form.
func goldenNumbers() []strictjson.Value {
	var values []strictjson.Value
	for _, n := range []float64{0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, math.MaxFloat64, 1 << 53, 1<<53 - 1, 0.1, 0.2, 0.1 + 0.2, 1.0 / 3,
		9007199254740994, 5e-324, 2.2250738585072014e-308, 333333333.33333329, 0.0183, 604160} {
		values = append(values, strictjson.NumberValue(n), strictjson.NumberValue(-n))
	}
	for exponent := -30; exponent <= 30; exponent++ {
		p := math.Pow10(exponent)
		for _, n := range []float64{p, math.Nextafter(p, 0), math.Nextafter(p, math.Inf(1)), 1.5 * p, 123456789 * p} {
			values = append(values, strictjson.NumberValue(n))
		}
	}
	return values
}
