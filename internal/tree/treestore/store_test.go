package treestore_test

import (
	"bytes"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/internal/follow"
	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/internal/tree/treestore"
)

func open(t *testing.T, path string, options ...treestore.Option) *treestore.Store {
	t.Helper()
	store, err := treestore.Open(t.Context(), path, options...)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func stateAt(seq uint64) tree.State {
	if seq == 0 {
		return tree.State{Root: tree.EmptyRoot}
	}
	return tree.State{Position: follow.Position{Seq: seq, Stream: "stream", Hash: "hash"}, Root: tlog.Hash{byte(seq)}}
}

func tile(level int, n int64, hashes int) tree.Tile {
	return tree.Tile{TileID: tree.TileID{Level: level, N: n}, Hashes: bytes.Repeat([]byte{byte(hashes)}, hashes*tlog.HashSize)}
}

func TestAppendMovesAllOrNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), treestore.FileName)
	store := open(t, path)
	if state, err := store.State(t.Context()); state != stateAt(0) || err != nil {
		t.Fatalf("a new tree is at %+v, %v", state, err)
	}
	must(t, store.Append(t.Context(), stateAt(0), stateAt(7), []tree.Tile{tile(0, 0, 7)}))
	must(t, store.Append(t.Context(), stateAt(7), stateAt(257), []tree.Tile{tile(0, 0, 256), tile(0, 1, 1), tile(1, 0, 1)}))
	other := stateAt(257)
	other.Root = tlog.Hash{}
	for _, from := range []tree.State{stateAt(0), stateAt(7), other} {
		err := store.Append(t.Context(), from, stateAt(300), []tree.Tile{tile(0, 0, 3)})
		if !errors.Is(err, follow.ErrMoved) || len(errors.GetAllHints(err)) == 0 {
			t.Errorf("from %d: %+v", from.Seq, err)
		}
	}
	if err := store.Append(t.Context(), stateAt(257), stateAt(300), []tree.Tile{tile(0, 1, 2), tile(0, 2, 257)}); err == nil {
		t.Error("a tile of 257 hashes is stored")
	}
	check := func(store *treestore.Store) {
		t.Helper()
		if state, err := store.State(t.Context()); state != stateAt(257) || err != nil {
			t.Errorf("at %+v, %v", state, err)
		}
		tiles, err := store.Tiles(t.Context(), []tree.TileID{{Level: 1, N: 0}, {Level: 3, N: 9}, {Level: 0, N: 1}, {Level: 0, N: 0}})
		want := [][]byte{tile(1, 0, 1).Hashes, nil, tile(0, 1, 1).Hashes, tile(0, 0, 256).Hashes}
		if diff := cmp.Diff(want, tiles); diff != "" || err != nil {
			t.Errorf("%s%v", diff, err)
		}
	}
	check(store)
	check(open(t, path)) // another process
}

// TestFaults: what the caller is told and what is stored are apart.
func TestFaults(t *testing.T) {
	told := errors.New("test: told")
	for _, row := range []struct {
		step follow.Step
		seq  uint64
		head int
	}{
		{tree.BeforeAppendCommit, 0, 1}, {tree.AfterAppendCommit, 7, 1},
		{tree.BeforeHeadCommit, 7, 0}, {tree.AfterHeadCommit, 7, 1},
	} {
		store := open(t, filepath.Join(t.TempDir(), treestore.FileName), treestore.WithFault(func(step follow.Step) error {
			if step == row.step {
				return told
			}
			return nil
		}))
		appended := store.Append(t.Context(), stateAt(0), stateAt(7), []tree.Tile{tile(0, 0, 7)})
		added := store.AddHead(t.Context(), tree.KeptHead{Head: tree.Head{Size: 7}})
		if errors.Is(appended, told) == errors.Is(added, told) {
			t.Errorf("%s: told %v and %v", row.step, appended, added)
		}
		state, err := store.State(t.Context())
		must(t, err)
		heads, err := store.Heads(t.Context(), -1, 10)
		if state.Seq != row.seq || len(heads) != row.head || err != nil {
			t.Errorf("%s: the tree is at %d with %d heads, %v", row.step, state.Seq, len(heads), err)
		}
	}
}

func TestHeads(t *testing.T) {
	store := open(t, filepath.Join(t.TempDir(), treestore.FileName))
	if _, err := store.LastHead(t.Context(), math.MaxInt64); !errors.Is(err, tree.ErrNoHead) || len(errors.GetAllHints(err)) == 0 {
		t.Errorf("without heads: %+v", err)
	}
	head := func(size int64, key string) tree.KeptHead {
		return tree.KeptHead{Head: tree.Head{Origin: origin, Size: size, Root: tlog.Hash{byte(size)}, Note: "note\n" + key},
			Key: key, Record: "record", SignedAt: now.Add(time.Microsecond)}
	}
	for _, h := range []tree.KeptHead{head(0, "a"), head(10, "a"), head(20, "a"), head(20, "b"), head(20, "a"), head(30, "b")} {
		must(t, store.AddHead(t.Context(), h))
	}
	for upTo, want := range map[int64]tree.KeptHead{0: head(0, "a"), 9: head(0, "a"), 10: head(10, "a"), 29: head(20, "b"), math.MaxInt64: head(30, "b")} {
		got, err := store.LastHead(t.Context(), upTo)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("up to %d: %s%v", upTo, diff, err)
		}
	}
	if _, err := store.LastHead(t.Context(), -1); !errors.Is(err, tree.ErrNoHead) {
		t.Errorf("up to -1: %v", err)
	}
	for _, row := range []struct {
		after int64
		limit int
		want  []tree.KeptHead
	}{
		{-1, 10, []tree.KeptHead{head(0, "a"), head(10, "a"), head(20, "a"), head(20, "b"), head(30, "b")}},
		{0, 2, []tree.KeptHead{head(10, "a"), head(20, "a")}},
		{30, 10, nil},
	} {
		got, err := store.Heads(t.Context(), row.after, row.limit)
		if diff := cmp.Diff(row.want, got); diff != "" || err != nil {
			t.Errorf("behind %d: %s%v", row.after, diff, err)
		}
	}
	must(t, store.Append(t.Context(), stateAt(0), stateAt(7), []tree.Tile{tile(0, 0, 7)}))
	must(t, store.Reset(t.Context()))
	if state, err := store.State(t.Context()); state != stateAt(0) || err != nil {
		t.Errorf("emptied, the tree is at %+v, %v", state, err)
	}
	tiles, err := store.Tiles(t.Context(), []tree.TileID{{}})
	if err != nil || tiles[0] != nil {
		t.Errorf("emptied, it has tiles: %v, %v", tiles, err)
	}
	if got, err := store.LastHead(t.Context(), math.MaxInt64); got.Size != 30 || err != nil {
		t.Errorf("emptied, the last head is %+v, %v", got, err)
	}
}
