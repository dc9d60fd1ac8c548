package tree

import (
	"context"

	"golang.org/x/mod/sumdb/tlog"
)

const (
	// TileHeight is the tile height of C2SP tlog-tiles.
	TileHeight = 8
	// TileWidth is how many hashes a full tile has.
	TileWidth = 1 << TileHeight
	// maxLevel bounds the levels of tiles that a tree of int64 records has.
	maxLevel = 63 / TileHeight
)

// TileID names a tile: hashes n*TileWidth and up of level level*TileHeight.
type TileID struct {
	Level int
	N     int64
}

// Tile is a tile with its hashes, one after the other: a multiple of
// tlog.HashSize bytes, at most TileWidth of them.
type Tile struct {
	TileID
	Hashes []byte
}

// width is how many hashes the tile with an id has in a tree of a size: 0 to
// TileWidth.
func (id TileID) width(size int64) int {
	if id.Level < 0 || id.Level > maxLevel || id.N < 0 {
		return 0
	}
	hashes := size >> (TileHeight * id.Level)
	if id.N > hashes>>TileHeight {
		return 0
	}
	return int(min(hashes-id.N<<TileHeight, TileWidth))
}

// tileHash is the root of the subtree over a full tile.
func tileHash(hashes []byte) tlog.Hash {
	if len(hashes) == tlog.HashSize {
		return tlog.Hash(hashes)
	}
	half := len(hashes) / 2
	return tlog.NodeHash(tileHash(hashes[:half]), tileHash(hashes[half:]))
}

// hashReader reads single hashes out of tiles, for tlog's proofs.
type hashReader func(ids []TileID) ([][]byte, error)

// ReadHashes implements tlog.HashReader.
func (read hashReader) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	var ids []TileID
	place := map[TileID]int{}
	for _, index := range indexes {
		t := tlog.TileForIndex(TileHeight, index)
		id := TileID{t.L, t.N}
		if _, known := place[id]; !known {
			place[id] = len(ids)
			ids = append(ids, id)
		}
	}
	tiles, err := read(ids)
	if err != nil {
		return nil, err
	}
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		t := tlog.TileForIndex(TileHeight, index)
		data := tiles[place[TileID{t.L, t.N}]]
		if len(data) < t.W*tlog.HashSize {
			return nil, treeDamaged("tile %d of level %d holds %d bytes of at least %d", t.N, t.L, len(data), t.W*tlog.HashSize)
		}
		if hashes[i], err = tlog.HashFromTile(t, data[:t.W*tlog.HashSize], index); err != nil {
			return nil, err
		}
	}
	return hashes, nil
}

// storedHashes reads from a store.
func storedHashes(ctx context.Context, store Store) hashReader {
	return func(ids []TileID) ([][]byte, error) { return store.Tiles(ctx, ids) }
}
