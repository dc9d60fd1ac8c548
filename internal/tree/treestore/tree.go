package treestore

import (
	"context"
	"database/sql"

	"github.com/cockroachdb/errors"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/internal/follow"
	"github.com/ledgerd/ledgerd/internal/tree"
)

// State is how far the tree is.
func (s *Store) State(ctx context.Context) (tree.State, error) {
	state, err := readState(ctx, s.reader)
	return state, classify(ctx, err, "read the tree's state")
}

// querier is a pool or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func readState(ctx context.Context, from querier) (tree.State, error) {
	var state tree.State
	var root []byte
	err := from.QueryRowContext(ctx, `SELECT seq, stream, hash, root FROM state`).Scan(&state.Seq, &state.Stream, &state.Hash, &root)
	if err == nil && len(root) == tlog.HashSize {
		state.Root = tlog.Hash(root)
	}
	return state, err
}

// Append puts tiles and moves the state, in one transaction.
func (s *Store) Append(ctx context.Context, from, to tree.State, tiles []tree.Tile) error {
	err := s.transact(ctx, "append to the tree", func(tx *sql.Tx) error {
		if err := move(ctx, tx, from, to); err != nil {
			return err
		}
		if err := putTiles(ctx, tx, tiles); err != nil {
			return err
		}
		return s.fault.At(tree.BeforeAppendCommit)
	})
	if err != nil {
		return err
	}
	// Durable from here. Who does not hear of it finds the state moved.
	return s.fault.At(tree.AfterAppendCommit)
}

// move sets the state, if it is what is expected.
func move(ctx context.Context, tx *sql.Tx, from, to tree.State) error {
	moved, err := tx.ExecContext(ctx, `UPDATE state SET seq = ?, stream = ?, hash = ?, root = ? WHERE seq = ? AND stream = ? AND hash = ? AND root = ?`,
		int64(to.Seq), to.Stream, to.Hash, to.Root[:], int64(from.Seq), from.Stream, from.Hash, from.Root[:])
	if err != nil {
		return err
	}
	if n, err := moved.RowsAffected(); err != nil || n == 1 {
		return err
	}
	found, err := readState(ctx, tx)
	if err != nil {
		return err
	}
	return errors.WithHint(errors.Wrapf(follow.ErrMoved, "expected the tree at %d records, found %d", from.Seq, found.Seq),
		"another process moved the tree on; nothing was lost")
}

func putTiles(ctx context.Context, tx *sql.Tx, tiles []tree.Tile) error {
	put, err := tx.PrepareContext(ctx, `INSERT INTO tiles VALUES (?, ?, ?) ON CONFLICT (level, n) DO UPDATE SET hashes = excluded.hashes`)
	if err != nil {
		return errors.Wrap(err, "put tiles")
	}
	defer put.Close()
	for i := range tiles {
		if _, err := put.ExecContext(ctx, tiles[i].Level, tiles[i].N, tiles[i].Hashes); err != nil {
			return errors.Wrapf(err, "put tile %d of level %d", tiles[i].N, tiles[i].Level)
		}
	}
	return nil
}

// Tiles gives the hashes of tiles, in the order of ids.
func (s *Store) Tiles(ctx context.Context, ids []tree.TileID) ([][]byte, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	tiles, err := s.tiles(ctx, ids)
	return tiles, classify(ctx, err, "read tiles")
}

func (s *Store) tiles(ctx context.Context, ids []tree.TileID) ([][]byte, error) {
	get, err := s.reader.PrepareContext(ctx, `SELECT hashes FROM tiles WHERE level = ? AND n = ?`)
	if err != nil {
		return nil, err
	}
	defer get.Close()
	tiles := make([][]byte, len(ids))
	for i, id := range ids {
		if err := get.QueryRowContext(ctx, id.Level, id.N).Scan(&tiles[i]); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, errors.Wrapf(err, "tile %d of level %d", id.N, id.Level)
		}
	}
	return tiles, nil
}

// Reset empties the tree and keeps the heads.
func (s *Store) Reset(ctx context.Context) error {
	return s.transact(ctx, "empty the tree", func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM tiles`); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE state SET seq = 0, stream = '', hash = '', root = ?`, tree.EmptyRoot[:])
		return err
	})
}
