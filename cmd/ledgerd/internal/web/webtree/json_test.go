package webtree_test

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web/webtree"
	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

type head struct {
	AsOf        int64  `json:"as_of"`
	Origin      string `json:"origin"`
	Size        int64  `json:"size"`
	Root        []byte `json:"root"`
	Note        string `json:"note"`
	VerifierKey string `json:"verifier_key"`
}

// decodeAll reads base64 texts.
func decodeAll(t *testing.T, texts []string) [][]byte {
	t.Helper()
	list := make([][]byte, len(texts))
	for i, text := range texts {
		var err error
		if list[i], err = base64.StdEncoding.DecodeString(text); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

func TestHead(t *testing.T) {
	s := serve(t, 3)
	size := int64(s.ledger.Last())
	got := read[head](s, "/v1/tree/head")
	if got.AsOf != size-1 || got.Size != size || got.Origin != origin || got.VerifierKey != s.tree.Keys().Current() || got.Note != string(s.get("/checkpoint").body) {
		t.Errorf("%+v", got)
	}
	s.grow(5)
	s.waitForHead()
	if again := read[head](s, fmt.Sprintf("/v1/tree/head?size=%d", size)); again.Note != got.Note {
		t.Errorf("the head of %d records: %+v", size, again)
	}
	keys := read[struct {
		AsOf   int64  `json:"as_of"`
		Origin string `json:"origin"`
		Keys   []struct {
			VerifierKey string `json:"verifier_key"`
		} `json:"keys"`
	}](s, "/v1/tree/keys")
	if keys.AsOf != size+4 || keys.Origin != origin || len(keys.Keys) != 1 || keys.Keys[0].VerifierKey != got.VerifierKey {
		t.Errorf("%+v", keys)
	}
}

// TestProofs: by transparency-dev's code, from what HTTP answers.
func TestProofs(t *testing.T) {
	s := serve(t, 300)
	size := int64(s.ledger.Last())
	last := read[head](s, "/v1/tree/head")
	hasher := rfc6962.DefaultHasher
	for _, index := range []int64{0, 1, 255, 256, size - 1} {
		type inclusion struct {
			AsOf     int64    `json:"as_of"`
			Size     int64    `json:"size"`
			LeafHash []byte   `json:"leaf_hash"`
			Root     []byte   `json:"root"`
			Hashes   []string `json:"hashes"`
		}
		for _, query := range []string{"", fmt.Sprintf("&size=%d", index+1)} {
			p := read[inclusion](s, fmt.Sprintf("/v1/proofs/inclusion?index=%d%s", index, query))
			leaf := hasher.HashLeaf(s.record(index))
			if p.AsOf != p.Size-1 || !bytes.Equal(p.LeafHash, leaf) || query == "" && (p.Size != size || !bytes.Equal(p.Root, last.Root)) {
				t.Errorf("record %d: %+v", index, p)
			}
			if err := proof.VerifyInclusion(hasher, uint64(index), uint64(p.Size), leaf, decodeAll(t, p.Hashes), p.Root); err != nil {
				t.Errorf("record %d of %d: %v", index, p.Size, err)
			}
		}
	}
	for _, from := range []int64{1, 2, 255, 256, 257, size} {
		type consistency struct {
			AsOf     int64    `json:"as_of"`
			From     int64    `json:"from"`
			To       int64    `json:"to"`
			FromRoot []byte   `json:"from_root"`
			ToRoot   []byte   `json:"to_root"`
			Hashes   []string `json:"hashes"`
		}
		for _, query := range []string{"", fmt.Sprintf("&to=%d", size-1)} {
			if query != "" && from == size {
				continue
			}
			p := read[consistency](s, fmt.Sprintf("/v1/proofs/consistency?from=%d%s", from, query))
			if p.AsOf != p.To-1 || p.From != from || query == "" && (p.To != size || !bytes.Equal(p.ToRoot, last.Root)) {
				t.Errorf("from %d: %+v", from, p)
			}
			if err := proof.VerifyConsistency(hasher, uint64(from), uint64(p.To), decodeAll(t, p.Hashes), p.FromRoot, p.ToRoot); err != nil {
				t.Errorf("from %d to %d: %v", from, p.To, err)
			}
		}
	}
}

func TestReceipts(t *testing.T) {
	s := serve(t, 3)
	for _, d := range s.ledger.Decisions {
		s.isReceipt(fmt.Sprintf("/v1/receipts?index=%d", d.Index), d.Index)
	}
	if got := s.get("/v1/records/2"); !bytes.Equal(got.body, s.record(2)) || got.Header.Get("Cache-Control") != "max-age=31536000, immutable" {
		t.Errorf("record 2: %s %v", got.Status, got.Header)
	}
}

func (s *service) isReceipt(path string, index uint64) {
	s.t.Helper()
	got := s.get(path)
	verified, err := tree.VerifyReceipt(got.body, s.tree.Keys().Current())
	if err != nil || verified.Decision.Index != index || got.Header.Get("Content-Type") != "application/json" {
		s.t.Errorf("%s: %s %+v\n%s", path, got.Status, err, got.body)
	}
}

// TestReceiptsByImportKey: the import that counts is meant; where several
// campaigns have it, nobody guesses.
func TestReceiptsByImportKey(t *testing.T) {
	s := serve(t, 0)
	for _, id := range []string{"one", "two", "three"} {
		s.ledger.Open(projectionstest.Campaign{ID: id, Scenarios: 2})
	}
	only := s.ledger.Measure(projectionstest.Cell{Campaign: "one", Scenario: projectionstest.ScenarioID(0), Ordinal: 1, Run: 901})
	both := projectionstest.Cell{Campaign: "one", Scenario: projectionstest.ScenarioID(1), Ordinal: 1, Run: 902}
	first := s.ledger.Measure(both)
	both.Campaign = "two"
	second := s.ledger.Measure(both)
	voided := projectionstest.Cell{Campaign: "three", Scenario: projectionstest.ScenarioID(0), Ordinal: 2, Run: 903}
	gone := s.ledger.Measure(voided)
	s.ledger.Void("three", voided.ImportKey(), "a mistake")
	s.waitForHead()
	s.Config.Handler = s.handler(webtree.Config{Tree: s.tree, Reader: s.views()}, "")

	s.isReceipt("/v1/receipts?import_key="+keyOf(t, only), only.Index)
	s.isReceipt("/v1/receipts?import_key="+keyOf(t, gone), gone.Index)
	s.isReceipt("/v1/receipts?campaign=two&import_key="+keyOf(t, second), second.Index)
	problem := s.refused("/v1/receipts?import_key="+keyOf(t, first), http.StatusConflict, "several_imports")
	if !strings.Contains(problem.Detail, fmt.Sprintf("%d (one), %d (two)", first.Index, second.Index)) || problem.Hint == "" {
		t.Errorf("%+v", problem)
	}
	s.ledger.Void("two", keyOf(t, second), "a mistake")
	s.Config.Handler = s.handler(webtree.Config{Tree: s.tree, Reader: s.views()}, "")
	s.isReceipt("/v1/receipts?import_key="+keyOf(t, first), first.Index)
	s.refused("/v1/receipts?campaign=three&import_key="+keyOf(t, first), http.StatusNotFound, "import_not_found")
}

func keyOf(t *testing.T, d *domain.Decision) string {
	t.Helper()
	imported, ok := d.Data.(*domain.CellImported)
	if !ok {
		t.Fatalf("decision %d is a %s: %s", d.Index, d.Outcome, d.Detail)
	}
	return imported.Cell.ImportKey
}

func TestRefusals(t *testing.T) {
	s := serve(t, 3)
	size := s.ledger.Last()
	for _, row := range []struct {
		path   string
		status int
		kind   string
	}{
		{"/v1/proofs/inclusion", 422, "invalid_request"},
		{"/v1/proofs/inclusion?index=-1", 422, "invalid_request"},
		{"/v1/proofs/inclusion?index=x", 422, "invalid_request"},
		{"/v1/proofs/inclusion?index=1&index=2", 422, "invalid_request"},
		{"/v1/proofs/inclusion?index=1&other=2", 422, "invalid_request"},
		{"/v1/proofs/inclusion?index=1&size=0", 422, "invalid_request"},
		{fmt.Sprintf("/v1/proofs/inclusion?index=%d", size), 404, "beyond_tree_head"},
		{fmt.Sprintf("/v1/proofs/inclusion?index=1&size=%d", size+1), 404, "beyond_tree_head"},
		{"/v1/proofs/inclusion?index=5&size=5", 404, "beyond_tree_head"},
		{"/v1/proofs/consistency?from=0", 422, "invalid_request"},
		{"/v1/proofs/consistency?from=5&to=4", 404, "beyond_tree_head"},
		{fmt.Sprintf("/v1/proofs/consistency?from=1&to=%d", size+1), 404, "beyond_tree_head"},
		{"/v1/receipts", 422, "invalid_request"},
		{"/v1/receipts?index=1&import_key=a", 422, "invalid_request"},
		{"/v1/receipts?import_key=a", 404, "import_not_found"},
		{fmt.Sprintf("/v1/receipts?index=%d", size), 404, "beyond_tree_head"},
		{fmt.Sprintf("/v1/records/%d", size), 404, "beyond_tree_head"},
		{"/v1/records/-1", 422, "invalid_request"},
		{fmt.Sprintf("/v1/receipts?index=%d&at=%d&wait=0", size, size), 504, "not_reached"},
	} {
		s.refused(row.path, row.status, row.kind)
	}
}

// TestWaitsForAHead: at= waits until a head covers the index; a tree that has
// stopped is waited for in vain.
func TestWaitsForAHead(t *testing.T) {
	s := serve(t, 0)
	index := s.ledger.Last()
	got := make(chan answer, 1)
	go func() { got <- s.get(fmt.Sprintf("/v1/receipts?index=%d&at=%d&wait=30", index, index)) }()
	s.grow(1)
	if a := <-got; a.StatusCode != http.StatusOK {
		t.Errorf("%s\n%s", a.Status, a.body)
	}
	go func() { got <- s.get(fmt.Sprintf("/v1/tree/head?at=%d&wait=30", index+1)) }()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if a := <-got; a.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(a.body), "tree_stopped") {
		t.Errorf("%s\n%s", a.Status, a.body)
	}
	if size := read[head](s, "/v1/tree/head").Size; size != int64(index)+1 {
		t.Errorf("stopped, the head has %d records", size)
	}
}

// TestDamageIsNotServed: what cannot be proven is 500, and the log has the
// reason.
func TestDamageIsNotServed(t *testing.T) {
	s := serve(t, 600)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.ledger.Log.Truncate(400)
	s.refused("/v1/receipts?index=500", http.StatusInternalServerError, "tree_damaged")
	s.refused("/v1/records/500", http.StatusInternalServerError, "tree_damaged")
	s.ledger.Log.SetUnavailable(true)
	s.refused("/v1/records/5", http.StatusServiceUnavailable, "tree_unavailable")
	s.refused("/tile/entries/000", http.StatusServiceUnavailable, "tree_unavailable")
}

func TestTokenIsAskedFor(t *testing.T) {
	s := serve(t, 0)
	guarded := httptest.NewServer(s.handler(webtree.Config{Tree: s.tree}, "secret"))
	defer guarded.Close()
	s.Server = guarded
	for _, path := range []string{"/checkpoint", "/tile/0/000.p/1", "/tile/entries/000.p/1", "/v1/tree/head", "/v1/receipts?index=1"} {
		s.refused(path, http.StatusUnauthorized, "unauthorized")
		if got := s.get(path, "Authorization", "Bearer secret"); got.StatusCode != http.StatusOK || strings.Contains(got.Header.Get("Cache-Control"), "public") {
			t.Errorf("%s with the token: %s %v", path, got.Status, got.Header)
		}
	}
	guarded.Config.Handler = s.handler(webtree.Config{Tree: s.tree}, "")
	s.refused("/v1/receipts?import_key=a", http.StatusNotFound, "import_not_found")
}

// TestNoHead: before the first head there is nothing to say.
func TestNoHead(t *testing.T) {
	s := serve(t, 0)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`DELETE FROM heads`); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/checkpoint", "/tile/0/000.p/1", "/v1/tree/head", "/v1/tree/keys", "/v1/receipts?index=0", "/v1/proofs/consistency?from=1"} {
		s.refused(path, http.StatusServiceUnavailable, "no_tree_head")
	}
}

// TestDescription: every operation is in the document.
func TestDescription(t *testing.T) {
	s := serve(t, 0)
	document := read[struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		} `json:"paths"`
	}](s, "/openapi.json")
	for path, id := range map[string]string{
		"/v1/tree/head": "get-tree-head", "/v1/tree/keys": "list-tree-keys", "/v1/proofs/inclusion": "prove-inclusion",
		"/v1/proofs/consistency": "prove-consistency", "/v1/receipts": "get-receipt", "/v1/records/{index}": "get-record",
	} {
		if got := document.Paths[path]["get"].OperationID; got != id {
			t.Errorf("%s is operation %q", path, got)
		}
	}
}
