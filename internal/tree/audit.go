package tree

import (
	"context"

	"golang.org/x/mod/sumdb/tlog"
)

// auditTiles is how many tiles are read at once: half a megabyte.
const auditTiles = 64

// Audit looks through every stored hash: each full tile must give its hash in
// the tile above it, and the edge the stored root, which must be the signed
// one. A daemon does it beside its work after each start; two million records
// take about a second. Errors: ErrTreeDamaged, ErrKeyUnknown, the store's
// own.
func (r *Reader) Audit(ctx context.Context) error {
	state, err := r.store.State(ctx)
	if err != nil {
		return err
	}
	root, err := tlog.TreeHash(state.Size(), storedHashes(ctx, r.store))
	switch {
	case err != nil:
		return err
	case root != state.Root:
		return treeDamaged("the stored hashes of %d records give root %s, stored is %s", state.Size(), root, state.Root)
	}
	if _, err := r.lastRoot(ctx, state.Size()); err != nil {
		return err
	}
	for level := range maxLevel {
		full := state.Size() >> (TileHeight * (level + 1))
		for n := int64(0); n < full; n += auditTiles {
			if err := r.auditTiles(ctx, level, n, min(n+auditTiles, full)); err != nil {
				return err
			}
		}
	}
	return nil
}

// auditTiles looks at the full tiles from ≤ n < to of a level.
func (r *Reader) auditTiles(ctx context.Context, level int, from, to int64) error {
	hashes := storedHashes(ctx, r.store)
	var ids []TileID
	var above []int64
	for n := from; n < to; n++ {
		ids = append(ids, TileID{level, n})
		above = append(above, tlog.StoredHashIndex(TileHeight*(level+1), n))
	}
	tiles, err := r.store.Tiles(ctx, ids)
	if err != nil {
		return err
	}
	want, err := hashes.ReadHashes(above)
	if err != nil {
		return err
	}
	for i, tile := range tiles {
		if len(tile) != TileWidth*tlog.HashSize || tileHash(tile) != want[i] {
			return treeDamaged("tile %d of level %d does not give the hash above it", ids[i].N, level)
		}
	}
	return nil
}
