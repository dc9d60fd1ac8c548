package webtree_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web/webtree"
	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/internal/tree/treestore"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

const origin = "ledgerd.invalid/00112233445566778899aabbccddeeff"

// service serves a tree over a ledger that a test grows, behind the daemon's
// own handler.
type service struct {
	*httptest.Server
	t      *testing.T
	ledger *projectionstest.Ledger
	path   string // of the tree's file
	tree   *tree.Tree
	stop   func() error
}

type healthy struct{}

func (healthy) Ready() (bool, []web.LoopState) { return true, nil }

// serve starts a server; the tree has the story and some more records.
func serve(t *testing.T, more int) *service {
	t.Helper()
	s := &service{t: t, ledger: projectionstest.Story(t)}
	s.grow(more)
	s.path = filepath.Join(t.TempDir(), treestore.FileName)
	store, err := treestore.Open(t.Context(), s.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	secret, verifier, err := tree.GenerateKey(origin)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	keys := &tree.Keys{Signer: signer, All: []tree.Key{{Verifier: verifier}}}
	s.tree, err = tree.Open(t.Context(), tree.Config{Log: s.ledger.Log, Store: store, Keys: keys, HeadInterval: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	s.run()
	s.waitForHead()
	s.Server = httptest.NewServer(s.handler(webtree.Config{Tree: s.tree, Reader: s.views()}, ""))
	t.Cleanup(s.Server.Close)
	return s
}

// run runs the tree until stop, or the test, ends it.
func (s *service) run() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.tree.Run(ctx) }()
	running := true
	s.stop = func() error {
		if !running {
			return nil
		}
		running = false
		cancel()
		return <-ended
	}
	s.t.Cleanup(func() { _ = s.stop() })
}

func (s *service) handler(config webtree.Config, token string) http.Handler {
	s.t.Helper()
	handler, err := web.New(web.Config{
		Reader: projectionstest.NewModel(), Health: healthy{}, Version: "test", Token: token,
		WaitFor: func(context.Context, uint64) error { return nil }, Routes: []web.Route{webtree.Route(config)},
	})
	if err != nil {
		s.t.Fatalf("%+v", err)
	}
	return handler
}

func (s *service) grow(records int) {
	for range records {
		s.ledger.Malformed("", "")
	}
}

func (s *service) waitForHead() tree.KeptHead {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	head, err := s.tree.WaitForHead(ctx, int64(s.ledger.Last()))
	if err != nil {
		s.t.Fatalf("%+v", err)
	}
	return head
}

// views folds the ledger as it is.
func (s *service) views() projections.Reader {
	s.t.Helper()
	model := projectionstest.NewModel()
	if err := model.Apply(s.t.Context(), projections.Position{}, s.ledger.Position(s.ledger.Last()), s.ledger.Fold(0, s.ledger.Last())); err != nil {
		s.t.Fatal(err)
	}
	return model
}

// record is a record's bytes, from the ledger itself.
func (s *service) record(index int64) []byte {
	s.t.Helper()
	message, err := s.ledger.Log.Get(s.t.Context(), uint64(index)+1)
	if err != nil {
		s.t.Fatal(err)
	}
	return message.Data
}

type answer struct {
	*http.Response
	body []byte
}

func (s *service) get(path string, headers ...string) answer {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := s.Client().Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{response, body}
}

// read gets a JSON answer.
func read[T any](s *service, path string) T {
	s.t.Helper()
	got := s.get(path)
	var value T
	if got.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s\n%s", path, got.Status, got.body)
	}
	if err := json.Unmarshal(got.body, &value); err != nil {
		s.t.Fatalf("%s: %v\n%s", path, err, got.body)
	}
	return value
}

// refused gets a problem and checks its kind.
func (s *service) refused(path string, status int, kind string) web.Problem {
	s.t.Helper()
	got := s.get(path)
	var problem web.Problem
	if err := json.Unmarshal(got.body, &problem); err != nil {
		s.t.Fatalf("%s: %s %v\n%s", path, got.Status, err, got.body)
	}
	if got.StatusCode != status || problem.Status != status || !strings.HasSuffix(problem.Type, ":"+kind) {
		s.t.Errorf("%s: %s %+v, want %d %s", path, got.Status, problem, status, kind)
	}
	if contentType := got.Header.Get("Content-Type"); contentType != "application/problem+json" {
		s.t.Errorf("%s: a problem of type %q", path, contentType)
	}
	if retry := got.Header.Get("Retry-After"); (retry != "") != (status == http.StatusServiceUnavailable) {
		s.t.Errorf("%s: Retry-After %q with %d", path, retry, status)
	}
	return problem
}
