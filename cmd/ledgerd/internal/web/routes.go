package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/cockroachdb/errors"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/ledgerd/ledgerd/projections"
)

// Route adds what another package serves: it is called once, in New, and has
// the token check, the limits and the headers in front of it.
type Route func(*Routes) error

// Routes is where routes are added.
type Routes struct {
	// API takes operations that are in the OpenAPI document. AddOne
	// registers reads that wait for ?at= and have an ETag; huma.Register
	// takes any other.
	API huma.API

	server *server
	mux    *http.ServeMux
}

// Handle serves bytes that the OpenAPI document does not describe. The pattern
// is http.ServeMux's, of method GET: "GET /tile/{path...}".
func (r *Routes) Handle(pattern string, handler http.Handler) {
	if !strings.HasPrefix(pattern, "GET /") {
		panic("web: pattern " + pattern + " is not one of method GET")
	}
	r.mux.Handle(pattern, handler)
}

// AddOne registers an operation that gives one item. The input embeds
// Freshness. The item must depend on the views' position and the query alone.
func AddOne[I any, PI input[I], T any](r *Routes, op huma.Operation, read func(context.Context, *I) (projections.One[T], error)) {
	one[I, PI](r.API, r.server, op, read)
}

// Operation starts an operation: GET, with a default problem.
func Operation(id, path, tag, summary string) huma.Operation {
	return operation(id, path, tag, summary)
}

// NewProblem is an answer other than a success; kind is a code for machines.
// An operation returns it as its error.
func NewProblem(status int, kind, detail string) *Problem { return newProblem(status, kind, detail) }

// mux makes all routes and the document that describes them.
func (s *server) mux() (*http.ServeMux, error) {
	mux := http.NewServeMux()
	api := humago.New(mux, s.description())
	s.healthOperations(api)
	s.campaignOperations(api)
	s.ledgerOperations(api)
	s.eventOperation(api)
	s.metricsOperation(api)
	for i, route := range s.Routes {
		if err := route(&Routes{API: api, server: s, mux: mux}); err != nil {
			return nil, errors.Wrapf(err, "web: add routes %d", i)
		}
	}
	return mux, s.serveDescription(api, mux)
}

// metricsOperation serves the metrics as they come.
func (s *server) metricsOperation(api huma.API) {
	if s.Metrics == nil {
		return
	}
	op := operation("metrics", "/metrics", "daemon", "Prometheus metrics")
	op.Responses["200"] = &huma.Response{
		Description: "Metrics in the text format.",
		Content:     map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}
	huma.Register(api, op, func(context.Context, *struct{}) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			request, writer := humago.Unwrap(ctx)
			writer.Header().Set("Cache-Control", neverStored)
			s.Metrics.ServeHTTP(writer, request)
		}}, nil
	})
}
