package web

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"time"

	"github.com/google/uuid"
)

// requestIDHeader names a request, in the answer and in the log. A caller may
// choose the name.
const requestIDHeader = "X-Request-Id"

// requestID is what is taken from a caller as a request's name.
var requestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// logged writes a line at debug for each answer. The query is left out: it
// may hold what somebody pasted into the wrong place.
func logged(next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(requestIDHeader)
		if !requestID.MatchString(id) {
			id = uuid.NewString()
		}
		w.Header().Set(requestIDHeader, id)
		if !log.Enabled(r.Context(), slog.LevelDebug) {
			next.ServeHTTP(w, r)
			return
		}
		counted, started := &countedWriter{ResponseWriter: w}, time.Now()
		defer func() {
			log.LogAttrs(context.WithoutCancel(r.Context()), slog.LevelDebug, "answered", slog.String("request", id), slog.String("method", r.Method), slog.String("path", r.URL.Path),
				slog.Int("status", counted.status), slog.Int64("bytes", counted.bytes), slog.Duration("took", time.Since(started)))
		}()
		next.ServeHTTP(counted, r)
	})
}

// countedWriter notes what an answer comes to.
type countedWriter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap lets http.ResponseController reach the connection.
func (w *countedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *countedWriter) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *countedWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}
