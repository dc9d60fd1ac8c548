package web

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/cockroachdb/errors"
	"github.com/danielgtaylor/huma/v2"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/projections"
)

// description configures the API: JSON and nothing else, no pages that load
// scripts from elsewhere, no parameter that is not known.
func (s *server) description() huma.Config {
	config := huma.DefaultConfig("ledgerd", s.Version)
	config.Info.Description = "Reads an evidence ledger's views. Every answer says as_of, the ledger index of the last decision in it. " +
		"Members may be added to answers; unknown query parameters are refused. There is nothing to write here. " +
		"Answers print U+0000 as ␀0, and ␀ itself as ␀␀; a parameter is the text as it was published."
	config.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	config.Tags = []*huma.Tag{
		{Name: "campaigns", Description: "One campaign, and the list of all"},
		{Name: "ledger", Description: "Over all campaigns"},
		{Name: "daemon", Description: "The process itself"},
	}
	if s.Token != "" {
		config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{bearer: {Type: "http", Scheme: "bearer"}}
		config.Security = []map[string][]string{{bearer: {}}}
	} else {
		config.Info.Description += " Requests must be for a loopback name, or the host that the daemon listens on."
	}
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	config.CreateHooks = nil // no $schema member in answers
	config.AllowAdditionalPropertiesByDefault = true
	config.RejectUnknownQueryParameters = true
	config.Transformers = []huma.Transformer{asProblem}
	return config
}

const bearer = "bearer"

// operation starts an operation.
func operation(id, path, tag, summary string) huma.Operation {
	return huma.Operation{
		OperationID: id, Method: http.MethodGet, Path: path, Tags: []string{tag}, Summary: summary,
		Responses: map[string]*huma.Response{"default": {
			Description: "A problem, as RFC 9457 has it.",
			Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: &huma.Schema{Ref: schemaPrefix + problemSchema}}},
		}},
	}
}

const (
	schemaPrefix  = "#/components/schemas/"
	problemSchema = "Problem"
)

// open marks an operation that needs no token.
func open(op huma.Operation) huma.Operation {
	op.Security = []map[string][]string{}
	return op
}

// schemaOf registers a type's schema and refers to it.
func schemaOf[T any](api huma.API) *huma.Schema {
	return api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
}

// response is a further response of an operation.
func response[T any](api huma.API, description string) *huma.Response {
	return &huma.Response{Description: description, Content: map[string]*huma.MediaType{"application/json": {Schema: schemaOf[T](api)}}}
}

// serveDescription prints the document once and serves it.
func (s *server) serveDescription(api huma.API, mux *http.ServeMux) error {
	schemaOf[Problem](api)
	refine(api.OpenAPI().Components.Schemas)
	document, err := json.Marshal(api.OpenAPI())
	if err != nil {
		return errors.Wrap(err, "web: print the OpenAPI document")
	}
	digest := sha256.Sum256(document)
	tag := `W/"` + hex.EncodeToString(digest[:tagBytes]) + `"`
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", tag)
		w.Header().Set("Cache-Control", alwaysAsked)
		if matches(r.Header.Get("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "application/openapi+json")
		_, _ = w.Write(document) // the client has gone
	})
	return nil
}

// words are the types whose strings are a closed list.
var words = map[reflect.Type][]any{
	reflect.TypeFor[projections.CampaignStatus]():    {projections.StatusOpen, projections.StatusSealed},
	reflect.TypeFor[projections.CellOutcome]():       {projections.CellMissing, projections.CellPassed, projections.CellFailed},
	reflect.TypeFor[projections.CheckpointOutcome](): {projections.CheckpointBound, projections.CheckpointPending, projections.CheckpointRejected},
	reflect.TypeFor[domain.VerdictWord]():            {domain.Qualified, domain.NotQualified, domain.Incomplete},
	reflect.TypeFor[domain.VerdictCode]():            enumOf(domain.VerdictCodes()),
	reflect.TypeFor[domain.Outcome]():                {domain.Accepted, domain.Duplicate, domain.Pending, domain.Rejected},
	reflect.TypeFor[domain.Kind]():                   {domain.KindCampaign, domain.KindCell, domain.KindCheckpoint, domain.KindVoid, domain.KindSeal, domain.Kind("")},
	reflect.TypeFor[State]():                         {Starting, Running, Stopped},
}

func enumOf[T any](list []T) []any {
	words := make([]any, len(list))
	for i := range list {
		words[i] = list[i]
	}
	return words
}

// refine makes the schemas say what the types mean beyond what huma reads from
// them: lists are never null, pointers to structs may be, and some strings are
// a closed list.
func refine(registry huma.Registry) {
	delete(registry.Map(), "ErrorModel") // problems are printed as Problem
	for name, schema := range registry.Map() {
		if t := registry.TypeFromRef(schemaPrefix + name); t.Kind() == reflect.Struct {
			refineStruct(schema, t)
		}
	}
}

func refineStruct(schema *huma.Schema, t reflect.Type) {
	for _, field := range reflect.VisibleFields(t) {
		name := jsonName(field)
		property := schema.Properties[name]
		if field.Anonymous || !field.IsExported() || property == nil {
			continue
		}
		schema.Properties[name] = refineProperty(property, field.Type)
		if text := descriptions[described(t, field)]; text != "" {
			schema.Properties[name].Description = text
		}
	}
}

func refineProperty(property *huma.Schema, t reflect.Type) *huma.Schema {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeObject}, {Type: "null"}}}
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct && property.Ref != "":
		return &huma.Schema{AnyOf: []*huma.Schema{{Ref: property.Ref}, {Type: "null"}}}
	case t.Kind() == reflect.Slice && property.Type == huma.TypeArray:
		property.Nullable = false
		property.Items = refineProperty(property.Items, t.Elem())
	case words[t] != nil:
		property.Enum = words[t]
	}
	return property
}
