package canonicaljson_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/ledgerd/ledgerd/domain/canonicaljson"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

type vector struct{ Text, Canonical, Hash string }

const vectorCount = 201

func vectors(t testing.TB) []vector {
	t.Helper()
	file, err := os.Open("testdata/canonical-json.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if err := lines.Err(); err != nil || len(all) != vectorCount {
		t.Fatalf("read %d vectors of %d: %v", len(all), vectorCount, err)
	}
	return all
}

func parse(t testing.TB, text string) strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func canonical(t testing.TB, text string) string {
	t.Helper()
	return string(canonicaljson.Append(nil, parse(t, text)))
}

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		if got := canonical(t, v.Text); got != v.Canonical {
			t.Errorf("canonical form of %s\n got %s\nwant %s", v.Text, got, v.Canonical)
		}
		if got := canonicaljson.Hash(parse(t, v.Text)); got != v.Hash {
			t.Errorf("hash of %s is %s, want %s", v.Text, got, v.Hash)
		}
	}
}

func TestOrderOfMembers(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"indexes come first, by number", `{"10":0,"a":0,"9":0,"-1":0}`, `{"9":0,"10":0,"-1":0,"a":0}`},
		{"the largest index", `{"4294967295":0,"_":0,"4294967294":0}`, `{"4294967294":0,"_":0,"4294967295":0}`},
		{"a leading zero makes no index", `{"00":0,"":0,"0":0}`, `{"0":0,"":0,"00":0}`},
		{"letters before case", `{"B":0,"b":0,"A":0,"a":0}`, `{"a":0,"A":0,"b":0,"B":0}`},
		{"equal names keep their order", `{"b":0,"\u0001":1,"":2,"\u0002":3}`, `{"\u0001":1,"":2,"\u0002":3,"b":0}`},
		{"and the other way round", `{"b":0,"\u0002":3,"":2,"\u0001":1}`, `{"\u0002":3,"":2,"\u0001":1,"b":0}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := canonical(t, test.text); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestAppendNumber(t *testing.T) {
	for n, want := range map[float64]string{
		math.Copysign(0, -1): "0",
		1.0:                  "1",
		-1.5:                 "-1.5",
		1e-6:                 "0.000001",
		9.99e-7:              "9.99e-7",
		1e-10:                "1e-10",
		5e-324:               "5e-324",
		123456789012345e6:    "123456789012345000000",
		999999999999999900e3: "999999999999999900000",
		-1e21:                "-1e+21",
		1e100:                "1e+100",
		math.MaxFloat64:      "1.7976931348623157e+308",
		math.Inf(1):          "null",
		math.Inf(-1):         "null",
	} {
		if got := string(canonicaljson.AppendNumber([]byte("x"), n)); got != "x"+want {
			t.Errorf("%g prints %s, want x%s", n, got, want)
		}
	}
}

func TestAppendString(t *testing.T) {
	for s, want := range map[string]string{
		"":                        `""`,
		"\"\\/":                   `"\"\\/"`,
		"\b\t\n\f\r":              `"\b\t\n\f\r"`,
		"\x00\x1f\x7f":            `"\u0000\u001f` + "\x7f" + `"`,
		"<&>\u2028\u2029é🚀\ufeff": "\"<&>\u2028\u2029é🚀\ufeff\"",
		"\xff":                    "\"\ufffd\"",
	} {
		if got := string(canonicaljson.AppendString(nil, s)); got != want {
			t.Errorf("%q prints %s, want %s", s, got, want)
		}
	}
}

func TestUndefinedPrintsNull(t *testing.T) {
	if got := string(canonicaljson.Append(nil, strictjson.Value{})); got != "null" {
		t.Errorf("got %s", got)
	}
}

// Collators must not be shared: the race detector looks on.
func TestConcurrentUse(t *testing.T) {
	all := vectors(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for _, v := range all {
				if got := canonicaljson.Hash(parse(t, v.Text)); got != v.Hash {
					t.Errorf("hash of %s is %s, want %s", v.Text, got, v.Hash)
				}
			}
		})
	}
	group.Wait()
}

func FuzzFixedPoint(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add([]byte(v.Text))
	}
	f.Add([]byte(`{"\u0001":1,"":2,"\ufffe":[-0,1e400]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := strictjson.Parse(text)
		if err != nil {
			t.Skip()
		}
		once := canonicaljson.Append(nil, v)
		again, err := strictjson.Parse(once)
		if err != nil {
			t.Fatalf("%s became %s, which is not strict: %v", text, once, err)
		}
		if twice := canonicaljson.Append(nil, again); string(twice) != string(once) {
			t.Fatalf("%s\nonce  %s\ntwice %s", text, once, twice)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	var text strings.Builder
	text.WriteByte('[')
	for i, v := range vectors(b) {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(v.Text)
	}
	text.WriteByte(']')
	value := parse(b, text.String())
	var out []byte
	b.ReportAllocs()
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		out = canonicaljson.Append(out[:0], value)
	}
}
