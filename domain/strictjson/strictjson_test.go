package strictjson_test

import (
	"math"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

func TestParseRefusesEveryAmbiguity(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       strictjson.Problem
		offset     int64
		pointer    string
	}{
		{"nothing", "", strictjson.ProblemEmpty, 0, ""},
		{"white space", " \n\t", strictjson.ProblemEmpty, 0, ""},
		{"byte order mark", "\ufeff{}", strictjson.ProblemBOM, 0, ""},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", strictjson.ProblemUTF8, 6, ""},
		{"overlong UTF-8", "\"\xc0\xaf\"", strictjson.ProblemUTF8, 1, ""},
		{"encoded surrogate", "\"\xed\xa0\x80\"", strictjson.ProblemUTF8, 1, ""},
		{"lone high surrogate", `{"a":"x\ud800y"}`, strictjson.ProblemSurrogate, 7, "/a"},
		{"lone low surrogate", `["\udc00"]`, strictjson.ProblemSurrogate, 2, "/0"},
		{"high and no low", `["\ud800\u0041"]`, strictjson.ProblemSurrogate, 2, "/0"},
		{"lone surrogate in a name", `{"\ud800":1}`, strictjson.ProblemSurrogate, 2, ""},
		{"duplicate name", `{"a":1,"a":2}`, strictjson.ProblemDuplicateName, 7, "/a"},
		{"duplicate by escape", `{"a":1,"\u0061":2}`, strictjson.ProblemDuplicateName, 7, "/a"},
		{"nested duplicate", `{"x":[{"a":1,"a":2}]}`, strictjson.ProblemDuplicateName, 13, "/x/0/a"},
		{"trailing value", `{} {}`, strictjson.ProblemTrailing, 3, ""},
		{"trailing garbage", `1x`, strictjson.ProblemTrailing, 1, ""},
		{"trailing NUL", "{}\x00", strictjson.ProblemTrailing, 2, ""},
		{"truncated", `{"a":`, strictjson.ProblemSyntax, 5, "/a"},
		{"comma at the end", `[1,]`, strictjson.ProblemSyntax, 2, ""},
		{"comment", `/**/1`, strictjson.ProblemSyntax, 0, ""},
		{"single quotes", `'a'`, strictjson.ProblemSyntax, 0, ""},
		{"NaN", `NaN`, strictjson.ProblemSyntax, 0, ""},
		{"leading zero", `01`, strictjson.ProblemTrailing, 1, ""},
		{"control character", "\"\x01\"", strictjson.ProblemSyntax, 1, ""},
		{"byte that is no white space", "\v1", strictjson.ProblemSyntax, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := strictjson.Parse([]byte(test.text))
			check(t, err, test.want, test.offset)
			check(t, strictjson.Check([]byte(test.text)), test.want, test.offset)
			var e *strictjson.Error
			if errors.As(err, &e) && test.pointer != "" && e.Pointer != test.pointer {
				t.Errorf("pointer %q, want %q", e.Pointer, test.pointer)
			}
		})
	}
}

func check(t *testing.T, err error, want strictjson.Problem, offset int64) {
	t.Helper()
	var e *strictjson.Error
	if !errors.As(err, &e) || !errors.Is(err, strictjson.ErrNotStrict) {
		t.Fatalf("got %v, want problem %s", err, want)
	}
	if e.Problem != want || e.Offset != offset {
		t.Errorf("got %s at %d (%v), want %s at %d", e.Problem, e.Offset, err, want, offset)
	}
}

func TestDepthAtItsEdge(t *testing.T) {
	nested := func(open, shut string, n int) []byte {
		return []byte(strings.Repeat(open, n) + "1" + strings.Repeat(shut, n))
	}
	for _, shape := range [][2]string{{"[", "]"}, {`{"a":`, "}"}} {
		for _, read := range []func([]byte) error{strictjson.Check, func(raw []byte) error { _, err := strictjson.Parse(raw); return err }} {
			if err := read(nested(shape[0], shape[1], strictjson.MaxDepth)); err != nil {
				t.Errorf("%d levels: %v", strictjson.MaxDepth, err)
			}
			var e *strictjson.Error
			if err := read(nested(shape[0], shape[1], strictjson.MaxDepth+1)); !errors.As(err, &e) || e.Problem != strictjson.ProblemDepth {
				t.Errorf("%d levels: %v, want a depth error", strictjson.MaxDepth+1, err)
			}
		}
	}
}

func TestSizeAtItsEdge(t *testing.T) {
	text := func(n int) []byte { return []byte(`"` + strings.Repeat("x", n-2) + `"`) }
	if err := strictjson.Check(text(strictjson.MaxBytes)); err != nil {
		t.Errorf("%d bytes: %v", strictjson.MaxBytes, err)
	}
	check(t, strictjson.Check(text(strictjson.MaxBytes+1)), strictjson.ProblemSize, strictjson.MaxBytes)
}

func TestValuesKeepTypesApart(t *testing.T) {
	v, err := strictjson.Parse([]byte(`{"s":"1","n":1.0,"big":1e999,"safe":9007199254740991,"unsafe":9007199254740992,
		"half":0.5,"t":true,"f":false,"null":null,"a":[1,"2",{}],"o":{"deep":{"er":"x"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if v.Get("n").IsText("1") || v.Get("s").IsNumber(1) || !v.Get("n").IsNumber(1) || !v.Get("s").IsText("1") {
		t.Error("a string and a number of the same look are taken for each other")
	}
	if n, ok := v.Get("big").Number(); !ok || !math.IsInf(n, 1) {
		t.Error("a number beyond a double must be infinite")
	}
	if _, ok := v.Get("big").Finite(); ok {
		t.Error("a number beyond a double is not finite")
	}
	for name, want := range map[string]bool{"safe": true, "n": true, "unsafe": false, "half": false, "s": false, "big": false} {
		if _, ok := v.Get(name).SafeInteger(); ok != want {
			t.Errorf("%s is a safe integer: %v, want %v", name, ok, want)
		}
	}
	if v.Get("null").Kind() != strictjson.Null || v.Get("absent").Defined() || v.Get("null").IsFalse() {
		t.Error("null, false and missing are three things")
	}
	if !v.Get("f").IsFalse() || !v.Get("t").IsTrue() {
		t.Error("booleans are lost")
	}
	if !v.At("o", "deep", "er").IsText("x") || v.At("o", "absent", "er").Defined() || v.At("s", "x").Defined() {
		t.Error("At does not follow members")
	}
	if v.Get("a").Len() != 3 || len(v.Get("a").Elements()) != 3 || v.Get("o").Elements() != nil {
		t.Error("elements are lost")
	}
	var names []string
	for name := range v.Members() {
		names = append(names, name)
	}
	if got := strings.Join(names, " "); got != "s n big safe unsafe half t f null a o" {
		t.Errorf("members come as %q", got)
	}
}

func TestEqualAndIdentical(t *testing.T) {
	for _, test := range []struct {
		a, b             string
		equal, identical bool
	}{
		{`1`, `1.0`, true, true},
		{`1`, `"1"`, false, false},
		{`0`, `-0`, true, true},
		{`0`, `false`, false, false},
		{`null`, `null`, true, true},
		{`null`, `false`, false, false},
		{`"a"`, `"\u0061"`, true, true},
		{`{"a":1,"b":[2]}`, `{"b":[2.0],"a":1}`, true, false},
		{`{"a":1}`, `{"a":1,"b":2}`, false, false},
		{`{"a":1,"c":2}`, `{"a":1,"b":2}`, false, false},
		{`[1,2]`, `[2,1]`, false, false},
		{`[1]`, `[1,2]`, false, false},
		{`[]`, `{}`, false, false},
	} {
		a, b := must(t, test.a), must(t, test.b)
		if strictjson.Equal(a, b) != test.equal || strictjson.Equal(b, a) != test.equal {
			t.Errorf("Equal(%s, %s) is not %v", test.a, test.b, test.equal)
		}
		if strictjson.Identical(a, b) != test.identical {
			t.Errorf("Identical(%s, %s) is not %v", test.a, test.b, test.identical)
		}
	}
	var undefined strictjson.Value
	if !strictjson.Equal(undefined, undefined) || strictjson.Equal(undefined, must(t, "null")) {
		t.Error("undefined equals undefined alone")
	}
	object := must(t, `{}`)
	if !strictjson.Identical(object, object) {
		t.Error("an object is identical to itself")
	}
}

func must(t testing.TB, text string) strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func BenchmarkParse(b *testing.B) {
	var text strings.Builder
	text.WriteString(`[`)
	for i := range 1000 {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(`{"name":"value of some length","number":12345.5,"list":[1,2,3],"flag":true}`)
	}
	text.WriteString(`]`)
	raw := []byte(text.String())
	b.Run("parse", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := strictjson.Parse(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("check", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		b.ReportAllocs()
		for b.Loop() {
			if err := strictjson.Check(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
	// What the doc of this package compares with.
	b.Run("library", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		b.ReportAllocs()
		for b.Loop() {
			var value any
			if err := json.Unmarshal(raw, &value); err != nil {
				b.Fatal(err)
			}
		}
	})
}
