package web_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
	"github.com/ledgerd/ledgerd/projections"
)

// TestDocument holds the document against what OpenAPI 3.1 asks of one:
// references that resolve, schemas of JSON Schema 2020-12, path parameters
// that are declared, tags that are, responses that are described.
func TestDocument(t *testing.T) {
	s := serve(t, 0, func(_ *service, c *web.Config) { c.Token = "secret" })
	got := s.get("/openapi.json", "Authorization", "Bearer secret")
	if contentType := got.Header.Get("Content-Type"); contentType != "application/openapi+json" {
		t.Errorf("content type %q", contentType)
	}
	document := decode[map[string]any](s, http.StatusOK, got)
	if version, _ := document["openapi"].(string); !strings.HasPrefix(version, "3.1.") {
		t.Errorf("openapi %q, want 3.1", version)
	}
	info := document["info"].(map[string]any)
	if info["title"] != "ledgerd" || info["version"] != "test" {
		t.Errorf("info %v", info)
	}
	s = serve(t, 0)
	c := readContract(s)
	checkReferences(t, c.document, c.document)
	schemas := c.document["components"].(map[string]any)["schemas"].(map[string]any)
	for name := range schemas {
		if _, err := c.compiler.Compile(documentURL + "#/components/schemas/" + name); err != nil {
			t.Errorf("schema %s: %v", name, err)
		}
	}
	tags := map[string]bool{}
	for _, tag := range c.document["tags"].([]any) {
		tags[tag.(map[string]any)["name"].(string)] = true
	}
	for id, o := range c.operations() {
		checkOperation(t, id, o, tags)
	}
}

var inBraces = regexp.MustCompile(`\{([^}]+)\}`)

func checkOperation(t *testing.T, id string, o operation, tags map[string]bool) {
	t.Helper()
	if o.method != "get" {
		t.Errorf("%s: method %s in a read-only document", id, o.method)
	}
	if summary, _ := o.fields["summary"].(string); summary == "" {
		t.Errorf("%s has no summary", id)
	}
	for _, tag := range o.fields["tags"].([]any) {
		if !tags[tag.(string)] {
			t.Errorf("%s: tag %v is not declared", id, tag)
		}
	}
	var declared []string
	seen := map[string]bool{}
	for _, parameter := range o.parameters() {
		name, in := parameter["name"].(string), parameter["in"].(string)
		if seen[in+" "+name] || parameter["schema"] == nil {
			t.Errorf("%s: %s parameter %s is there twice or has no schema", id, in, name)
		}
		seen[in+" "+name] = true
		if in == "path" {
			declared = append(declared, name)
			if parameter["required"] != true {
				t.Errorf("%s: path parameter %s is not required", id, name)
			}
		}
	}
	var wanted []string
	for _, match := range inBraces.FindAllStringSubmatch(o.path, -1) {
		wanted = append(wanted, match[1])
	}
	if !slices.Equal(declared, wanted) {
		t.Errorf("%s: path %s, path parameters %v", id, o.path, declared)
	}
	for status, answer := range o.fields["responses"].(map[string]any) {
		if description, _ := answer.(map[string]any)["description"].(string); description == "" {
			t.Errorf("%s: response %s has no description", id, status)
		}
	}
}

// checkReferences finds references to nothing.
func checkReferences(t *testing.T, root map[string]any, value any) {
	t.Helper()
	switch value := value.(type) {
	case map[string]any:
		if ref, ok := value["$ref"].(string); ok {
			var at any = root
			for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
				members, _ := at.(map[string]any)
				at = members[part]
			}
			if at == nil {
				t.Errorf("%s leads nowhere", ref)
			}
		}
		for _, member := range value {
			checkReferences(t, root, member)
		}
	case []any:
		for _, item := range value {
			checkReferences(t, root, item)
		}
	}
}

// TestDocumentHasTheLimits: what tags say must be what the constants say.
func TestDocumentHasTheLimits(t *testing.T) {
	s := serve(t, 0)
	want := map[string]float64{"limit maximum": projections.MaxPageLimit, "limit default": projections.DefaultPageLimit, "wait maximum": 30, "wait default": 5}
	for id, o := range readContract(s).operations() {
		for _, parameter := range o.parameters() {
			name := parameter["name"].(string)
			for _, key := range []string{"maximum", "default"} {
				limit, known := want[name+" "+key]
				if got := parameter["schema"].(map[string]any)[key]; known && number(t, got) != limit {
					t.Errorf("%s: %s of %s is %v, want %v", id, key, name, got, limit)
				}
			}
		}
	}
}

func number(t *testing.T, value any) float64 {
	t.Helper()
	n, ok := value.(json.Number)
	if !ok {
		t.Fatalf("%v (%T) is no number", value, value)
	}
	f, err := n.Float64()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestDescriptionsAreOfFieldsThatExist: a renamed field takes its description
// along, or this says so.
func TestDescriptionsAreOfFieldsThatExist(t *testing.T) {
	s := serve(t, 0)
	document := string(s.get("/openapi.json").body)
	for key, text := range web.Descriptions {
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(document, string(encoded)) {
			t.Errorf("%s is described, and nothing has the description", key)
		}
	}
}
