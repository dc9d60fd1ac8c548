package webtree

import (
	"context"
	"net/http"

	"github.com/cockroachdb/errors"
	"github.com/danielgtaylor/huma/v2"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
)

type receiptInput struct {
	Index     web.Optional[int64] `query:"index" minimum:"0" doc:"Ledger index of the decision."`
	ImportKey string              `query:"import_key" maxLength:"2048" doc:"Instead of the index: CI run id, run attempt and execution id, with slashes between."`
	Campaign  string              `query:"campaign" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$" doc:"Of the import key; needed when several campaigns have it."`
	web.Freshness
}

type recordInput struct {
	Index int64 `path:"index" minimum:"0" doc:"The record's ledger index."`
	web.Freshness
}

// bytesAnswer gives bytes as they are.
type bytesAnswer struct {
	ContentType  string `header:"Content-Type"`
	CacheControl string `header:"Cache-Control"`
	Body         []byte
}

func (s *server) receiptOperations(api huma.API) {
	receipt := web.Operation("get-receipt", "/v1/receipts", "ledger", "A file that proves a decision without the ledger")
	receipt.Description = "Keep its bytes as they are: a receipt that was formatted again does not verify. `ledgerd receipt verify` checks it with the public key alone."
	receipt.Responses["200"] = jsonBytes("The receipt.")
	register(s, api, receipt, func(in *receiptInput) *web.Freshness { return &in.Freshness }, s.receipt)
	record := web.Operation("get-record", "/v1/records/{index}", "ledger", "A record's bytes, as the tree holds them")
	record.Responses["200"] = jsonBytes("The record.")
	register(s, api, record, func(in *recordInput) *web.Freshness { return &in.Freshness }, s.record)
}

func jsonBytes(description string) *huma.Response {
	return &huma.Response{Description: description,
		Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject}}}}
}

func (s *server) receipt(ctx context.Context, in *receiptInput) (*bytesAnswer, error) {
	index, err := s.receiptIndex(ctx, in)
	if err != nil {
		return nil, err
	}
	receipt, err := s.Tree.Receipt(ctx, index)
	if err != nil {
		return nil, err
	}
	return &bytesAnswer{ContentType: "application/json", CacheControl: alwaysAsked, Body: receipt.Encode()}, nil
}

// receiptIndex is which decision a receipt is asked for.
func (s *server) receiptIndex(ctx context.Context, in *receiptInput) (int64, error) {
	switch {
	case in.Index.Set == (in.ImportKey != ""):
		return 0, refuse(http.StatusUnprocessableEntity, problemInvalid, "a receipt is asked for by index or by import_key", "give one of them")
	case in.Index.Set:
		return in.Index.Value, nil
	case s.Reader == nil:
		return 0, refuse(http.StatusNotFound, problemNoImport, "imports cannot be looked up here", "ask with index=")
	}
	index, err := FindImport(ctx, s.Reader, in.ImportKey, in.Campaign)
	switch {
	case errors.Is(err, ErrNoImport):
		return 0, refuse(http.StatusNotFound, problemNoImport, err.Error(), "/v1/imports lists the keys, /v1/rejections what was refused")
	case errors.Is(err, ErrManyImports):
		return 0, refuse(http.StatusConflict, problemImports, err.Error(), "ask with campaign= besides, or with index=")
	}
	return int64(index), err
}

func (s *server) record(ctx context.Context, in *recordInput) (*bytesAnswer, error) {
	record, err := s.Tree.Record(ctx, in.Index)
	if err != nil {
		return nil, err
	}
	return &bytesAnswer{ContentType: "application/json", CacheControl: immutable, Body: record}, nil
}
