package webtree_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// client reads the log as strangers do: paths of C2SP tlog-tiles and the key,
// nothing of ours.
type client struct {
	*service
	verifier note.Verifier
	fetched  []string
}

func (c *client) Height() int { return 8 }

func (c *client) SaveTiles([]tlog.Tile, [][]byte) {}

func (c *client) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var data [][]byte
	for _, tile := range tiles {
		path := strings.Replace(tile.Path(), "tile/8/", "/tile/", 1)
		got := c.get(path)
		if got.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("%s: %s: %s", path, got.Status, got.body)
		}
		c.fetched = append(c.fetched, path)
		data = append(data, got.body)
	}
	return data, nil
}

// checkpoint reads and verifies the head, by the library alone.
func (c *client) checkpoint() tlog.Tree {
	c.t.Helper()
	got := c.get("/checkpoint")
	opened, err := note.Open(got.body, note.VerifierList(c.verifier))
	if err != nil {
		c.t.Fatalf("%v\n%s", err, got.body)
	}
	lines := strings.Split(opened.Text, "\n")
	var merkle tlog.Tree
	if _, err := fmt.Sscan(lines[1], &merkle.N); err != nil || lines[0] != origin {
		c.t.Fatalf("the checkpoint is %q", opened.Text)
	}
	if merkle.Hash, err = tlog.ParseHash(lines[2]); err != nil {
		c.t.Fatal(err)
	}
	return merkle
}

func newClient(s *service) *client {
	s.t.Helper()
	verifier, err := note.NewVerifier(s.tree.Keys().Current())
	if err != nil {
		s.t.Fatal(err)
	}
	return &client{service: s, verifier: verifier}
}

// TestStrangersReadTheLog: a client made of golang.org/x/mod's tile reader
// finds every record proven in the tree of the signed checkpoint, and each
// checkpoint to continue the one before.
func TestStrangersReadTheLog(t *testing.T) {
	s := serve(t, 0)
	c := newClient(s)
	var before tlog.Tree
	for _, more := range []int{0, 1, 200, 30, 256, 300} {
		s.grow(more)
		s.waitForHead()
		merkle := c.checkpoint()
		if merkle.N != int64(s.ledger.Last()) {
			t.Fatalf("the checkpoint has %d records of %d", merkle.N, s.ledger.Last())
		}
		hashes := tlog.TileHashReader(merkle, c)
		for index := int64(0); index < merkle.N; index += 1 + merkle.N/50 {
			found, err := hashes.ReadHashes([]int64{tlog.StoredHashIndex(0, index)})
			if err != nil {
				t.Fatalf("record %d of %d: %v", index, merkle.N, err)
			}
			if found[0] != tlog.RecordHash(s.record(index)) {
				t.Fatalf("record %d of %d has another hash", index, merkle.N)
			}
			proof, err := tlog.ProveRecord(merkle.N, index, hashes)
			if err != nil || tlog.CheckRecord(proof, merkle.N, merkle.Hash, index, found[0]) != nil {
				t.Fatalf("record %d of %d is not proven: %v", index, merkle.N, err)
			}
		}
		if before.N > 0 {
			proof, err := tlog.ProveTree(merkle.N, before.N, hashes)
			if err != nil || tlog.CheckTree(proof, merkle.N, merkle.Hash, before.N, before.Hash) != nil {
				t.Fatalf("%d does not continue %d: %v", merkle.N, before.N, err)
			}
		}
		before = merkle
	}
	if !slices.ContainsFunc(c.fetched, func(path string) bool { return strings.Contains(path, ".p/") }) || !slices.Contains(c.fetched, "/tile/0/000") {
		t.Errorf("fetched %v", c.fetched)
	}
}

// TestStrangersReadTheRecords: the entry bundles alone give the signed root,
// by transparency-dev's code.
func TestStrangersReadTheRecords(t *testing.T) {
	s := serve(t, 600)
	c := newClient(s)
	merkle := c.checkpoint()
	factory := compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}
	r := factory.NewEmptyRange(0)
	for n := int64(0); n<<8 < merkle.N; n++ {
		path := fmt.Sprintf("/tile/entries/%03d", n)
		if width := min(merkle.N-n<<8, 256); width < 256 {
			path += fmt.Sprintf(".p/%d", width)
		}
		for _, encoding := range []string{"identity", "gzip"} {
			if got := c.get(path, "Accept-Encoding", encoding); got.StatusCode != http.StatusOK || (got.Header.Get("Content-Encoding") == "gzip") != (encoding == "gzip") {
				t.Fatalf("%s: %s %v", path, got.Status, got.Header)
			}
		}
		bundle := c.get(path).body
		for len(bundle) > 0 {
			size := binary.BigEndian.Uint16(bundle)
			if err := r.Append(rfc6962.DefaultHasher.HashLeaf(bundle[2:2+size]), nil); err != nil {
				t.Fatal(err)
			}
			bundle = bundle[2+size:]
		}
	}
	root, err := r.GetRootHash(nil)
	if err != nil || r.End() != uint64(merkle.N) || !bytes.Equal(root, merkle.Hash[:]) {
		t.Errorf("%d records give root %x, %v", r.End(), root, err)
	}
}

// TestTileAnswers: types, caching, parts, and paths that are none.
func TestTileAnswers(t *testing.T) {
	s := serve(t, 400)
	size := int(s.ledger.Last())
	full := s.get("/tile/0/000")
	if full.Header.Get("Content-Type") != "application/octet-stream" || full.Header.Get("Cache-Control") != "max-age=31536000, immutable" || len(full.body) != 8192 {
		t.Errorf("a tile: %d bytes, %v", len(full.body), full.Header)
	}
	if got := s.get("/checkpoint"); got.Header.Get("Content-Type") != "text/plain; charset=utf-8" || got.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("the checkpoint: %v", got.Header)
	}
	// A partial tile of any earlier head stays.
	for _, width := range []int{1, 44, size - 256} {
		got := s.get(fmt.Sprintf("/tile/0/001.p/%d", width))
		if got.StatusCode != http.StatusOK || len(got.body) != width*32 {
			t.Errorf("width %d: %s, %d bytes", width, got.Status, len(got.body))
		}
	}
	if got := s.get("/tile/0/000.p/7"); !bytes.Equal(got.body, full.body[:7*32]) {
		t.Errorf("a partial tile is not the beginning of the full one: %s", got.Status)
	}
	if got := s.get("/tile/1/000.p/1"); len(got.body) != 32 {
		t.Errorf("level 1: %s, %d bytes", got.Status, len(got.body))
	}
	response, err := s.Client().Head(s.URL + "/tile/0/000")
	if err != nil || response.ContentLength != 8192 || response.StatusCode != http.StatusOK {
		t.Errorf("HEAD: %v, %v", response, err)
	}
	response.Body.Close()
	for _, path := range []string{
		"/tile/0/001", fmt.Sprintf("/tile/0/001.p/%d", size-255), "/tile/0/002", "/tile/1/000", "/tile/1/000.p/2", "/tile/2/000.p/1", "/tile/63/000",
		"/tile/0/0", "/tile/0/0000", "/tile/00/000", "/tile/-1/000", "/tile/64/000", "/tile/0/000.p/0", "/tile/0/000.p/256", "/tile/0/000.p/07", "/tile/0/x000/000",
		"/tile/0/x999/x999/x999/x999/x999/x999/999", "/tile/8/0/000", "/tile/data/000", "/tile/0", "/tile/", "/tile/entries/", "/tile/entries/0", "/tile/entries/001",
		"/tile/entries/000.p/0", "/tile/entries/data/000", "/tile/entries/0/000",
	} {
		if problem := s.refused(path, http.StatusNotFound, "not_found"); problem.Hint == "" {
			t.Errorf("%s: no hint", path)
		}
	}
}

// TestLargeRecords: what no bundle has place for is said, and is to be had
// otherwise.
func TestLargeRecords(t *testing.T) {
	s := serve(t, 0)
	index := int64(s.ledger.Last())
	s.ledger.Open(projectionstest.Campaign{ID: "large", Scenarios: 500})
	s.grow(300)
	s.waitForHead()
	if record := s.record(index); len(record) <= 65535 {
		t.Fatalf("the record has %d bytes", len(record))
	}
	problem := s.refused("/tile/entries/000", http.StatusNotFound, "entry_too_large")
	if !strings.Contains(problem.Detail, fmt.Sprintf("record %d:", index)) || problem.Hint == "" {
		t.Errorf("%+v", problem)
	}
	if got := s.get(fmt.Sprintf("/tile/entries/000.p/%d", index)); got.StatusCode != http.StatusOK {
		t.Errorf("the records before it: %s", got.Status)
	}
	if got := s.get(fmt.Sprintf("/v1/records/%d", index)); !bytes.Equal(got.body, s.record(index)) || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("the record: %s", got.Status)
	}
	if _, err := tree.VerifyReceipt(s.get(fmt.Sprintf("/v1/receipts?index=%d", index)).body, s.tree.Keys().Current()); err != nil {
		t.Errorf("%+v", err)
	}
}
