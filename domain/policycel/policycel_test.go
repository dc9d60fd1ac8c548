package policycel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/domain/policycel"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

func parse(t testing.TB, text string) strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// gate compiles one gate over a document called result.
func gate(t testing.TB, expression string) *policycel.Program {
	t.Helper()
	c := policycel.NewCompiler([]string{"result"})
	c.Facts([]string{"model"})
	if fault := c.Gate(expression); fault != nil {
		t.Fatalf("%s: %s (%s)\n%s", expression, fault.Sentence(), fault.Explanation, fault.Show())
	}
	return c.Program()
}

func run(p *policycel.Program, result strictjson.Value) (outcome policycel.Outcome, cost uint64) {
	r := p.Begin(policycel.Input{Documents: []strictjson.Value{result}})
	defer r.Close()
	r.Fact("model")
	outcome = r.Gate(0)
	return outcome, r.Cost()
}

const document = `{"b":[1,2,{"x":null}],"a":"text","n":1.5,"whole":3,"big":1e999,"t":true,"o":{"z":1,"a":2,"é":3,"B":4},
	"sha":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","when":"2026-10-01T10:00:00Z","empty":{},"list":[]}`

func TestExpressions(t *testing.T) {
	result := parse(t, document)
	for _, test := range []struct {
		expression string
		want       policycel.Outcome
	}{
		{`result.a == "text"`, policycel.Held},
		{`result.a == "other"`, policycel.False},
		{`result.missing == "other"`, policycel.NoValue},
		{`has(result.missing)`, policycel.False},
		{`has(result.o.z) && !has(result.o.y)`, policycel.Held},
		{`result.a.b == 1`, policycel.NoValue},
		{`result.a`, policycel.NoValue},
		{`result.n == 1.5 && result.whole == 3 && result.whole > 2 && result.whole == 3.0`, policycel.Held},
		{`result.a == 3`, policycel.False},
		{`result.big > 1e308`, policycel.Held},
		{`result.a < 3`, policycel.NoValue},
		{`result.b[2].x == null`, policycel.Held},
		{`result.b[result.n]`, policycel.NoValue},
		{`result.b[result.b[0]] == 2`, policycel.Held},
		{`result.b[3] == 2`, policycel.NoValue},
		{`result.b == [1, 2, {"x": null}]`, policycel.Held},
		{`result.b != [1, 2, {"x": 0}]`, policycel.Held},
		{`result.o == {"B": 4, "z": 1, "a": 2, "é": 3}`, policycel.Held},
		{`2 in result.b && !(5 in result.b) && "z" in result.o`, policycel.Held},
		{`result.a in ["text", "other"] && !(result.a in ["other"])`, policycel.Held},
		{`result.o.map(k, k) == ["B", "a", "z", "é"]`, policycel.Held},
		{`{"b": 1, "é": 2, "B": 3, "a": 4}.map(k, k) == ["B", "a", "b", "é"]`, policycel.Held},
		{`result.o.filter(k, result.o[k] > 1).size() == 3`, policycel.Held},
		{`result.b.exists(x, x == 2) && result.b.exists_one(x, x == 2) && !result.b.all(x, x == 2)`, policycel.Held},
		{`size(result.b + [4, 5]) == 5 && (result.b + [4])[3] == 4`, policycel.Held},
		{`size(result.b) == 3 && size(result.o) == 4 && size(result.a) == 4`, policycel.Held},
		{`result.sha.matches("^[0-9a-f]{64}$")`, policycel.Held},
		{`result.whole.matches("3")`, policycel.NoValue},
		{`timestamp(result.when).getHours() == 10`, policycel.Held},
		{`timestamp(result.when) < timestamp(result.when) + duration("1s")`, policycel.Held},
		{`timestamp(result.a) == timestamp(result.when)`, policycel.NoValue},
		{`"a-b-c".split("-").join("+") == "a+b+c" && "abc".replace("b", "xx") == "axxc"`, policycel.Held},
		{`"abc".reverse() == "cba" && "ABC".lowerAscii() == "abc" && "  x ".trim() == "x"`, policycel.Held},
		{`"abc".indexOf("c") == 2 && "abc".charAt(1) == "b" && "abc".substring(1) == "bc" && "abca".lastIndexOf("a") == 3`, policycel.Held},
		{`string(result.whole) == "3" && int("12") == 12 && double("1.5") == 1.5`, policycel.Held},
		{`strings.quote("a\"") == "\"a\\\"\""`, policycel.Held},
		{`9223372036854775807 + 1 > 0`, policycel.NoValue},
		{`1 / 0 == 1`, policycel.NoValue},
		{`result.missing || result.t`, policycel.Held},
		{`result.t ? true : result.missing`, policycel.Held},
		{`facts.model == null`, policycel.Held},
		{`type(result.n) == double && type(result.a) == string && type(result.b) == list`, policycel.Held},
		{`result.map(facts, facts) == result.map(k, k)`, policycel.Held},
		{`["a"].map(x, x + "b")[0] == "ab"`, policycel.Held},
	} {
		outcome, cost := run(gate(t, test.expression), result)
		if outcome != test.want {
			t.Errorf("%s: %s, want %s", test.expression, outcome, test.want)
		}
		if cost == 0 || cost > 500 {
			t.Errorf("%s costs %d", test.expression, cost)
		}
	}
}

func TestWhatIsRefusedNamesItsPlace(t *testing.T) {
	for _, test := range []struct {
		expression   string
		line, column int
	}{
		{`result.a ==`, 1, 12},
		{"result.a\n  == other", 2, 6},
		{`result.a == now()`, 1, 16},
		{`"%d".format([1]) == ""`, 1, 12},
		{`timestamp("2026-10-01T10:00:00Z").getHours("Europe/Berlin") == 1`, 1, 43},
		{`1 + "a" == 2`, 1, 3},
		{`"a" == 1`, 1, 5},
		{`result.a.matches(result.b)`, 1, 17},
		{`result.a.matches("(")`, 1, 18},
		{`result.a.matches("(a{900}){900}")`, 1, 18},
		{`provenance.runid == "1"`, 1, 11},
		{`campaign.name == ""`, 1, 9},
		{`facts.colour == ""`, 1, 6},
		{`selection.ordinal == 1`, 1, 10},
		{`google.protobuf.Struct{} == null`, 1, 23},
		{`{"a": optional.none()} == {}`, 1, 7},
		{`result.?a == 1`, 1, 7},
		{`cel.bind(x, 1, x) == 1`, 1, 1},
		{`result.a`, 0, 0},
		{`"text"`, 0, 0},
		{``, 0, 0},
		{strings.Repeat("(", 200) + "true" + strings.Repeat(")", 200), 0, 0},
	} {
		c := policycel.NewCompiler([]string{"result"})
		c.Facts([]string{"model"})
		fault := c.Gate(test.expression)
		if test.expression == `result.a` {
			if fault != nil {
				t.Errorf("%s may be true: %s", test.expression, fault.Sentence())
			}
			continue
		}
		if fault == nil {
			t.Errorf("%s is taken", test.expression)
			continue
		}
		if fault.Message == "" || fault.Line != test.line || test.column != 0 && fault.Column != test.column {
			t.Errorf("%s: at %d:%d (%s), want %d:%d", test.expression, fault.Line, fault.Column, fault.Message, test.line, test.column)
		}
		if fault.Line > 0 && !strings.HasSuffix(fault.Show(), "^") {
			t.Errorf("%s: no caret: %q", test.expression, fault.Show())
		}
	}
}

func TestLengthAtItsEdge(t *testing.T) {
	long := func(n int) string { return `"` + strings.Repeat("x", n-len(`"" == result.a`)) + `" == result.a` }
	for n, taken := range map[int]bool{policycel.MaxExpressionBytes: true, policycel.MaxExpressionBytes + 1: false} {
		c := policycel.NewCompiler([]string{"result"})
		if fault := c.Gate(long(n)); (fault == nil) != taken {
			t.Errorf("%d bytes: %v", n, fault)
		}
	}
}

// An object's order in a document, and that of Go's maps, must not decide.
func TestTheFirstNameIsTheSameTenThousandTimes(t *testing.T) {
	program := gate(t, `{"e": 1, "b": 2, "a": 3, "d": 4, "c": 5, "f": 6}.map(k, k)[0] + result.map(k, k)[0] == "aA"`)
	for i := range 10_000 {
		names := []string{`"B":1`, `"A":2`, `"a":3`, `"c":4`, `"é":5`}
		for j := range names {
			k := (i*7 + j*3) % len(names)
			names[j], names[k] = names[k], names[j]
		}
		if outcome, _ := run(program, parse(t, "{"+strings.Join(names, ",")+"}")); outcome != policycel.Held {
			t.Fatalf("run %d of %v: %s", i, names, outcome)
		}
	}
}

// hostile are expressions that a library would work on for hours, or for all
// of a machine's memory.
func hostile() map[string]string {
	double := func(start, step string, n int) string { return start + strings.Repeat(step, n) }
	return map[string]string{
		"nested loops":           `result.list.all(a, result.list.all(b, result.list.all(c, result.list.all(d, true))))`,
		"doubled list":           double(`[result.list]`, `.map(a,a+a)`, 60) + `.size() == 1`,
		"doubled list, compared": double(`[result.list]`, `.map(a,a+a)`, 60) + ` == [1]`,
		"nested twice":           double(`[[1,1]]`, `.map(a,[a,a])`, 55) + ` == ` + double(`[[1,1]]`, `.map(a,[a,a])`, 55),
		"doubled text":           double(`[result.text]`, `.map(a,a+a)`, 60) + `.size() == 1`,
		"replaced":               `result.text.replace("", result.text).size() == 1`,
		"replaced again":         double(`"aaaaaaaaaaaaaaaa"`, `.replace("a","aaaaaaaaaaaaaaaa")`, 12) + ` == ""`,
		"joined":                 `result.list.map(x, result.text).join(result.text) == ""`,
		"split":                  `result.text.split("").size() == 1`,
		"searched":               `result.text.indexOf(result.text.substring(1)) == 5`,
		"pattern":                `result.text.matches("(a*)*b(a|aa|aaa|a{50,100})*c")`,
		"compared":               strings.Repeat(`result == result && `, 90) + `true`,
		"objects":                strings.Repeat(`result.wide == result.wide && `, 60) + `true`,
		"looked up":              strings.Repeat(`has(result.wide.n9) && `, 80) + `true`,
		"walked":                 strings.Repeat(`result.wide.all(k, true) && `, 60) + `true`,
		"found in":               `result.list.all(x, x in result.list)`,
		"as texts":               `result.list.map(x, string(x)).join().size() == 1`,
		"converted":              strings.Repeat(`bytes(result.text).size() > 0 && `, 60) + `true`,
		"literals":               strings.Repeat(`[1,result.n,2,3,4,5,6,7,8,9].size() > 0 && `, 45) + `true`,
		"ordered":                strings.Repeat(`result.text <= result.text + "a" && `, 50) + `true`,
	}
}

func hostileDocument(t testing.TB) strictjson.Value {
	var wide []string
	for i := range 50_000 {
		wide = append(wide, fmt.Sprintf(`"n%d":%d`, i, i))
	}
	return parse(t, fmt.Sprintf(`{"n":1,"list":[%s1],"text":%q,"wide":{%s}}`,
		strings.Repeat("1,", 500_000), strings.Repeat("a", 4<<20), strings.Join(wide, ",")))
}

func TestHostileExpressionsEndAtTheLimit(t *testing.T) {
	result := hostileDocument(t)
	for name, expression := range hostile() {
		outcome, cost := run(gate(t, expression), result)
		if cost > policycel.MaxCost+1 {
			t.Errorf("%s costs %d", name, cost)
		}
		if name != "literals" && outcome != policycel.TooDear {
			t.Errorf("%s: %s at %d, want it too dear", name, outcome, cost)
		}
	}
}

// TestCostIsOfTheCell: what one expression leaves the next may use, no more.
func TestCostIsOfTheCell(t *testing.T) {
	c := policycel.NewCompiler([]string{"result"})
	c.Facts(nil)
	for range 64 {
		if fault := c.Gate(`result.list.all(x, x == 1)`); fault != nil {
			t.Fatal(fault.Sentence())
		}
	}
	r := c.Program().Begin(policycel.Input{Documents: []strictjson.Value{parse(t, `{"list":[`+strings.Repeat("1,", 999)+`1]}`)}})
	defer r.Close()
	held := 0
	for i := range 64 {
		switch outcome := r.Gate(i); {
		case outcome == policycel.Held && held == i:
			held++
		case outcome != policycel.TooDear:
			t.Fatalf("gate %d: %s", i, outcome)
		}
	}
	if held == 0 || held == 64 || r.Cost() > policycel.MaxCost+1 {
		t.Errorf("%d gates were evaluated for %d", held, r.Cost())
	}
}

func BenchmarkHostile(b *testing.B) {
	result := hostileDocument(b)
	for name, expression := range hostile() {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			program := gate(b, expression)
			for b.Loop() {
				run(program, result)
			}
		})
	}
}

func BenchmarkGate(b *testing.B) {
	result := parse(b, document)
	program := gate(b, `result.a == "text" && result.n > 1.0`)
	for b.Loop() {
		run(program, result)
	}
}
