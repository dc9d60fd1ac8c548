package archive_test

import (
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/internal/archive"
)

func TestMissingAndAmbiguousDocumentsAreNamed(t *testing.T) {
	r := func(name, id string) file { return file{name: name, content: `{"executionId":"` + id + `"}`} }
	h := func(name string) file { return file{name: name, content: hostText} }
	d := func(name string) file { return file{name: name, content: definitionText} }
	for what, c := range map[string]struct {
		files []file
		names []string // what the sentence must name
	}{
		"no host":                 {[]file{r("a/result.json", "a"), d("definition.json")}, []string{"a/result.json", "host", "host.json"}},
		"no definition":           {[]file{r("a/result.json", "a"), h("host.json")}, []string{"a/result.json", "definition.json"}},
		"only in a sibling":       {[]file{r("a/result.json", "a"), d("definition.json"), h("b/host.json")}, []string{"a/result.json", "host.json"}},
		"only in a child":         {[]file{r("a/result.json", "a"), d("definition.json"), h("a/b/host.json")}, []string{"a/result.json"}},
		"the second of two":       {[]file{r("a/result.json", "a"), d("definition.json"), h("a/host.json"), r("b/result.json", "b")}, []string{"b/result.json"}},
		"one execution twice":     {[]file{r("x/result.json", "a"), r("y/result.json", "a"), d("definition.json"), h("host.json")}, []string{`"a"`, "x/result.json", "y/result.json"}},
		"attempts of one":         {[]file{r("a/attempt-1/result.json", "a"), r("a/attempt-2/result.json", "a"), d("definition.json"), h("host.json")}, []string{"attempt-1", "attempt-2"}},
		"a result directory":      {[]file{r("a/result.json", "a"), d("definition.json"), h("host.json"), {name: "b/result.json/"}}, []string{"b/result.json", "directory"}},
		"a directory by its file": {[]file{r("a/result.json", "a"), d("definition.json"), h("host.json"), {name: "b/host.json/x/y"}}, []string{"b/host.json", "directory"}},
	} {
		t.Run(what, func(t *testing.T) {
			err := wantRefused(t, zipFile{files: c.files}.bytes(), archive.Options{}, archive.ErrArchiveDocuments)
			for _, name := range c.names {
				if !strings.Contains(err.Error(), name) {
					t.Errorf("%q does not name %s", err, name)
				}
			}
		})
	}
	two := zipFile{files: []file{r("a/result.json", "a"), d("definition.json"), h("a/one.host.json"), h("a/two.host.json"), h("host.json")}}
	err := wantRefused(t, two.bytes(), archive.Options{Documents: archive.Documents{Host: "*host.json"}}, archive.ErrArchiveDocuments)
	if !strings.Contains(err.Error(), "a/one.host.json, a/two.host.json") {
		t.Errorf("%q does not name both", err)
	}
}

func TestNoResult(t *testing.T) {
	z := zipFile{files: []file{{name: "a/Result.json", content: resultText}, {name: "host.json", content: hostText}, {name: "definition.json", content: definitionText}}}
	wantRefused(t, z.bytes(), archive.Options{}, archive.ErrArchiveNoResult)
}

func TestDocumentsThatHaveMoreThanOneMeaningAreRefused(t *testing.T) {
	for what, c := range map[string]struct{ text, says string }{
		"empty":              {"", "empty"},
		"byte order mark":    {"\ufeff{}", "byte order mark"},
		"NaN":                {`{"executionId":"a","durationMs":NaN}`, "not JSON"},
		"duplicate":          {`{"executionId":"a","x":{"y":1,"y":2}}`, "twice"},
		"not UTF-8":          {"{\"executionId\":\"a\xff\"}", "UTF-8"},
		"lone surrogate":     {`{"executionId":"\ud800"}`, "surrogate"},
		"trailing":           {`{"executionId":"a"}{}`, "follows"},
		"cut":                {`{"executionId":"a"`, "not JSON"},
		"too deep":           {`{"executionId":"a","x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, "deeper"},
		"array":              {`[]`, "no object"},
		"no execution":       {`{}`, "names no execution"},
		"execution a number": {`{"executionId":1}`, "names no execution"},
	} {
		t.Run(what, func(t *testing.T) {
			for kind, name := range []string{"result", "host", "definition"} {
				if kind > 0 && strings.Contains(c.says, "names no") {
					continue // only a result names its execution
				}
				z := measured()
				z.files[kind].content = c.text
				err := wantRefused(t, z.bytes(), archive.Options{}, archive.ErrArchiveDocument)
				if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), z.files[kind].name) {
					t.Errorf("%q does not say %q of %s", err, c.says, name)
				}
				a := wantRead(t, z, archive.Options{AnyContent: true})
				e := a.Executions[0]
				if got := []archive.Document{e.Result, e.Host, e.Definition}[kind]; string(got.Raw) != c.text || got.SHA256 != digest(c.text) {
					t.Errorf("with any content, %s is %q", name, got.Raw)
				}
			}
		})
	}
}

func TestResultsWithoutAnIDDoNotCollide(t *testing.T) {
	z := measured(file{name: "b/result.json", content: "{"}, file{name: "b/host.json", content: "{}"}, file{name: "b/definition.json", content: "{}"},
		file{name: "b/c/result.json", content: "["})
	a := wantRead(t, z, archive.Options{AnyContent: true})
	if len(a.Executions) != 3 || a.Executions[1].ExecutionID != "" || a.Executions[2].ExecutionID != "" {
		t.Fatalf("%+v", a.Executions)
	}
}
