package webtree

import (
	"context"
	"log/slog"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/danielgtaylor/huma/v2"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/projections"
)

// Config is what the routes need. Tree is required.
type Config struct {
	Tree *tree.Tree
	// Reader finds imports by their keys. nil: receipts are asked for by index
	// alone.
	Reader projections.Reader
	Logger *slog.Logger
}

// Limits.
const (
	readTimeout = 10 * time.Second // of one answer
	maxBundles  = 4                // at once: each is up to 16 MiB in memory
	maxWaiting  = 256              // requests that wait for a head
	retryAfter  = "2"              // seconds, said with every 503
)

// server is what the routes share.
type server struct {
	Config
	bundles chan struct{} // a slot for each that is made
	waiting chan struct{}
}

// Route adds the tree's routes to a web.Handler.
func Route(config Config) web.Route {
	return func(routes *web.Routes) error {
		if config.Tree == nil {
			return errors.AssertionFailedf("tree: a tree is required")
		}
		if config.Logger == nil {
			config.Logger = slog.New(slog.DiscardHandler)
		}
		s := &server{Config: config, bundles: make(chan struct{}, maxBundles), waiting: make(chan struct{}, maxWaiting)}
		s.headOperations(routes.API)
		s.proofOperations(routes.API)
		s.receiptOperations(routes.API)
		return s.handleTiles(routes)
	}
}

// Kinds of problems: ends of their types, not to be changed.
const (
	problemNotFound = "not_found"
	problemNoHead   = "no_tree_head"
	problemBeyond   = "beyond_tree_head"
	problemNoImport = "import_not_found"
	problemImports  = "several_imports"
	problemTooLarge = "entry_too_large"
	problemReached  = "not_reached"
	problemBusy     = "too_many_waiting"
	problemStopped  = "tree_stopped"
	problemDamaged  = "tree_damaged"
	problemAway     = "tree_unavailable"
	problemSlow     = "timed_out"
	problemInternal = "internal"
	problemInvalid  = "invalid_request"
)

// register registers an operation that waits for at=, has a time limit and
// explains its errors.
func register[I, O any](s *server, api huma.API, op huma.Operation, fresh func(*I) *web.Freshness, answer func(context.Context, *I) (*O, error)) {
	huma.Register(api, op, func(ctx context.Context, in *I) (*O, error) {
		if err := s.reach(ctx, fresh(in)); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		out, err := answer(ctx, in)
		if err != nil {
			return nil, s.explain(ctx, err)
		}
		return out, nil
	})
}
