package webtree

import (
	"context"
	"encoding/json"

	"github.com/cockroachdb/errors"
	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
	"github.com/ledgerd/ledgerd/internal/tree"
)

// Inclusion proves that a record is in a tree.
type Inclusion struct {
	AsOf     int64    `json:"as_of" doc:"Ledger index of the last record in the tree."`
	Index    int64    `json:"index"`
	Size     int64    `json:"size" doc:"Of the tree."`
	LeafHash string   `json:"leaf_hash" doc:"SHA-256 of a zero byte and the record's bytes, base64."`
	Root     string   `json:"root" doc:"Of the tree of that size, base64."`
	Hashes   []string `json:"hashes" nullable:"false" doc:"RFC 6962 audit path, leaf first, base64."`
}

// NewInclusion prints a proof.
func NewInclusion(proof tree.Inclusion) Inclusion {
	return Inclusion{AsOf: proof.Size - 1, Index: proof.Index, Size: proof.Size,
		LeafHash: proof.Leaf.String(), Root: proof.Root.String(), Hashes: texts(proof.Proof)}
}

type inclusionInput struct {
	Index int64               `query:"index" required:"true" minimum:"0" doc:"The record's ledger index."`
	Size  web.Optional[int64] `query:"size" minimum:"1" doc:"Of the tree; the last head's when it is absent."`
	web.Freshness
}

// Consistency proves that a tree continues a smaller one.
type Consistency struct {
	AsOf     int64    `json:"as_of" doc:"Ledger index of the last record in the larger tree."`
	From     int64    `json:"from" doc:"Size of the smaller tree."`
	To       int64    `json:"to" doc:"Size of the larger tree."`
	FromRoot string   `json:"from_root" doc:"Of the smaller tree, base64."`
	ToRoot   string   `json:"to_root" doc:"Of the larger tree, base64."`
	Hashes   []string `json:"hashes" nullable:"false" doc:"RFC 6962 consistency proof, base64."`
}

// NewConsistency prints a proof.
func NewConsistency(proof tree.Consistency) Consistency {
	return Consistency{AsOf: proof.To - 1, From: proof.From, To: proof.To,
		FromRoot: proof.FromRoot.String(), ToRoot: proof.ToRoot.String(), Hashes: texts(proof.Proof)}
}

// ReadConsistency reads a printed proof, and believes nothing of it. Error:
// tree.ErrProofFailed.
func ReadConsistency(raw []byte) (tree.Consistency, error) {
	var printed Consistency
	if err := json.Unmarshal(raw, &printed); err != nil {
		return tree.Consistency{}, errors.Mark(errors.Wrap(err, "tree: read the proof"), tree.ErrProofFailed)
	}
	c := tree.Consistency{From: printed.From, To: printed.To, Proof: make(tlog.TreeProof, len(printed.Hashes))}
	hashes := []*tlog.Hash{&c.FromRoot, &c.ToRoot}
	for i := range c.Proof {
		hashes = append(hashes, &c.Proof[i])
	}
	for i, text := range append([]string{printed.FromRoot, printed.ToRoot}, printed.Hashes...) {
		hash, err := tlog.ParseHash(text)
		if err != nil {
			return tree.Consistency{}, errors.Wrapf(tree.ErrProofFailed, "%q is no hash", text)
		}
		*hashes[i] = hash
	}
	return c, nil
}

type consistencyInput struct {
	From int64               `query:"from" required:"true" minimum:"1" doc:"Size of the smaller tree."`
	To   web.Optional[int64] `query:"to" minimum:"1" doc:"Size of the larger tree; the last head's when it is absent."`
	web.Freshness
}

type proofAnswer[T any] struct {
	CacheControl string `header:"Cache-Control"`
	Body         T
}

func (s *server) proofOperations(api huma.API) {
	inclusion := web.Operation("prove-inclusion", "/v1/proofs/inclusion", "ledger", "Proof that a record is in the tree")
	register(s, api, inclusion, func(in *inclusionInput) *web.Freshness { return &in.Freshness }, s.inclusion)
	consistency := web.Operation("prove-consistency", "/v1/proofs/consistency", "ledger", "Proof that a tree continues a smaller one")
	register(s, api, consistency, func(in *consistencyInput) *web.Freshness { return &in.Freshness }, s.consistency)
}

func (s *server) inclusion(ctx context.Context, in *inclusionInput) (*proofAnswer[Inclusion], error) {
	proof, err := s.Tree.Inclusion(ctx, in.Index, in.Size.Value)
	if err != nil {
		return nil, err
	}
	return &proofAnswer[Inclusion]{CacheControl: alwaysAsked, Body: NewInclusion(proof)}, nil
}

func (s *server) consistency(ctx context.Context, in *consistencyInput) (*proofAnswer[Consistency], error) {
	proof, err := s.Tree.Consistency(ctx, in.From, in.To.Value)
	if err != nil {
		return nil, err
	}
	return &proofAnswer[Consistency]{CacheControl: alwaysAsked, Body: NewConsistency(proof)}, nil
}

func texts[P ~[]tlog.Hash](proof P) []string {
	list := make([]string, len(proof))
	for i, hash := range proof {
		list[i] = hash.String()
	}
	return list
}
