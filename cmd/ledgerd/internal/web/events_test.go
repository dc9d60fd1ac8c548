package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// follower reads an event stream as a browser does.
type follower struct {
	t      *testing.T
	body   io.ReadCloser
	lines  *bufio.Scanner
	header http.Header
	lastID string // as a browser would send it
}

type event struct{ id, name, data string }

// follow opens a stream. It ends with the test, or by close.
func (s *service) follow(path string, header ...string) *follower {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	s.t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	got, err := s.Client().Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	if got.StatusCode != http.StatusOK || got.Header.Get("Content-Type") != "text/event-stream" || got.Header.Get("Content-Encoding") != "" {
		s.t.Fatalf("%s: %s %v", path, got.Status, got.Header)
	}
	s.t.Cleanup(func() { _ = got.Body.Close() })
	lines := bufio.NewScanner(got.Body)
	lines.Buffer(nil, 1<<20)
	return &follower{t: s.t, body: got.Body, lines: lines, header: got.Header}
}

func (f *follower) close() { _ = f.body.Close() }

// next gives the next event; comments and retry are passed over. False at the
// end of the stream.
func (f *follower) next() (event, bool) {
	f.t.Helper()
	var e event
	for f.lines.Scan() {
		field, value, _ := strings.Cut(f.lines.Text(), ": ")
		switch field {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		case "":
			if e != (event{}) {
				f.lastID = e.id
				return e, true
			}
		}
	}
	return event{}, false
}

// comment waits for a comment line.
func (f *follower) comment() {
	f.t.Helper()
	for f.lines.Scan() {
		if strings.HasPrefix(f.lines.Text(), ":") {
			return
		}
	}
	f.t.Fatal("the stream ended without a sign of life")
}

// wantBegin checks the first event: behind which index the stream begins, while
// the views are at asOf.
func (f *follower) wantBegin(index, asOf int) {
	f.t.Helper()
	e, ok := f.next()
	if want := (event{fmt.Sprint(index), "begin", fmt.Sprintf(`{"as_of":%d,"after":%d}`, asOf, index)}); !ok || e != want {
		f.t.Fatalf("the stream begins with %+v, want %+v", e, want)
	}
}

// wantEntries checks the next events.
func (f *follower) wantEntries(indexes ...uint64) {
	f.t.Helper()
	for _, index := range indexes {
		e, ok := f.next()
		var entry projections.Entry
		if err := json.Unmarshal([]byte(e.data), &entry); err != nil {
			f.t.Fatalf("%+v: %v", e, err)
		}
		if !ok || e.id != fmt.Sprint(index) || e.name != "entry" || entry.Index != index || len(entry.RecordSHA256) != 64 {
			f.t.Fatalf("event %+v, want entry %d", e, index)
		}
	}
}

// through lists indexes.
func through(from, to uint64) []uint64 {
	var indexes []uint64
	for i := from; i <= to; i++ {
		indexes = append(indexes, i)
	}
	return indexes
}

// TestStreamFollows: from now on, in order, over several batches.
func TestStreamFollows(t *testing.T) {
	s := serve(t, 10)
	f := s.follow("/v1/events", "Accept-Encoding", "gzip")
	f.wantBegin(9, 9)
	s.foldTo(11)
	f.wantEntries(10)
	s.foldTo(32)
	f.wantEntries(through(11, 31)...)
	if f.header.Get("Cache-Control") != "no-store" {
		t.Errorf("Cache-Control %q", f.header.Get("Cache-Control"))
	}
}

// TestStreamOfAnEmptyLedger: the first entry is not missed; its id is 0.
func TestStreamOfAnEmptyLedger(t *testing.T) {
	s := serve(t, 0)
	f := s.follow("/v1/events")
	f.wantBegin(-1, -1)
	f.close()
	s.foldTo(2)
	again := s.follow("/v1/events", "Last-Event-ID", f.lastID)
	again.wantBegin(-1, 1)
	again.wantEntries(0, 1)
	again.close()
	once := s.follow("/v1/events", "Last-Event-ID", "0")
	once.wantBegin(0, 1)
	once.wantEntries(1)
}

// TestStreamSurvivesReconnects: a client that comes back after every event
// sees each once.
func TestStreamSurvivesReconnects(t *testing.T) {
	s := serve(t, 0)
	lastID := "-1"
	for seq := uint64(1); seq <= 32; seq++ {
		f := s.follow("/v1/events?after=30", "Last-Event-ID", lastID) // the header goes before after
		if _, ok := f.next(); !ok {
			t.Fatal("no event says where the stream begins")
		}
		s.foldTo(seq)
		f.wantEntries(seq - 1)
		lastID = f.lastID
		f.close()
	}
}

// TestStreamAfter: from an index that is in the past, now, or in the future.
func TestStreamAfter(t *testing.T) {
	s := serve(t, 20)
	past, now, future := s.follow("/v1/events?after=15"), s.follow("/v1/events?after=19"), s.follow("/v1/events?after=21")
	past.wantBegin(15, 19)
	past.wantEntries(16, 17, 18, 19)
	now.wantBegin(19, 19)
	future.wantBegin(21, 19)
	s.foldTo(24)
	past.wantEntries(20, 21, 22, 23)
	now.wantEntries(20, 21, 22, 23)
	future.wantEntries(22, 23)
}

// TestStreamFilters: what is not wanted is passed over, once.
func TestStreamFilters(t *testing.T) {
	s := serve(t, 10)
	f := s.follow("/v1/events?campaign=beta&kind=seal")
	f.wantBegin(9, 9)
	s.foldTo(28)
	f.wantEntries(27)
	s.foldTo(32)
	f.wantEntries(28)
}

// TestStreamIsLongerThanAPage: more entries than are read at once.
func TestStreamIsLongerThanAPage(t *testing.T) {
	s := serve(t, 0, func(s *service, _ *web.Config) { s.ledger = projectionstest.Random(t, 3, 2*web.StreamPage+1) })
	s.foldTo(2*web.StreamPage + 1)
	f := s.follow("/v1/events", "Last-Event-ID", "-1")
	f.wantBegin(-1, 2*web.StreamPage)
	f.wantEntries(through(0, 2*web.StreamPage)...)
}

// TestStreamHeartbeats: a sign of life when nothing happens, also of views
// that stopped: what they have is still served.
func TestStreamHeartbeats(t *testing.T) {
	s := serve(t, 10, func(_ *service, c *web.Config) { c.Heartbeat = time.Millisecond })
	f := s.follow("/v1/events")
	f.comment()
	s.stop(errors.New("stopped"))
	f.comment()
	f.comment()
	s.foldTo(12)
	f.wantEntries(10, 11)
}

// TestStreamEndsWithTheViews: when they cannot be read the client comes back
// later, with its id.
func TestStreamEndsWithTheViews(t *testing.T) {
	s := serve(t, 10)
	f := s.follow("/v1/events")
	f.wantBegin(9, 9)
	s.reader.fail(projections.ErrUnavailable)
	s.foldTo(12)
	if e, ok := f.next(); ok {
		t.Errorf("event %+v of views that cannot be read", e)
	}
	s.reader.fail(nil)
	again := s.follow("/v1/events", "Last-Event-ID", f.lastID)
	again.wantBegin(9, 11)
	again.wantEntries(10, 11)
}

// TestStreamsAreBounded: one more than maxStreams is refused, until one ends.
func TestStreamsAreBounded(t *testing.T) {
	s := serve(t, 10)
	streams := make([]*follower, web.MaxStreams)
	for i := range streams {
		streams[i] = s.follow("/v1/events")
	}
	got := s.get("/v1/events")
	s.problem(http.StatusServiceUnavailable, "too_many_streams", got)
	if got.Header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
	s.wantAsOf(s.get("/v1/entries"), 9) // others are not kept out
	s.handler.EndStreams()
	for _, f := range streams {
		for ok := true; ok; {
			_, ok = f.next()
		}
	}
}

// TestStreamGivesItsPlaceBack: also when it could not begin.
func TestStreamGivesItsPlaceBack(t *testing.T) {
	s := serve(t, 10)
	for range 2 * web.MaxStreams {
		got := s.do(http.MethodHead, "/v1/events")
		if got.StatusCode != http.StatusOK {
			t.Fatal(got.Status)
		}
	}
}

// TestShutdownEndsStreams: http.Server.Shutdown does not wait for them.
func TestShutdownEndsStreams(t *testing.T) {
	s := serve(t, 10)
	f := s.follow("/v1/events")
	f.wantBegin(9, 9)
	if err := s.Config.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e, ok := f.next(); ok {
		t.Errorf("event %+v after the end", e)
	}
}

// TestStreamRefuses: ids that no stream gave.
func TestStreamRefuses(t *testing.T) {
	s := serve(t, 10)
	for _, id := range []string{"-2", "x", "1.5", "9007199254740992", "9223372036854775808"} {
		p := s.problem(http.StatusUnprocessableEntity, "invalid_request", s.get("/v1/events", "Last-Event-ID", id))
		if len(p.Errors) != 1 || p.Errors[0].Location != "header.Last-Event-ID" {
			t.Errorf("%s: %+v", id, p.Errors)
		}
	}
	s.problem(http.StatusUnprocessableEntity, "invalid_request", s.get("/v1/events?after=1&after=2"))
	s.problem(http.StatusUnprocessableEntity, "invalid_request", s.get("/v1/events?at=1"))
}

// TestStreamKeepsTheContract: each event is what the document says.
func TestStreamKeepsTheContract(t *testing.T) {
	s := serve(t, 32)
	c := readContract(s)
	schema, err := c.compiler.Compile(documentURL + "#/paths/~1v1~1events/get/responses/200/content/text~1event-stream/schema")
	if err != nil {
		t.Fatal(err)
	}
	f := s.follow("/v1/events", "Last-Event-ID", "-1")
	for range 33 {
		e, ok := f.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(fmt.Sprintf(`{"id":%s,"event":%q,"data":%s}`, e.id, e.name, e.data)))
		if err != nil {
			t.Fatalf("%+v: %v", e, err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%+v: %v", e, err)
		}
	}
}
