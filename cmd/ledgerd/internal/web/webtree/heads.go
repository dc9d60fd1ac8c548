package webtree

import (
	"context"
	"math"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
	"github.com/ledgerd/ledgerd/internal/tree"
)

// Head is a signed head, as HTTP and the commands print it.
type Head struct {
	AsOf        int64     `json:"as_of" doc:"Ledger index of the last record below the head; -1 when there is none."`
	Origin      string    `json:"origin" doc:"What tells this ledger's heads from others'."`
	Size        int64     `json:"size" doc:"How many records the tree has."`
	Root        string    `json:"root" doc:"RFC 6962 root over them, base64."`
	Note        string    `json:"note" doc:"The head as it was signed: a C2SP tlog-checkpoint."`
	VerifierKey string    `json:"verifier_key" doc:"Public key that signed it. Trust one that you got another way."`
	SignedAt    time.Time `json:"signed_at" doc:"For people; no signature vouches for it."`
}

// NewHead prints a head.
func NewHead(head tree.KeptHead) Head {
	return Head{AsOf: head.Size - 1, Origin: head.Origin, Size: head.Size, Root: head.Root.String(),
		Note: head.Note, VerifierKey: head.Key, SignedAt: head.SignedAt}
}

type headInput struct {
	Size web.Optional[int64] `query:"size" minimum:"0" doc:"The last head of at most so many records, instead of the last one."`
	web.Freshness
}

type headAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         Head
}

// Key is a public key.
type Key struct {
	VerifierKey string    `json:"verifier_key"`
	Since       time.Time `json:"since" doc:"For people; no signature vouches for it."`
	SwitchNote  string    `json:"switch_note" doc:"Signed note by which the key before it names this one; empty for the first."`
}

// Keys are a ledger's public keys.
type Keys struct {
	AsOf   int64  `json:"as_of" doc:"Ledger index of the last record below the last head."`
	Origin string `json:"origin"`
	Keys   []Key  `json:"keys" nullable:"false" doc:"Every key that ever signed, oldest first; the last one signs."`
}

// NewKeys prints keys.
func NewKeys(keys *tree.Keys) []Key {
	out := []Key{}
	for _, key := range keys.All {
		out = append(out, Key{VerifierKey: key.Verifier, Since: key.Since, SwitchNote: key.Switch})
	}
	return out
}

type keysAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         Keys
}

// freshnessInput is the input of an operation without parameters of its own.
type freshnessInput struct{ web.Freshness }

// alwaysAsked lets caches keep an answer, but not give it without asking.
const alwaysAsked = "private, no-cache"

func (s *server) headOperations(api huma.API) {
	head := web.Operation("get-tree-head", "/v1/tree/head", "ledger", "The last signed tree head")
	register(s, api, head, func(in *headInput) *web.Freshness { return &in.Freshness }, s.head)
	keys := web.Operation("list-tree-keys", "/v1/tree/keys", "ledger", "The public keys that sign tree heads, or did")
	register(s, api, keys, func(in *freshnessInput) *web.Freshness { return &in.Freshness }, s.keys)
}

func (s *server) head(ctx context.Context, in *headInput) (*headAnswer, error) {
	size := int64(math.MaxInt64)
	if in.Size.Set {
		size = in.Size.Value
	}
	head, err := s.Tree.HeadAt(ctx, size)
	if err != nil {
		return nil, err
	}
	return &headAnswer{CacheControl: alwaysAsked, Body: NewHead(head)}, nil
}

func (s *server) keys(ctx context.Context, _ *freshnessInput) (*keysAnswer, error) {
	head, err := s.Tree.Head(ctx)
	if err != nil {
		return nil, err
	}
	return &keysAnswer{CacheControl: alwaysAsked, Body: Keys{AsOf: head.Size - 1, Origin: s.Tree.Keys().Origin(), Keys: NewKeys(s.Tree.Keys())}}, nil
}
