package main

import (
	"strings"
	"testing"
)

func TestParseFact(t *testing.T) {
	for _, test := range []struct{ name, line, says string }{
		{"as it must be", `{"kind":"seal","campaign":"a","data":{"actor":"ana"}}`, ""},
		{"with an id", `{"id":"1","data":1,"campaign":"a","kind":"seal"}`, ""},
		{"data with duplicate names", `{"kind":"seal","campaign":"a","data":{"a":1,"a":2}}`, ""},
		{"data that is not UTF-8", "{\"kind\":\"seal\",\"campaign\":\"a\",\"data\":\"\xff\"}", ""},
		{"a kind that is not UTF-8", "{\"kind\":\"\xff\",\"campaign\":\"a\",\"data\":1}", "kind"},
		{"a name twice", `{"kind":"seal","kind":"void","campaign":"a","data":1}`, "kind comes twice"},
		{"an unknown name", `{"kind":"seal","campaign":"a","data":1,"date":2}`, `"date"`},
		{"an array", `[1]`, "not one JSON object"},
		{"cut off", `{"kind":"seal"`, "not one JSON object"},
		{"followed", `{"kind":"seal","campaign":"a","data":1} 2`, "follows"},
		{"kind is a number", `{"kind":1,"campaign":"a","data":1}`, "kind must be a string"},
		{"no kind", `{"campaign":"a","data":1}`, "kind is missing"},
		{"no campaign", `{"kind":"seal","data":1}`, "campaign is missing"},
		{"no data", `{"kind":"seal","campaign":"a"}`, "data is missing"},
	} {
		fact, err := parseFact([]byte(test.line))
		switch {
		case test.says == "" && (err != nil || fact.campaign != "a" || !strings.Contains(test.line, string(fact.data))):
			t.Errorf("%s: %+v, %v", test.name, fact, err)
		case test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)):
			t.Errorf("%s: %v, must say %q", test.name, err, test.says)
		}
	}
}
