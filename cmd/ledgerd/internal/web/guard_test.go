package web_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
	"github.com/ledgerd/ledgerd/projections"
)

// ask gives the status of a GET without a server.
func ask(handler http.Handler, path string) int {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
	return recorder.Code
}

// TestNothingIsWritten: every other method is refused on every path.
func TestNothingIsWritten(t *testing.T) {
	s := serve(t, 32)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodTrace} {
		for _, path := range []string{"/v1/campaigns", "/v1/campaigns/alpha/cells", "/v1/events", "/healthz", "/openapi.json"} {
			got := s.do(method, path)
			s.problem(http.StatusMethodNotAllowed, "method_not_allowed", got)
			if got.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: Allow %q", method, path, got.Header.Get("Allow"))
			}
		}
		s.problem(http.StatusNotFound, "not_found", s.do(method, "/v1/nothing"))
	}
	for _, path := range []string{"/", "/v1", "/v1/campaigns/", "/docs", "/schemas/Campaign.json", "/metrics"} {
		s.problem(http.StatusNotFound, "not_found", s.get(path))
	}
}

// TestSizes: at the edges.
func TestSizes(t *testing.T) {
	s := serve(t, 32)
	path := "/v1/imports?import_key="
	fits := path + strings.Repeat("k", web.MaxURLBytes-len(path))
	s.problem(http.StatusUnprocessableEntity, "invalid_request", s.get(fits)) // the key is too long, the URL is not
	s.problem(http.StatusRequestURITooLong, "request_too_large", s.get(fits+"k"))
	s.wantAsOf(s.get(path+strings.Repeat("k", 2048)), 31)
	for name, body := range map[string]io.Reader{"of a known length": strings.NewReader("x"), "of an unknown length": io.MultiReader(strings.NewReader("x"))} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v1/campaigns", body)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(*testing.T) { s.problem(http.StatusRequestEntityTooLarge, "request_too_large", s.send(request)) })
	}
}

// TestToken: only who bears it reads; probes see whether, and not why not.
func TestToken(t *testing.T) {
	s := serve(t, 32, func(_ *service, c *web.Config) {
		c.Token = "a token"
		c.Metrics = http.NotFoundHandler()
	})
	s.health.set(false, web.LoopState{Name: "views", State: web.Stopped, Error: "secret"})
	for _, header := range []string{"", "a token", "Bearer", "Bearer ", "Bearer a toke", "Bearer a token2", "Basic a token", "bearer A token"} {
		for _, path := range []string{"/v1/campaigns", "/v1/events", "/metrics", "/openapi.json"} {
			got := s.get(path, "Authorization", header)
			s.problem(http.StatusUnauthorized, "unauthorized", got)
			if got.Header.Get("WWW-Authenticate") != `Bearer realm="ledgerd"` {
				t.Errorf("WWW-Authenticate %q", got.Header.Get("WWW-Authenticate"))
			}
		}
		if got := s.get("/readyz", "Authorization", header); got.StatusCode != http.StatusServiceUnavailable || strings.Contains(string(got.body), "secret") {
			t.Errorf("/readyz with %q: %s %s", header, got.Status, got.body)
		}
		if got := s.get("/healthz", "Authorization", header); got.StatusCode != http.StatusOK {
			t.Errorf("/healthz with %q: %s", header, got.Status)
		}
	}
	for _, header := range []string{"Bearer a token", "bearer a token"} {
		s.wantAsOf(s.get("/v1/entries", "Authorization", header), 31)
		if got := s.get("/readyz", "Authorization", header); !strings.Contains(string(got.body), "secret") {
			t.Errorf("/readyz does not tell who may read: %s", got.body)
		}
	}
	document := string(s.get("/openapi.json", "Authorization", "Bearer a token").body)
	if !strings.Contains(document, `"scheme":"bearer"`) || strings.Contains(document, "a token") {
		t.Error("the document does not say that a token is needed, or tells it")
	}
}

// TestHeaders: also of problems.
func TestHeaders(t *testing.T) {
	s := serve(t, 32)
	for _, path := range []string{"/v1/campaigns", "/v1/campaigns/nobody", "/nothing", "/healthz"} {
		got := s.get(path)
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin", "Access-Control-Allow-Origin": "",
		} {
			if got.Header.Get(name) != want {
				t.Errorf("%s: %s %q, want %q", path, name, got.Header.Get(name), want)
			}
		}
	}
}

// TestPanic: one request fails, is logged, and the next is answered.
func TestPanic(t *testing.T) {
	var log bytes.Buffer
	s := serve(t, 32, func(_ *service, c *web.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	s.reader.before = func() { panic("a bug") }
	s.problem(http.StatusInternalServerError, "internal", s.get("/v1/campaigns"))
	s.wantAsOf(s.get("/v1/campaigns"), 31)
	if !strings.Contains(log.String(), "a bug") {
		t.Errorf("log %q", log.String())
	}
}

// TestRoutesOfOthers: they are in the document, wait for an index, have a tag,
// and are behind the token.
func TestRoutesOfOthers(t *testing.T) {
	type headInput struct{ web.Freshness }
	type head struct {
		Size int64 `json:"size"`
	}
	s := serve(t, 32, func(_ *service, c *web.Config) {
		c.Token = "token"
		c.Routes = []web.Route{func(r *web.Routes) error {
			web.AddOne(r, web.Operation("get-tree-head", "/v1/tree/head", "ledger", "The tree head"),
				func(context.Context, *headInput) (projections.One[head], error) {
					return projections.One[head]{AsOf: 31, Item: head{Size: 32}}, nil
				})
			huma.Register(r.API, web.Operation("get-teapot", "/v1/teapot", "ledger", "No tea"), func(context.Context, *struct{}) (*struct{}, error) {
				return nil, web.NewProblem(http.StatusTeapot, "teapot", "no tea")
			})
			r.Handle("GET /tile/{path...}", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.PathValue("path")) }))
			return nil
		}}
	})
	bearer := []string{"Authorization", "Bearer token"}
	got := s.get("/v1/tree/head?at=31", bearer...)
	s.wantAsOf(got, 31)
	if cached := s.get("/v1/tree/head", append(bearer, "If-None-Match", got.Header.Get("ETag"))...); cached.StatusCode != http.StatusNotModified {
		t.Errorf("%s with the tag %q", cached.Status, got.Header.Get("ETag"))
	}
	s.problem(http.StatusTeapot, "teapot", s.get("/v1/teapot", bearer...))
	if got := s.get("/tile/0/x001/067", bearer...); string(got.body) != "0/x001/067" {
		t.Errorf("tile: %s %q", got.Status, got.body)
	}
	s.problem(http.StatusUnauthorized, "unauthorized", s.get("/tile/0"))
	if document := string(s.get("/openapi.json", bearer...).body); !strings.Contains(document, "/v1/tree/head") {
		t.Error("the document lacks the route")
	}
}

// TestNewNeedsItsParts: a forgotten hook is found at once.
func TestNewNeedsItsParts(t *testing.T) {
	if _, err := web.New(web.Config{}); err == nil {
		t.Error("made a handler of nothing")
	}
}
