package tree

import (
	"context"

	"golang.org/x/mod/sumdb/tlog"
)

// edge is the right edge of a tree: of each level, the tile that is not full
// yet. It is all that appending needs, and all that the root is made of.
type edge struct {
	size    int64
	partial [maxLevel + 1][]byte
	changed [maxLevel + 1]bool // since the last take
	full    []Tile             // since the last take
}

// loadEdge reads the edge of a stored tree. Errors: ErrTreeDamaged, the
// store's own.
func loadEdge(ctx context.Context, store Store, size int64) (*edge, error) {
	e := &edge{size: size}
	var ids []TileID
	for level := range e.partial {
		hashes := size >> (TileHeight * level)
		if hashes%TileWidth != 0 {
			ids = append(ids, TileID{level, hashes / TileWidth})
		}
	}
	tiles, err := store.Tiles(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		want := id.width(size) * tlog.HashSize
		if len(tiles[i]) != want {
			return nil, treeDamaged("tile %d of level %d holds %d bytes, %d records make %d", id.N, id.Level, len(tiles[i]), size, want)
		}
		e.partial[id.Level] = append(make([]byte, 0, TileWidth*tlog.HashSize), tiles[i]...)
	}
	return e, nil
}

// append adds the next leaf.
func (e *edge) append(leaf tlog.Hash) {
	e.size++
	hashes := e.size
	for level := 0; ; level++ {
		if e.partial[level] == nil {
			e.partial[level] = make([]byte, 0, TileWidth*tlog.HashSize)
		}
		e.partial[level] = append(e.partial[level], leaf[:]...)
		e.changed[level] = true
		if hashes%TileWidth != 0 {
			return
		}
		full := e.partial[level]
		e.full = append(e.full, Tile{TileID{level, hashes/TileWidth - 1}, full})
		e.partial[level], e.changed[level] = nil, false
		leaf = tileHash(full)
		hashes /= TileWidth
	}
}

// take gives every tile that changed since the last take.
func (e *edge) take() []Tile {
	tiles := e.full
	e.full = nil
	for level, changed := range e.changed {
		if changed {
			hashes := e.size >> (TileHeight * level)
			tiles = append(tiles, Tile{TileID{level, hashes / TileWidth}, e.partial[level]})
			e.changed[level] = false
		}
	}
	return tiles
}

// clone gives an edge that can grow apart, without the tiles that wait for a
// take.
func (e *edge) clone() *edge {
	other := &edge{size: e.size}
	for level, partial := range e.partial {
		if len(partial) > 0 {
			other.partial[level] = append(make([]byte, 0, TileWidth*tlog.HashSize), partial...)
		}
	}
	return other
}

// root is the tree's.
func (e *edge) root() (tlog.Hash, error) {
	return tlog.TreeHash(e.size, hashReader(func(ids []TileID) ([][]byte, error) {
		tiles := make([][]byte, len(ids))
		for i, id := range ids {
			tiles[i] = e.partial[id.Level]
		}
		return tiles, nil
	}))
}
