package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/datadir"
	"github.com/ledgerd/ledgerd/internal/tree"
)

// receiptFlags leave receipts behind, for instance as a CI artifact.
type receiptFlags struct {
	Receipt       string `placeholder:"FILE" help:"With --wait: keep a receipt of each decision, which proves it offline. Several go to FILE-<index>, before its extension."`
	HTTPURL       string `name:"http-url" placeholder:"URL" help:"Where the ledger's HTTP is, for --receipt, when it is not found by --data-dir."`
	AuthTokenFile string `placeholder:"FILE" help:"Token for --http-url."`
}

const (
	// receiptPoll lies between two questions: a tree head is signed every
	// second or so.
	receiptPoll = 200 * time.Millisecond
	// maxTokenBytes bounds a token file.
	maxTokenBytes = 4096
)

// receipts asks the ledger's HTTP side.
type receipts struct {
	base  string
	token string
	http  *http.Client
}

// open finds the ledger's HTTP side.
func (f *receiptFlags) open(dataDir string) (*receipts, error) {
	r := &receipts{base: strings.TrimSuffix(f.HTTPURL, "/"), http: &http.Client{}}
	if r.base == "" {
		at, err := datadir.ReadConnection(dataDir)
		if err != nil {
			return nil, errors.WithHint(err, "--receipt asks over HTTP: give --http-url for a ledger elsewhere")
		}
		r.base = at.HTTPURL
	}
	if f.AuthTokenFile == "" {
		return r, nil
	}
	raw, err := os.ReadFile(f.AuthTokenFile)
	if err != nil || len(raw) > maxTokenBytes {
		return nil, errors.CombineErrors(errors.Wrap(err, "read --auth-token-file"), errors.New("--auth-token-file holds no token"))
	}
	r.token = strings.TrimSpace(string(raw))
	return r, nil
}

// save keeps the receipts of decisions, each in its file.
func (f *receiptFlags) save(ctx context.Context, dataDir string, indexes []uint64) error {
	source, err := f.open(dataDir)
	if err != nil {
		return err
	}
	defer source.http.CloseIdleConnections()
	for _, index := range indexes {
		receipt, err := source.await(ctx, index)
		if err != nil {
			return errors.Wrapf(err, "the decision is made; its receipt (ledger index %d) is not to be had", index)
		}
		if err := os.WriteFile(f.name(index, len(indexes)), receipt, 0o644); err != nil { //nolint:gosec // a receipt is for everybody
			return errors.Wrap(err, "keep the receipt")
		}
	}
	return nil
}

// name is the file of one receipt of several.
func (f *receiptFlags) name(index uint64, several int) string {
	if several == 1 {
		return f.Receipt
	}
	extension := filepath.Ext(f.Receipt)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(f.Receipt, extension), index, extension)
}

// await asks until a signed tree head covers the decision.
func (r *receipts) await(ctx context.Context, index uint64) ([]byte, error) {
	for {
		receipt, again, err := r.ask(ctx, index)
		if err == nil || !again {
			return receipt, err
		}
		select {
		case <-time.After(receiptPoll):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// ask asks once; again reports whether asking later can help.
func (r *receipts) ask(ctx context.Context, index uint64) (receipt []byte, again bool, err error) {
	address := r.base + "/v1/receipts?" + url.Values{"index": {fmt.Sprint(index)}}.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, false, errors.Wrap(err, "ask for the receipt")
	}
	if r.token != "" {
		request.Header.Set("Authorization", "Bearer "+r.token)
	}
	answer, err := r.http.Do(request)
	if err != nil {
		return nil, true, errors.Wrap(err, "ask for the receipt")
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, tree.MaxReceiptBytes+1))
	switch {
	case err != nil:
		return nil, true, errors.Wrap(err, "read the receipt")
	case len(body) > tree.MaxReceiptBytes:
		return nil, false, errors.Newf("the receipt is larger than %d bytes", tree.MaxReceiptBytes)
	case answer.StatusCode == http.StatusOK:
		return body, false, nil
	}
	const shown = 300
	err = errors.Newf("%s: %s", answer.Status, body[:min(len(body), shown)])
	return nil, answer.StatusCode == http.StatusNotFound || answer.StatusCode >= http.StatusInternalServerError, err
}
