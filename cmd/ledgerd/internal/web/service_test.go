package web_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// service is a handler over views that a test moves.
type service struct {
	*httptest.Server
	t       *testing.T
	ledger  *projectionstest.Ledger
	store   store
	reader  *faultyReader
	health  *fixedHealth
	handler *web.Handler

	mu      sync.Mutex
	at      projections.Position
	stopped error         // what waiting ends with, when set
	moved   chan struct{} // closed and replaced when one of these changes
}

// store is what the tests need of one.
type store interface {
	projections.Reader
	Apply(ctx context.Context, from, to projections.Position, changes *projections.Changes) error
}

// option changes a configuration before the handler is made.
type option func(*service, *web.Config)

// serve starts a server over the story, folded up to a sequence.
func serve(t *testing.T, upTo uint64, options ...option) *service {
	t.Helper()
	s := &service{t: t, ledger: projectionstest.Story(t), store: projectionstest.NewModel(), health: &fixedHealth{ready: true}, moved: make(chan struct{})}
	config := web.Config{WaitFor: s.waitFor, Health: s.health, Version: "test"}
	for _, o := range options {
		o(s, &config)
	}
	s.reader = &faultyReader{Reader: s.store}
	config.Reader = s.reader
	s.foldTo(upTo)
	var err error
	if s.handler, err = web.New(config); err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewServer(s.handler)
	s.Server.Config.RegisterOnShutdown(s.handler.EndStreams)
	t.Cleanup(func() {
		s.handler.EndStreams()
		s.Server.Close()
	})
	return s
}

// foldTo moves the views.
func (s *service) foldTo(seq uint64) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	to := s.ledger.Position(seq)
	if err := s.store.Apply(s.t.Context(), s.at, to, s.ledger.Fold(s.at.Seq, seq)); err != nil {
		s.t.Fatal(err)
	}
	s.at = to
	close(s.moved)
	s.moved = make(chan struct{})
}

// stop ends the waiting: the views do not follow any more.
func (s *service) stop(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = err
	close(s.moved)
	s.moved = make(chan struct{})
}

func (s *service) waitFor(ctx context.Context, seq uint64) error {
	for {
		s.mu.Lock()
		at, stopped, moved := s.at.Seq, s.stopped, s.moved
		s.mu.Unlock()
		switch {
		case at >= seq:
			return nil
		case stopped != nil:
			return stopped
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// faultyReader is a reader that a test breaks.
type faultyReader struct {
	projections.Reader

	mu     sync.Mutex
	fault  error  // every query's answer
	before func() // called before each list of entries or campaigns is read
	calls  int    // queries, positions not counted
	lost   error  // every position's answer
}

func (r *faultyReader) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = err
}

func (r *faultyReader) lose(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = err
}

func (r *faultyReader) Position(ctx context.Context) (projections.Position, error) {
	r.mu.Lock()
	lost := r.lost
	r.mu.Unlock()
	if lost != nil {
		return projections.Position{}, lost
	}
	return r.Reader.Position(ctx)
}

func (r *faultyReader) queries() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls
}

func (r *faultyReader) enter() error {
	r.mu.Lock()
	before, fault := r.before, r.fault
	r.before = nil
	r.calls++
	r.mu.Unlock()
	if before != nil {
		before()
	}
	return fault
}

func (r *faultyReader) Campaigns(ctx context.Context, q projections.CampaignQuery) (projections.List[projections.Campaign], error) {
	if err := r.enter(); err != nil {
		return projections.List[projections.Campaign]{}, err
	}
	return r.Reader.Campaigns(ctx, q)
}

func (r *faultyReader) Entries(ctx context.Context, q projections.EntryQuery) (projections.List[projections.Entry], error) {
	if err := r.enter(); err != nil {
		return projections.List[projections.Entry]{}, err
	}
	return r.Reader.Entries(ctx, q)
}

// fixedHealth says what it is told to say.
type fixedHealth struct {
	mu    sync.Mutex
	ready bool
	loops []web.LoopState
}

func (h *fixedHealth) Ready() (bool, []web.LoopState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ready, h.loops
}

func (h *fixedHealth) set(ready bool, loops ...web.LoopState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ready, h.loops = ready, loops
}

// response is an answer that has been read to its end.
type response struct {
	*http.Response
	body []byte
}

// do sends a request; header holds names and values in turn.
func (s *service) do(method, path string, header ...string) response {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	return s.send(request)
}

func (s *service) send(request *http.Request) response {
	s.t.Helper()
	got, err := s.Client().Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response{Response: got, body: body}
}

func (s *service) get(path string, header ...string) response {
	s.t.Helper()
	return s.do(http.MethodGet, path, header...)
}

// decode reads a JSON answer of a status.
func decode[T any](s *service, status int, got response) T {
	s.t.Helper()
	var value T
	if got.StatusCode != status {
		s.t.Fatalf("%s: status %d, want %d: %s", got.Request.URL, got.StatusCode, status, got.body)
	}
	if err := json.Unmarshal(got.body, &value); err != nil {
		s.t.Fatalf("%s: %v in %s", got.Request.URL, err, got.body)
	}
	return value
}

// problem reads a problem and checks what every one has.
func (s *service) problem(status int, kind string, got response) web.Problem {
	s.t.Helper()
	p := decode[web.Problem](s, status, got)
	if contentType := got.Header.Get("Content-Type"); contentType != "application/problem+json" {
		s.t.Errorf("%s: content type %q", got.Request.URL, contentType)
	}
	if p.Type != "urn:ledgerd:problem:"+kind || p.Status != status || p.Title != http.StatusText(status) || strings.TrimSpace(p.Detail) == "" {
		s.t.Errorf("%s: problem %+v, want status %d and kind %s", got.Request.URL, p, status, kind)
	}
	return p
}

// wantAsOf checks an answer's as_of.
func (s *service) wantAsOf(got response, index int64) {
	s.t.Helper()
	if answer := decode[struct{ AsOf int64 }](s, http.StatusOK, response{got.Response, []byte(strings.ReplaceAll(string(got.body), `"as_of"`, `"AsOf"`))}); answer.AsOf != index {
		s.t.Errorf("%s: as_of %d, want %d", got.Request.URL, answer.AsOf, index)
	}
}
