package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
)

// hosts are Host headers, and whether they are this machine's own names.
var hosts = map[string]bool{
	"localhost":                   true,
	"localhost:8080":              true,
	"localhost:":                  true, // RFC 9110 lets the port be empty
	"LocalHost:1":                 true,
	"127.0.0.1":                   true,
	"127.0.0.1:65535":             true,
	"127.255.255.254:8080":        true,
	"[::1]":                       true,
	"[::1]:8080":                  true,
	"[0:0:0:0:0:0:0:1]:8080":      true,
	"[::ffff:127.0.0.1]:8080":     true,
	"":                            false,
	":8080":                       false,
	"evil.example":                false,
	"evil.example:8080":           false,
	"localhost.evil.example":      false,
	"127.0.0.1.evil.example:8080": false,
	"evil.example:80:80":          false,
	"localhost:evil":              false,
	"localhost:65536":             false,
	"localhost@evil.example":      false,
	"evil.example/localhost":      false,
	"128.0.0.1":                   false,
	"126.255.255.255":             false,
	"0.0.0.0:8080":                false,
	"127.1":                       false,
	"2130706433":                  false,
	"10.0.0.7:8080":               false,
	"::1":                         false,
	"[::2]:8080":                  false,
	"[::1":                        false,
	"ledger.example":              false,
}

// askFor gives the answer to a GET for a host, without a server, which would
// refuse some of the hosts itself.
func askFor(handler http.Handler, host, path string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, path, nil)
	request.Host = host
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder
}

// TestForeignHosts: without a token a page that made its own name resolve to
// this machine reads nothing.
func TestForeignHosts(t *testing.T) {
	handler := bare(t, func(*web.Config) {})
	for host, own := range hosts {
		want := http.StatusMisdirectedRequest
		if own {
			want = http.StatusOK
		}
		for _, path := range []string{"/v1/campaigns", "/healthz", "/readyz", "/openapi.json"} {
			if got := askFor(handler, host, path); got.Code != want {
				t.Errorf("%s for host %q: status %d, want %d", path, host, got.Code, want)
			}
		}
	}
}

// TestForeignHostIsTold: with a sentence, and what helps, also on a path that
// does not exist and for a method that is refused.
func TestForeignHostIsTold(t *testing.T) {
	s := serve(t, 32)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		for _, path := range []string{"/v1/campaigns", "/v1/events", "/nothing"} {
			request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = "evil.example"
			if p := s.problem(http.StatusMisdirectedRequest, "foreign_host", s.send(request)); p.Hint == "" {
				t.Errorf("%s %s: no hint: %+v", method, path, p)
			}
		}
	}
	s.wantAsOf(s.get("/v1/campaigns"), 31)
	longest := strings.Repeat("x", web.MaxHostShown)
	for _, host := range []string{longest, longest + "x", strings.Repeat("x", 9000)} {
		if got := askFor(s.handler, host, "/v1/campaigns").Body.String(); strings.Count(got, "xx")*2 > web.MaxHostShown || !strings.Contains(got, longest) {
			t.Errorf("a host of %d characters is shown as %s", len(host), got)
		}
	}
}

// TestListenHostIsServed: in any spelling, and nothing else beside loopback.
func TestListenHostIsServed(t *testing.T) {
	for listen, served := range map[string][]string{
		"Ledger.example": {"ledger.example", "LEDGER.EXAMPLE:8080"},
		"10.0.0.7":       {"10.0.0.7", "10.0.0.7:8080"},
		"fd00:0::7":      {"[fd00::7]:8080", "[FD00::7]"},
	} {
		handler := bare(t, func(c *web.Config) { c.ListenHost = listen })
		for _, host := range append(served, "localhost:8080") {
			if got := askFor(handler, host, "/v1/campaigns"); got.Code != http.StatusOK {
				t.Errorf("listening on %s, host %s: status %d", listen, host, got.Code)
			}
		}
		for _, host := range []string{"evil.example", "10.0.0.8", "x." + listen, ""} {
			if got := askFor(handler, host, "/v1/campaigns"); got.Code != http.StatusMisdirectedRequest {
				t.Errorf("listening on %s, host %s: status %d", listen, host, got.Code)
			}
		}
	}
}

// TestAnyHostWithAToken: the token is what a foreign page lacks.
func TestAnyHostWithAToken(t *testing.T) {
	handler := bare(t, func(c *web.Config) { c.Token = "a token" })
	for host := range hosts {
		if got := askFor(handler, host, "/healthz"); got.Code != http.StatusOK {
			t.Errorf("/healthz for host %q: status %d", host, got.Code)
		}
		if got := askFor(handler, host, "/v1/campaigns"); got.Code != http.StatusUnauthorized {
			t.Errorf("host %q without the token: status %d", host, got.Code)
		}
		request := httptest.NewRequest(http.MethodGet, "/v1/campaigns", nil)
		request.Host = host
		request.Header.Set("Authorization", "Bearer a token")
		recorder := httptest.NewRecorder()
		if handler.ServeHTTP(recorder, request); recorder.Code != http.StatusOK {
			t.Errorf("host %q with the token: status %d", host, recorder.Code)
		}
	}
}
