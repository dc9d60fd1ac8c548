package web_test

import (
	"bytes"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
	"github.com/ledgerd/ledgerd/internal/pgtest"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
	"github.com/ledgerd/ledgerd/store/postgres"
	"github.com/ledgerd/ledgerd/store/sqlite"
)

// contract is an OpenAPI document, and what its schemas compile to.
type contract struct {
	t        *testing.T
	document map[string]any
	compiler *jsonschema.Compiler
}

const documentURL = "mem:///openapi.json"

// readContract reads the served document. Schemas are closed: a member that is
// served and not described is an error here.
func readContract(s *service) *contract {
	s.t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(s.get("/openapi.json").body))
	if err != nil {
		s.t.Fatal(err)
	}
	closeSchemas(document)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource(documentURL, document); err != nil {
		s.t.Fatal(err)
	}
	return &contract{t: s.t, document: document.(map[string]any), compiler: compiler}
}

func closeSchemas(value any) {
	switch value := value.(type) {
	case map[string]any:
		if _, object := value["properties"]; object && value["additionalProperties"] == true {
			value["additionalProperties"] = false
		}
		for _, member := range value {
			closeSchemas(member)
		}
	case []any:
		for _, item := range value {
			closeSchemas(item)
		}
	}
}

// operations gives path and operation by operation id.
func (c *contract) operations() map[string]operation {
	found := map[string]operation{}
	for path, item := range c.document["paths"].(map[string]any) {
		for method, o := range item.(map[string]any) {
			fields := o.(map[string]any)
			id, _ := fields["operationId"].(string)
			if _, twice := found[id]; twice || id == "" {
				c.t.Errorf("%s %s: operation id %q is empty or there twice", method, path, id)
			}
			found[id] = operation{method: method, path: path, fields: fields}
		}
	}
	return found
}

type operation struct {
	method, path string
	fields       map[string]any
}

func (o operation) parameters() []map[string]any {
	list, _ := o.fields["parameters"].([]any)
	parameters := make([]map[string]any, len(list))
	for i := range list {
		parameters[i] = list[i].(map[string]any)
	}
	return parameters
}

func escapePointer(part string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(part))
}

// validate holds an answer against the schema of its status and content type.
func (c *contract) validate(o operation, got response) {
	c.t.Helper()
	status := got.Status[:3]
	responses := o.fields["responses"].(map[string]any)
	if responses[status] == nil {
		status = "default"
	}
	contentType, _, _ := strings.Cut(got.Header.Get("Content-Type"), ";")
	described, _ := responses[status].(map[string]any)["content"].(map[string]any)
	if described[contentType] == nil {
		c.t.Errorf("%s: %s with content type %q is not described", got.Request.URL, got.Status, contentType)
		return
	}
	schema, err := c.compiler.Compile(documentURL + "#/paths/" + escapePointer(o.path) + "/" + o.method + "/responses/" + status + "/content/" + escapePointer(contentType) + "/schema")
	if err != nil {
		c.t.Fatal(err)
	}
	var value any = string(got.body)
	if strings.HasSuffix(contentType, "json") {
		if value, err = jsonschema.UnmarshalJSON(bytes.NewReader(got.body)); err != nil {
			c.t.Fatalf("%s: %v", got.Request.URL, err)
		}
	}
	if err := schema.Validate(value); err != nil {
		c.t.Errorf("%s: %v\n%s", got.Request.URL, err, got.body)
	}
}

// requests are made of every operation; those that end with a status are
// expected to answer it, the others 200.
var requests = map[string][]string{
	"healthz":                  {"/healthz"},
	"readyz":                   {"/readyz"},
	"metrics":                  {"/metrics"},
	"list-campaigns":           {"/v1/campaigns", "/v1/campaigns?limit=1", "/v1/campaigns?status=open&verdict=not_qualified", "/v1/campaigns?at=31", "/v1/campaigns?status=shut 422"},
	"get-campaign":             {"/v1/campaigns/alpha", "/v1/campaigns/beta?at=0&wait=0", "/v1/campaigns/nobody 404", "/v1/campaigns/- 422"},
	"list-scenarios":           {"/v1/campaigns/alpha/scenarios", "/v1/campaigns/nobody/scenarios 404"},
	"list-cells":               {"/v1/campaigns/alpha/cells", "/v1/campaigns/alpha/cells?scenario=scenario-0&outcome=passed&limit=1&after=0", "/v1/campaigns/nobody/cells 404"},
	"list-campaign-rejections": {"/v1/campaigns/alpha/rejections", "/v1/campaigns/alpha/rejections?kind=cell&reason=foreign_workflow", "/v1/campaigns/nobody/rejections"},
	"list-checkpoints":         {"/v1/campaigns/alpha/checkpoints", "/v1/campaigns/alpha/checkpoints?run_id=run-1&outcome=bound", "/v1/campaigns/nobody/checkpoints 404"},
	"list-imports": {"/v1/imports", "/v1/imports?import_key=" + url.QueryEscape(projectionstest.StoryFailed.ImportKey()),
		"/v1/imports?measurement_key=none", "/v1/imports?campaign=alpha&limit=2", "/v1/imports?campaign=nobody 404"},
	"list-entries":             {"/v1/entries", "/v1/entries?after=30", "/v1/entries?campaign=alpha&kind=cell&outcome=accepted", "/v1/entries?at=32&wait=0 504"},
	"list-rejections":          {"/v1/rejections", "/v1/rejections?campaign=alpha&kind=cell&reason=import_voided"},
	"list-usage":               {"/v1/usage", "/v1/usage?campaign=alpha&from=2026-01-01&to=2026-12-31", "/v1/usage?from=yesterday 422"},
	"list-shared-measurements": {"/v1/measurements/shared", "/v1/measurements/shared?limit=1"},
	"get-summary":              {"/v1/summary", "/v1/summary?campaign=alpha", "/v1/summary?campaign=nobody"},
	"follow-entries":           nil, // see TestStreamKeepsTheContract
}

// backends are what the contract is held over.
var backends = map[string]func(*testing.T) store{
	"model":    func(*testing.T) store { return projectionstest.NewModel() },
	"sqlite":   openSQLite,
	"postgres": openPostgres,
}

func openSQLite(t *testing.T) store {
	t.Helper()
	opened, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "views.sqlite"))
	return untilTheEnd(t, opened, err)
}

func openPostgres(t *testing.T) store {
	t.Helper()
	opened, err := postgres.Open(t.Context(), pgtest.Database(t))
	return untilTheEnd(t, opened, err)
}

// untilTheEnd closes an opened store after the test.
func untilTheEnd(t *testing.T, opened projections.Store, err error) store {
	t.Helper()
	if err != nil {
		t.Fatalf("%+v", err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

// TestContract calls every operation of the document, and holds what it
// answers against the document.
func TestContract(t *testing.T) {
	for name, open := range backends {
		t.Run(name, func(t *testing.T) {
			s := serve(t, 32, func(s *service, c *web.Config) {
				s.store = open(t)
				c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/plain; version=0.0.4")
					_, _ = w.Write([]byte("up 1\n"))
				})
			})
			c := readContract(s)
			operations := c.operations()
			if want, got := slices.Sorted(maps.Keys(requests)), slices.Sorted(maps.Keys(operations)); !slices.Equal(want, got) {
				t.Fatalf("the document has operations %v, tests are for %v", got, want)
			}
			for id, paths := range requests {
				for _, request := range paths {
					path, status, refused := strings.Cut(request, " ")
					if !refused {
						status = "200"
					}
					got := s.get(path)
					if got.Status[:3] != status {
						t.Errorf("%s: %s, want %s: %s", path, got.Status, status, got.body)
					}
					c.validate(operations[id], got)
				}
			}
		})
	}
}

// TestEveryAnswerHasAsOf: every 200 below /v1 has it, and is the same from
// every store, byte for byte.
func TestEveryAnswerHasAsOf(t *testing.T) {
	s := serve(t, 32)
	kept := map[string]*service{}
	for name, open := range backends {
		kept[name] = serve(t, 32, func(s *service, _ *web.Config) { s.store = open(t) })
	}
	for _, paths := range requests {
		for _, path := range paths {
			if !strings.HasPrefix(path, "/v1/") || strings.Contains(path, " ") {
				continue
			}
			want := s.get(path)
			s.wantAsOf(want, 31)
			for name, other := range kept {
				got := other.get(path)
				if string(got.body) != string(want.body) || got.Header.Get("ETag") != want.Header.Get("ETag") {
					t.Errorf("%s: %s answers\n%s\nthe model\n%s", path, name, got.body, want.body)
				}
			}
		}
	}
}

// TestEmptyViewsKeepTheContract: before the first decision as_of is -1.
func TestEmptyViewsKeepTheContract(t *testing.T) {
	s := serve(t, 0)
	c := readContract(s)
	operations := c.operations()
	for _, id := range []string{"list-campaigns", "list-imports", "list-entries", "list-rejections", "list-usage", "list-shared-measurements", "get-summary"} {
		got := s.get(operations[id].path)
		s.wantAsOf(got, -1)
		c.validate(operations[id], got)
	}
}

// TestNotReadyKeepsTheContract: 503 has the same shape.
func TestNotReadyKeepsTheContract(t *testing.T) {
	s := serve(t, 32)
	s.health.set(false, web.LoopState{Name: "views", State: web.Stopped, Error: "the chain is broken"}, web.LoopState{Name: "writer", State: web.Starting})
	got := s.get("/readyz")
	c := readContract(s)
	c.validate(c.operations()["readyz"], got)
	answer := decode[readiness](s, http.StatusServiceUnavailable, got)
	if answer.Ready || len(answer.Loops) != 2 || answer.Loops[0].Error != "the chain is broken" || answer.Loops[1].State != web.Starting {
		t.Errorf("not ready: %+v", answer)
	}
	if health := s.get("/healthz"); health.StatusCode != http.StatusOK {
		t.Errorf("/healthz: %s while a loop has stopped, want 200: the process is alive", health.Status)
	}
}
