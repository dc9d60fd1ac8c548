package web_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
	"github.com/ledgerd/ledgerd/internal/follow"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// TestAtWaits: the answer comes when the views have the index, and has it.
func TestAtWaits(t *testing.T) {
	s := serve(t, 10)
	s.wantAsOf(s.get("/v1/entries?at=9&wait=0"), 9)
	answered := make(chan response)
	go func() { answered <- s.get("/v1/entries?at=20&wait=30") }()
	s.foldTo(20) // index 19: not yet
	select {
	case got := <-answered:
		t.Fatalf("answered before the index was reached: %s", got.body)
	default:
	}
	s.foldTo(25)
	s.wantAsOf(<-answered, 24)
}

// TestAtTimesOut: 504 says where the views are.
func TestAtTimesOut(t *testing.T) {
	s := serve(t, 10)
	p := s.problem(http.StatusGatewayTimeout, "not_reached", s.get("/v1/campaigns/alpha?at=10&wait=0.001"))
	if p.AsOf == nil || *p.AsOf != 9 || p.Hint == "" {
		t.Errorf("problem %+v, want as_of 9 and a hint", p)
	}
}

// TestWaitLasts: five seconds unless the request says otherwise, thirty at
// most. The clock is synctest's.
func TestWaitLasts(t *testing.T) {
	for query, want := range map[string]time.Duration{"": 5 * time.Second, "&wait=30": 30 * time.Second, "&wait=0.5": 500 * time.Millisecond, "&wait=0": 0} {
		synctest.Test(t, func(t *testing.T) {
			started := time.Now()
			handler := bare(t, func(c *web.Config) {
				c.WaitFor = func(ctx context.Context, _ uint64) error { <-ctx.Done(); return ctx.Err() }
			})
			if status := ask(handler, "/v1/campaigns?at=7"+query); status != http.StatusGatewayTimeout {
				t.Errorf("%q: status %d", query, status)
			}
			if took := time.Since(started); took != want {
				t.Errorf("%q: waited %s, want %s", query, took, want)
			}
		})
	}
}

// TestAtIsKeptEvenWhenTheViewsAreBehindTheirWord: the hook says that the index
// is reached, the rows are older. They are not given out.
func TestAtIsKeptEvenWhenTheViewsAreBehindTheirWord(t *testing.T) {
	s := serve(t, 10, func(_ *service, c *web.Config) { c.WaitFor = func(context.Context, uint64) error { return nil } })
	tag := s.get("/v1/entries").Header.Get("ETag")
	p := s.problem(http.StatusGatewayTimeout, "not_reached", s.get("/v1/entries?at=10", "If-None-Match", tag))
	if p.AsOf == nil || *p.AsOf != 9 {
		t.Errorf("problem %+v, want as_of 9", p)
	}
}

// TestAtOfViewsThatStopped: waiting is of no use and ends at once.
func TestAtOfViewsThatStopped(t *testing.T) {
	s := serve(t, 10)
	s.stop(errors.Wrap(follow.ErrDamaged, "stopped"))
	p := s.problem(http.StatusServiceUnavailable, "views_stopped", s.get("/v1/entries?at=10&wait=30"))
	if p.AsOf == nil || *p.AsOf != 9 || p.Hint == "" {
		t.Errorf("problem %+v, want as_of 9 and a hint", p)
	}
	s.wantAsOf(s.get("/v1/entries"), 9)
}

// TestWaitingEndsWithTheDaemon: nobody keeps a shutdown waiting.
func TestWaitingEndsWithTheDaemon(t *testing.T) {
	entered := make(chan struct{})
	s := serve(t, 10, func(s *service, c *web.Config) {
		c.WaitFor = func(ctx context.Context, seq uint64) error { close(entered); return s.waitFor(ctx, seq) }
	})
	answered := make(chan response)
	go func() { answered <- s.get("/v1/entries?at=10&wait=30") }()
	<-entered
	s.handler.EndStreams()
	got := <-answered
	s.problem(http.StatusServiceUnavailable, "shutting_down", got)
	if got.Header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
}

// TestWaitingIsBounded: one more than maxWaiting is refused.
func TestWaitingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := bare(t, func(c *web.Config) {
			c.WaitFor = func(ctx context.Context, _ uint64) error { <-ctx.Done(); return ctx.Err() }
		})
		done := make(chan int)
		for range web.MaxWaiting {
			go func() { done <- ask(handler, "/v1/campaigns?at=7") }()
		}
		synctest.Wait()
		if status := ask(handler, "/v1/campaigns?at=7"); status != http.StatusServiceUnavailable {
			t.Errorf("one more: status %d", status)
		}
		for range web.MaxWaiting {
			if status := <-done; status != http.StatusGatewayTimeout {
				t.Errorf("status %d", status)
			}
		}
		if status := ask(handler, "/v1/campaigns?at=7&wait=0"); status != http.StatusGatewayTimeout {
			t.Errorf("after the others: status %d", status)
		}
	})
}

// bare is a handler over empty views, without a server.
func bare(t *testing.T, change func(*web.Config)) http.Handler {
	t.Helper()
	config := web.Config{Reader: projectionstest.NewModel(), Health: &fixedHealth{ready: true}, WaitFor: func(context.Context, uint64) error { return nil }}
	change(&config)
	handler, err := web.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(handler.EndStreams)
	return handler
}

// TestETag: the same as_of and query give the same tag and 304; another query,
// as_of or ledger does not.
func TestETag(t *testing.T) {
	s := serve(t, 20)
	first := s.get("/v1/campaigns?limit=5")
	tag := first.Header.Get("ETag")
	if !strings.HasPrefix(tag, `W/"19-`) {
		t.Fatalf("ETag %q, want a weak one of as_of 19", tag)
	}
	before := s.reader.queries()
	for _, header := range []string{tag, strings.TrimPrefix(tag, "W/"), `"other", ` + tag} {
		got := s.get("/v1/campaigns?limit=5", "If-None-Match", header)
		if got.StatusCode != http.StatusNotModified || len(got.body) != 0 || got.Header.Get("ETag") != tag {
			t.Errorf("If-None-Match %s: %s, ETag %s, body %q", header, got.Status, got.Header.Get("ETag"), got.body)
		}
	}
	if got := s.get("/v1/campaigns?at=19&wait=1&limit=5", "If-None-Match", tag); got.StatusCode != http.StatusNotModified {
		t.Errorf("at= and wait= are no part of the query: %s", got.Status)
	}
	if n := s.reader.queries() - before; n != 0 {
		t.Errorf("%d queries for answers that the client has", n)
	}
	for _, path := range []string{"/v1/campaigns?limit=6", "/v1/campaigns", "/v1/rejections?limit=5"} {
		if got := s.get(path, "If-None-Match", tag); got.StatusCode != http.StatusOK || got.Header.Get("ETag") == tag {
			t.Errorf("%s: %s with ETag %s for the tag of another query", path, got.Status, got.Header.Get("ETag"))
		}
	}
	if got := s.get("/v1/campaigns?limit=5", "If-None-Match", "*"); got.StatusCode != http.StatusOK {
		t.Errorf("If-None-Match *: %s", got.Status)
	}
	s.foldTo(21)
	if got := s.get("/v1/campaigns?limit=5", "If-None-Match", tag); got.StatusCode != http.StatusOK || got.Header.Get("ETag") == tag {
		t.Errorf("after another decision: %s with ETag %s", got.Status, got.Header.Get("ETag"))
	}
	other := serve(t, 0, func(s *service, _ *web.Config) { s.ledger = projectionstest.Random(t, 7, 20) })
	other.foldTo(20)
	if got := other.get("/v1/campaigns?limit=5", "If-None-Match", tag); got.StatusCode != http.StatusOK {
		t.Errorf("another ledger of the same length: %s", got.Status)
	}
}

// TestETagOutlivesARebuild: which makes the same rows, so that what clients
// have stays valid.
func TestETagOutlivesARebuild(t *testing.T) {
	for name, open := range map[string]func(*testing.T) store{"sqlite": openSQLite, "postgres": openPostgres} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, 32, func(s *service, _ *web.Config) { s.store = open(t) })
			before := s.get("/v1/imports")
			rebuilt, err := projections.Rebuild(t.Context(), projections.RebuildConfig{Log: s.ledger.Log, Store: s.store.(projections.Store)})
			if err != nil || rebuilt.Position != s.at {
				t.Fatalf("rebuilt at %+v: %+v", rebuilt.Position, err)
			}
			if got := s.get("/v1/imports", "If-None-Match", before.Header.Get("ETag")); got.StatusCode != http.StatusNotModified {
				t.Errorf("%s with the tag from before the rebuild", got.Status)
			}
			if after := s.get("/v1/imports"); string(after.body) != string(before.body) {
				t.Errorf("the rebuild changed\n%s\nto\n%s", before.body, after.body)
			}
		})
	}
}

// TestETagOfViewsThatMove: the tag is of the answer, not of the position that
// was read before it.
func TestETagOfViewsThatMove(t *testing.T) {
	s := serve(t, 20)
	s.reader.before = func() { s.foldTo(21) }
	got := s.get("/v1/campaigns")
	s.wantAsOf(got, 20)
	if again := s.get("/v1/campaigns", "If-None-Match", got.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
		t.Errorf("%s with the tag of as_of 20", again.Status)
	}
}

// TestETagOfTheDocument: it is cached too.
func TestETagOfTheDocument(t *testing.T) {
	s := serve(t, 0)
	tag := s.get("/openapi.json").Header.Get("ETag")
	if got := s.get("/openapi.json", "If-None-Match", tag); tag == "" || got.StatusCode != http.StatusNotModified {
		t.Errorf("tag %q: %s", tag, got.Status)
	}
}

// TestHead: the headers of GET, and no body.
func TestHead(t *testing.T) {
	s := serve(t, 32)
	for _, path := range []string{"/v1/campaigns", "/v1/campaigns/alpha", "/healthz", "/readyz", "/openapi.json", "/v1/campaigns/nobody", "/v1/events"} {
		got := s.do(http.MethodHead, path)
		if len(got.body) != 0 {
			t.Errorf("%s: a body of %d bytes", path, len(got.body))
		}
		if path == "/v1/events" {
			continue // GET does not end
		}
		whole := s.get(path)
		for _, name := range []string{"ETag", "Content-Type", "Cache-Control"} {
			if got.StatusCode != whole.StatusCode || got.Header.Get(name) != whole.Header.Get(name) {
				t.Errorf("%s: HEAD %s %q, GET %s %q", path, got.Status, got.Header.Get(name), whole.Status, whole.Header.Get(name))
			}
		}
	}
}

// TestGzip: who accepts it gets it, the bytes are the same, and the small are
// left alone.
func TestGzip(t *testing.T) {
	s := serve(t, 32)
	plain := s.get("/v1/entries", "Accept-Encoding", "identity")
	packed := s.get("/v1/entries", "Accept-Encoding", "gzip")
	if packed.Header.Get("Content-Encoding") != "gzip" || plain.Header.Get("Content-Encoding") != "" {
		t.Fatalf("encodings %q and %q", packed.Header.Get("Content-Encoding"), plain.Header.Get("Content-Encoding"))
	}
	for _, got := range []response{plain, packed} {
		if got.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("Vary %q", got.Header.Get("Vary"))
		}
	}
	unpacked, err := gzip.NewReader(strings.NewReader(string(packed.body)))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(unpacked)
	if err != nil || string(body) != string(plain.body) || len(packed.body) >= len(plain.body) {
		t.Errorf("unpacked %d bytes (%v), plain %d, packed %d", len(body), err, len(plain.body), len(packed.body))
	}
	if small := s.get("/healthz", "Accept-Encoding", "gzip"); small.Header.Get("Content-Encoding") != "" {
		t.Error("a small answer is compressed")
	}
	if cached := s.get("/v1/entries", "Accept-Encoding", "gzip", "If-None-Match", packed.Header.Get("ETag")); cached.StatusCode != http.StatusNotModified || cached.Header.Get("Content-Encoding") != "" {
		t.Errorf("304 of a compressed answer: %s, encoding %q", cached.Status, cached.Header.Get("Content-Encoding"))
	}
}

// TestProblemsOfTheStore: each error of a Reader has its answer, and what
// nobody foresaw is told to the log alone.
func TestProblemsOfTheStore(t *testing.T) {
	s := serve(t, 32)
	for _, row := range []struct {
		err    error
		status int
		kind   string
	}{
		{errors.Wrap(projections.ErrUnavailable, "no route to 10.0.0.1"), http.StatusServiceUnavailable, "views_unavailable"},
		{errors.Wrap(projections.ErrAnotherVersion, "version 0"), http.StatusServiceUnavailable, "views_rebuilding"},
		{errors.Wrap(context.DeadlineExceeded, "query"), http.StatusServiceUnavailable, "timed_out"},
		{errors.New("disk: secret"), http.StatusInternalServerError, "internal"},
	} {
		s.reader.fail(row.err)
		got := s.get("/v1/campaigns")
		s.problem(row.status, row.kind, got)
		if strings.Contains(string(got.body), "10.0.0.1") || strings.Contains(string(got.body), "secret") {
			t.Errorf("the answer tells what only the log should: %s", got.body)
		}
		if (row.status == http.StatusServiceUnavailable) != (got.Header.Get("Retry-After") != "") {
			t.Errorf("%s: Retry-After %q", row.kind, got.Header.Get("Retry-After"))
		}
	}
	p := s.problem(http.StatusNotFound, "campaign_not_found", s.get("/v1/campaigns/nobody"))
	if p.AsOf == nil || *p.AsOf != 31 {
		t.Errorf("404 without as_of: %+v", p)
	}
}

// TestAnotherVersionIsNotServed: by a real reader.
func TestAnotherVersionIsNotServed(t *testing.T) {
	s := serve(t, 32)
	s.store.(*projectionstest.Model).SetVersion(projections.FoldVersion + 1)
	s.problem(http.StatusServiceUnavailable, "views_rebuilding", s.get("/v1/usage"))
}

// TestQueriesHaveATimeLimit: a reader that hangs is left after ten seconds.
func TestQueriesHaveATimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		handler := bare(t, func(c *web.Config) { c.Reader = hangingReader{c.Reader} })
		if status := ask(handler, "/v1/campaigns"); status != http.StatusServiceUnavailable || time.Since(started) != 10*time.Second {
			t.Errorf("status %d after %s", status, time.Since(started))
		}
	})
}

// hangingReader answers when its context ends.
type hangingReader struct{ projections.Reader }

func (hangingReader) Campaigns(ctx context.Context, _ projections.CampaignQuery) (projections.List[projections.Campaign], error) {
	<-ctx.Done()
	return projections.List[projections.Campaign]{}, ctx.Err()
}
