package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"
)

// guard is what every request goes through before a route sees it.
func (s *server) guard(mux *http.ServeMux) (http.Handler, error) {
	compress, err := gzhttp.NewWrapper(gzhttp.EnableZstd(false), gzhttp.ContentTypes(compressible))
	if err != nil {
		return nil, err
	}
	compressed := compress(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.recover(w, r)
		protect(w.Header())
		// For every request, because a connection keeps the last one's. A stream
		// moves its own; without a server (in a test) there is none.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout))
		if problem := s.refusal(mux, r); problem != nil {
			problem.writeTo(w)
			return
		}
		compressed.ServeHTTP(w, r)
	}), nil
}

// compressible are the types that are worth it; event streams are not among
// them, because a compressor holds events back.
var compressible = []string{"application/json", "application/problem+json", "application/openapi+json", "text/plain", "text/html", "text/css", "text/javascript"}

// protect sets what keeps an answer from being taken for something else by a
// browser. A route may set its own.
func protect(header http.Header) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// refusal is why a request is not served, nil when it is.
func (s *server) refusal(mux *http.ServeMux, r *http.Request) *Problem {
	if len(r.RequestURI) > maxURLBytes {
		return newProblem(http.StatusRequestURITooLong, problemTooLarge, fmt.Sprintf("the URL is longer than %d bytes", maxURLBytes))
	}
	if r.ContentLength != 0 {
		return newProblem(http.StatusRequestEntityTooLarge, problemTooLarge, "no request takes a body").with("Connection", "close")
	}
	if s.Token == "" && !s.ownHost(r.Host) {
		return foreignHost(r.Host)
	}
	asked := *r
	asked.Method = http.MethodGet
	_, pattern := mux.Handler(&asked)
	switch {
	case pattern == "":
		return newProblem(http.StatusNotFound, problemNotFound, "there is nothing at this path; /openapi.json says what there is")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		problem := newProblem(http.StatusMethodNotAllowed, problemMethod, "HTTP only reads")
		problem.Hint = "publish with the ingest command"
		return problem.with("Allow", "GET, HEAD")
	case !s.open(pattern) && !s.mayRead(r.Header.Get("Authorization")):
		problem := newProblem(http.StatusUnauthorized, problemUnauthorized, "a bearer token is needed")
		problem.Hint = "send Authorization: Bearer and the token in the file that the daemon was given as --auth-token-file"
		return problem.with("WWW-Authenticate", `Bearer realm="ledgerd"`)
	}
	return nil
}

// open reports whether everybody may ask a route: probes bear no token.
func (s *server) open(pattern string) bool {
	return pattern == "GET /healthz" || pattern == "GET /readyz"
}

// mayRead compares digests, so that neither the token's bytes nor its length
// show in the time it takes.
func (s *server) mayRead(authorization string) bool {
	if s.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(authorization, " ")
	want, got := sha256.Sum256([]byte(s.Token)), sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// recover keeps one request that panics from taking the others with it.
func (s *server) recover(w http.ResponseWriter, r *http.Request) {
	cause := recover()
	switch {
	case cause == nil:
		return
	case cause == http.ErrAbortHandler: //nolint:errorlint // net/http compares it so
		panic(cause)
	}
	s.Logger.ErrorContext(r.Context(), "a request panicked", "method", r.Method, "path", r.URL.Path, "panic", cause, "stack", string(debug.Stack()))
	newProblem(http.StatusInternalServerError, problemInternal, "the request failed; the daemon's log says why").writeTo(w)
}
