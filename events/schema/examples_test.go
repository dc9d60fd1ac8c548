package schema_test

import (
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/domain"
)

// TestValidExamples: they fit, are read, and the ledger does not refuse them.
func TestValidExamples(t *testing.T) {
	kinds := map[domain.Kind]int{}
	for _, e := range examples(t, valid) {
		t.Run(e.String(), func(t *testing.T) {
			j := judge(t, e.kind, e.body)
			if j.schema != nil || j.decoder != nil || j.decision.Outcome == domain.Rejected {
				t.Errorf("schema %v; decoder %+v; decided %s %s at %q: %s", j.schema, j.decoder,
					j.decision.Outcome, j.decision.Reason, j.decision.Field, j.decision.Detail)
			}
		})
		kinds[e.kind]++
	}
	for _, kind := range domain.Kinds() {
		if kinds[kind] < 2 {
			t.Errorf("%d valid examples of a %s", kinds[kind], kind)
		}
	}
}

// TestMalformedExamples: schema and decoder refuse them alike.
func TestMalformedExamples(t *testing.T) {
	kinds := map[domain.Kind]int{}
	for _, e := range examples(t, malformed) {
		t.Run(e.String(), func(t *testing.T) {
			j := judge(t, e.kind, e.body)
			switch {
			case j.schema == nil:
				t.Error("the schema takes it")
			case j.decoder == nil:
				t.Error("the decoder takes it")
			case j.decoder.Message == "" || j.decision.Reason != domain.ReasonArrivalMalformed || e.reason != "":
				t.Errorf("%+v, decided %s", j.decoder, j.decision.Reason)
			}
		})
		kinds[e.kind]++
	}
	for _, kind := range domain.Kinds() {
		if kinds[kind] < 8 {
			t.Errorf("%d malformed examples of a %s", kinds[kind], kind)
		}
	}
}

// TestExamplesThatTheRulesRefuse: the decoder reads them and leaves them to the
// rules, which refuse them with the reason in the file's name.
func TestExamplesThatTheRulesRefuse(t *testing.T) {
	for _, class := range []string{refused, beyond} {
		for _, e := range examples(t, class) {
			t.Run(e.String(), func(t *testing.T) {
				j := judge(t, e.kind, e.body)
				switch {
				case (j.schema != nil) != (class == refused):
					t.Errorf("the schema says %v", j.schema)
				case j.decoder != nil:
					t.Errorf("the decoder refuses it: %+v", j.decoder)
				case j.decision.Outcome != domain.Rejected || j.decision.Reason != e.reason:
					t.Errorf("decided %s %s at %q: %s", j.decision.Outcome, j.decision.Reason, j.decision.Field, j.decision.Detail)
				}
			})
		}
	}
}

// TestWhatIsNoStrictJSON: no schema ever sees it, and the decoder refuses it.
func TestWhatIsNoStrictJSON(t *testing.T) {
	const whole = `{"actor":"ada"}`
	for name, body := range map[string]string{
		"nothing":             "",
		"space":               " \n",
		"a name twice":        `{"actor":"ada","actor":"ada"}`,
		"a name twice within": `{"actor":{"a":1,"a":2}}`,
		"a byte order mark":   "\ufeff" + whole,
		"something behind":    whole + "x",
		"two values":          whole + whole,
		"cut":                 whole[:len(whole)-1],
		"a comma too many":    `{"actor":"ada",}`,
		"a comment":           `{"actor":"ada"/* who */}`,
		"not UTF-8":           "{\"actor\":\"\xff\"}",
		"half a surrogate":    `{"actor":"\ud800"}`,
		"a control character": "{\"actor\":\"a\nb\"}",
		"not a number":        `{"actor":NaN}`,
		"single quotes":       `{'actor':'ada'}`,
		"too deep":            `{"actor":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			if arrival := decode(t, domain.KindSeal, []byte(body)); arrival.Malformed == nil || arrival.Seal != nil {
				t.Errorf("%s is read as %+v", body, arrival.Seal)
			}
		})
	}
}
