package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/internal/tree/treestore"
)

// openTree opens the tree that is kept in a data directory, which the caller
// holds: keys, hashes and heads. origin is "" unless the operator chose one;
// what the keys are named stays.
func openTree(ctx context.Context, dataDir, origin string, ledger events.Log, log *slog.Logger) (*tree.Tree, func() error, error) {
	keys, err := openTreeKeys(ctx, dataDir, origin, ledger)
	if err != nil {
		return nil, nil, err
	}
	store, err := treestore.Open(ctx, treestore.File(dataDir))
	if err != nil {
		return nil, nil, err
	}
	merkle, err := tree.Open(ctx, tree.Config{Log: ledger, Store: store, Keys: keys, Logger: log})
	if err != nil {
		return nil, nil, errors.CombineErrors(err, store.Close())
	}
	return merkle, store.Close, nil
}

// openTreeKeys opens the keys, and makes the first one when there is none.
func openTreeKeys(ctx context.Context, dataDir, origin string, ledger events.Log) (*tree.Keys, error) {
	if origin == "" {
		keys, err := treestore.ReadKeys(dataDir)
		switch {
		case err == nil:
			origin = keys.Origin()
		case !errors.Is(err, treestore.ErrNoKeys):
			return nil, err
		default:
			// An external ledger has its name from the daemon that made it.
			id, err := ledger.Identity(ctx)
			if err != nil {
				return nil, errors.Wrap(err, "name the tree after the ledger")
			}
			origin = tree.Origin(id)
		}
	}
	return treestore.OpenKeys(dataDir, origin, time.Now())
}
