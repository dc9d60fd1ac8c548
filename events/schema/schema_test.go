package schema_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/schema"
)

// all gives every schema by its ce-type.
func all() map[string][]byte {
	schemas := map[string][]byte{events.DecisionType: schema.Record()}
	for _, kind := range domain.Kinds() {
		schemas[events.ArrivalType(kind)] = schema.For(kind)
	}
	return schemas
}

// compiled gives a schema, ready to validate. Nothing is loaded from elsewhere.
func compiled(t testing.TB, ceType string) *jsonschema.Schema {
	t.Helper()
	compiledAll, err := compileAll()
	if err != nil {
		t.Fatal(err)
	}
	return compiledAll[ceType]
}

var compileAll = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	done := map[string]*jsonschema.Schema{}
	for ceType, text := range all() {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource(idOf(ceType), document); err != nil {
			return nil, err
		}
		if done[ceType], err = compiler.Compile(idOf(ceType)); err != nil {
			return nil, err
		}
	}
	return done, nil
})

func idOf(ceType string) string {
	return "https://github.com/ledgerd/ledgerd/schema/" + ceType + ".json"
}

// document reads a schema as it is.
func document(t testing.TB, ceType string) map[string]any {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(all()[ceType]))
	if err != nil {
		t.Fatalf("%s: %v", ceType, err)
	}
	return parsed.(map[string]any)
}

// TestSchemas compiles each schema, which holds it against draft 2020-12's own.
func TestSchemas(t *testing.T) {
	for ceType := range all() {
		text := document(t, ceType)
		if text["$schema"] != "https://json-schema.org/draft/2020-12/schema" || text["$id"] != idOf(ceType) {
			t.Errorf("%s is %v by %v", ceType, text["$id"], text["$schema"])
		}
		if text["title"] == nil || text["type"] != "object" || text["additionalProperties"] != false {
			t.Errorf("%s has no title, or takes more than it says", ceType)
		}
		if compiled(t, ceType).DraftVersion != 2020 {
			t.Errorf("%s is compiled by draft %d", ceType, compiled(t, ceType).DraftVersion)
		}
	}
}

func TestOnlyKnownKindsHaveASchema(t *testing.T) {
	for _, kind := range []domain.Kind{"", "cells", "../ledgerd.decision.v1"} {
		if got := schema.For(kind); got != nil {
			t.Errorf("kind %q has a schema", kind)
		}
	}
	files, err := filepath.Glob("*.json")
	if err != nil || len(files) != len(all()) {
		t.Errorf("%d files for %d schemas: %v", len(files), len(all()), err)
	}
}

func TestSchemasAreCopies(t *testing.T) {
	for _, get := range []func() []byte{schema.Record, func() []byte { return schema.For(domain.KindSeal) }} {
		get()[0] = 'x'
		if get()[0] != '{' {
			t.Error("a caller changed the schema for the next one")
		}
	}
}

// TestEverythingIsDescribed: whoever reads a schema is told what each member is.
func TestEverythingIsDescribed(t *testing.T) {
	for ceType := range all() {
		text := document(t, ceType)
		if text["description"] == nil {
			t.Errorf("%s has no description", ceType)
		}
		described(t, ceType, text)
	}
}

// described looks at properties and definitions; what stands in allOf, anyOf
// and the like only narrows what is described elsewhere.
func described(t *testing.T, where string, node map[string]any) {
	t.Helper()
	for _, group := range []string{"properties", "$defs"} {
		members, _ := node[group].(map[string]any)
		for name, member := range members {
			inner := member.(map[string]any)
			at := where + "/" + name
			if _, narrows := node["$ref"]; !narrows && inner["description"] == nil {
				t.Errorf("%s is not described", at)
			}
			described(t, at, inner)
		}
	}
	if items, ok := node["items"].(map[string]any); ok {
		described(t, where+"/*", items)
	}
}

// TestPatternsAreUnderstoodEverywhere: no pattern uses what only some languages
// have, or what means something else in another one.
func TestPatternsAreUnderstoodEverywhere(t *testing.T) {
	exotic := regexp.MustCompile(`\\[dDsSwWbBpPAzZ]|\(\?`)
	for ceType := range all() {
		walk(document(t, ceType), func(node map[string]any) {
			pattern, ok := node["pattern"].(string)
			if ok && exotic.MatchString(pattern) {
				t.Errorf("%s: %s", ceType, pattern)
			}
		})
	}
}

// TestNothingIsReferredToElsewhere: one file is all that a reader needs.
func TestNothingIsReferredToElsewhere(t *testing.T) {
	for ceType := range all() {
		text := document(t, ceType)
		used := map[string]bool{}
		walk(text, func(node map[string]any) {
			ref, ok := node["$ref"].(string)
			if ok && !strings.HasPrefix(ref, "#/$defs/") {
				t.Errorf("%s refers to %s", ceType, ref)
			}
			used[strings.TrimPrefix(ref, "#/$defs/")] = true
		})
		defs, _ := text["$defs"].(map[string]any)
		for name := range defs {
			if !used[name] {
				t.Errorf("%s defines %s and does not use it", ceType, name)
			}
		}
	}
}

// walk visits every object of a document.
func walk(node any, visit func(map[string]any)) {
	switch node := node.(type) {
	case map[string]any:
		visit(node)
		for _, inner := range node {
			walk(inner, visit)
		}
	case []any:
		for _, inner := range node {
			walk(inner, visit)
		}
	}
}

// TestExamplesWithinSchemas: what a schema shows is right.
func TestExamplesWithinSchemas(t *testing.T) {
	shown := 0
	for _, kind := range domain.Kinds() {
		examples, _ := document(t, events.ArrivalType(kind))["examples"].([]any)
		for _, example := range examples {
			shown++
			if err := compiled(t, events.ArrivalType(kind)).Validate(example); err != nil {
				t.Errorf("%s: %v", kind, err)
			}
			if arrival := decode(t, kind, printed(t, example)); arrival.Malformed != nil {
				t.Errorf("%s: %+v", kind, arrival.Malformed)
			}
		}
	}
	if shown == 0 {
		t.Error("no schema has an example")
	}
}

// enum gives the strings that a schema allows at a path of names.
func enum(t *testing.T, ceType, path string) []string {
	t.Helper()
	list, ok := at(document(t, ceType), path+"/enum").([]any)
	if !ok {
		t.Fatalf("%s has no words at %s", ceType, path)
	}
	var words []string
	for _, word := range list {
		words = append(words, word.(string))
	}
	return words
}

// TestWordsAreTheDomains holds every list of words against the constants.
func TestWordsAreTheDomains(t *testing.T) {
	const verdict = "$defs/seal/properties/verdict/properties"
	for _, row := range []struct {
		ceType, path string
		want         []string
	}{
		{events.ArrivalType(domain.KindCampaign), "properties/policyPreset", domain.PresetNames()},
		{events.DecisionType, "properties/kind", append(constants(t, "kind.go", "Kind"), "")},
		{events.DecisionType, "properties/outcome", constants(t, "kind.go", "Outcome")},
		{events.DecisionType, "properties/reason", append([]string{""}, constants(t, "reason.go", "Reason")...)},
		{events.DecisionType, verdict + "/word", constants(t, "verdict.go", "VerdictWord")},
		{events.DecisionType, verdict + "/reasons/items/properties/code", constants(t, "verdict.go", "VerdictCode")},
	} {
		if diff := cmp.Diff(row.want, enum(t, row.ceType, row.path)); diff != "" {
			t.Errorf("%s %s: %s", row.ceType, row.path, diff)
		}
	}
}

// constants reads the string constants of a type from the domain's source, so
// that a new one is missed here.
func constants(t *testing.T, file, typeName string) []string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "..", "domain", file))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	ast.Inspect(parsed, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || fmt.Sprint(spec.Type) != typeName {
			return true
		}
		word, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		words = append(words, word)
		return true
	})
	if len(words) == 0 {
		t.Fatalf("%s has no constants of type %s", file, typeName)
	}
	return words
}
