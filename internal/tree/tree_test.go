package tree_test

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/follow"
	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/internal/tree/treestore"
)

var _ follow.Memory = (*tree.Tree)(nil)

func TestFollowsAndRemembers(t *testing.T) {
	l := newLedger(t, 300)
	store, keys := newStore(t), newKeys(t)
	merkle, stop := start(t, tree.Config{Log: l, Store: store, Keys: keys})
	<-merkle.Ready()
	for range 3 {
		head := waitFor(t, merkle, int64(len(l.records)))
		if head.Origin != testOrigin || head.Key != keys.Current() || head.Record != events.RecordHash(l.records[len(l.records)-1]) {
			t.Errorf("head %+v", head)
		}
		l.grow(111)
	}
	waitFor(t, merkle, int64(len(l.records)))
	if err := stop(); err != nil {
		t.Fatalf("%+v", err)
	}
	seq, hash, err := merkle.Remembered(t.Context())
	if seq != uint64(len(l.records)) || hash != events.RecordHash(l.records[seq-1]) || err != nil {
		t.Errorf("%s remembers %d %s, %v", merkle.Name(), seq, hash, err)
	}
	if err := merkle.Audit(t.Context()); err != nil {
		t.Errorf("%+v", err)
	}
}

// TestBatchesAreBounded: a long ledger is taken in several transactions.
func TestBatchesAreBounded(t *testing.T) {
	l := newLedger(t, 45_000)
	var appends, largest atomic.Int64
	config := tree.Config{Log: l, Store: newStore(t), Keys: newKeys(t), Observer: observer{appended: func(records int) {
		appends.Add(1)
		largest.Store(max(largest.Load(), int64(records)))
	}}}
	merkle, stop := start(t, config)
	waitFor(t, merkle, 45_000)
	if err := stop(); err != nil {
		t.Fatalf("%+v", err)
	}
	// One batch ends with the chunk that fills it.
	if largest.Load() >= 20_000+events.MaxBatchMessages || appends.Load() < 3 {
		t.Errorf("%d appends, the largest of %d records", appends.Load(), largest.Load())
	}
}

type observer struct {
	appended func(records int)
	signed   func(tree.KeptHead)
}

func (o observer) Appended(_ tree.State, records int, _ time.Duration) {
	if o.appended != nil {
		o.appended(records)
	}
}

func (o observer) Signed(head tree.KeptHead) {
	if o.signed != nil {
		o.signed(head)
	}
}

// TestLosesAndDoublesNothing: whatever the store answers, each record is in
// the tree once and heads continue each other.
func TestLosesAndDoublesNothing(t *testing.T) {
	for _, row := range []struct {
		name string
		step follow.Step
		err  error
	}{
		{"append: away before the commit", tree.BeforeAppendCommit, follow.ErrUnavailable},
		{"append: acknowledgement lost", tree.AfterAppendCommit, follow.ErrUnavailable},
		{"append: another process was faster", tree.BeforeAppendCommit, follow.ErrMoved},
		{"head: away before the commit", tree.BeforeHeadCommit, follow.ErrUnavailable},
		{"head: acknowledgement lost", tree.AfterHeadCommit, follow.ErrUnavailable},
	} {
		t.Run(row.name, func(t *testing.T) {
			var asked atomic.Int32
			store := newStore(t, treestore.WithFault(func(step follow.Step) error {
				if step != row.step || asked.Add(1)%2 == 0 {
					return nil
				}
				return errors.Wrap(row.err, "the test says so")
			}))
			l := newLedger(t, 10)
			keys := newKeys(t)
			merkle, stop := start(t, tree.Config{Log: l, Store: store, Keys: keys})
			for asked.Load() < 6 {
				waitFor(t, merkle, int64(len(l.records)))
				l.grow(99)
			}
			waitFor(t, merkle, int64(len(l.records)))
			if err := stop(); err != nil {
				t.Fatalf("%+v", err)
			}
			isRight(t, l, merkle, store)
		})
	}
}

// isRight holds a tree against the other implementation.
func isRight(t *testing.T, l *ledger, merkle *tree.Tree, store tree.Store) {
	t.Helper()
	roots := independentRoots(t, l.records)
	heads, err := store.Heads(t.Context(), -1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, head := range heads {
		if string(head.Root[:]) != string(roots[head.Size]) {
			t.Errorf("the head of %d records has root %s", head.Size, head.Root)
		}
	}
	state, err := store.State(t.Context())
	if err != nil || state.Seq != uint64(len(l.records)) || string(state.Root[:]) != string(roots[state.Seq]) {
		t.Errorf("the tree is at %+v, %v", state, err)
	}
	if err := merkle.Audit(t.Context()); err != nil {
		t.Errorf("%+v", err)
	}
}

// TestSimulation: appends, faults of the store, a stream that comes and goes,
// restarts, in the order of a seed.
func TestSimulation(t *testing.T) {
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 1))
		var mu sync.Mutex
		faults := rand.New(rand.NewPCG(seed, 2))
		store := newStore(t, treestore.WithFault(func(follow.Step) error {
			mu.Lock()
			defer mu.Unlock()
			return []error{nil, nil, nil, nil, follow.ErrUnavailable, follow.ErrMoved}[faults.IntN(6)]
		}))
		l := newLedger(t, 0)
		keys := newKeys(t)
		merkle, stop := start(t, tree.Config{Log: l, Store: store, Keys: keys})
		for range 40 {
			switch random.IntN(5) {
			case 0, 1:
				l.grow(1 + random.IntN(200))
			case 2:
				l.SetUnavailable(random.IntN(2) == 0)
			case 3:
				l.SetUnavailable(false)
				waitFor(t, merkle, int64(len(l.records)))
			case 4:
				if err := stop(); err != nil {
					t.Fatalf("seed %d: %+v", seed, err)
				}
				merkle, stop = start(t, tree.Config{Log: l, Store: store, Keys: keys})
			}
		}
		l.SetUnavailable(false)
		waitFor(t, merkle, int64(len(l.records)))
		if err := stop(); err != nil {
			t.Fatalf("seed %d: %+v", seed, err)
		}
		isRight(t, l, merkle, store)
	}
}

// TestStopsAtForeignOrDamagedLedgers: what was stored and signed stays.
func TestStopsAtForeignOrDamagedLedgers(t *testing.T) {
	swap := func(l *ledger, seq uint64, change func(*domain.Decision)) {
		d, err := events.DecodeRecord(l.records[seq-1])
		if err != nil {
			t.Fatal(err)
		}
		change(d)
		record, err := events.EncodeRecord(d)
		if err != nil {
			t.Fatal(err)
		}
		l.Replace(seq, func(m *events.Message) { m.Data = record })
	}
	for _, row := range []struct {
		name   string
		damage func(*ledger) // after 15 of 30 records are signed
		want   error
		at     uint64 // where the tree is in the end
	}{
		{"the end was lost", func(l *ledger) { l.Truncate(14) }, follow.ErrForeignLedger, 15},
		{"made anew", func(l *ledger) { l.Recreate() }, follow.ErrForeignLedger, 15},
		{"history replaced", func(l *ledger) { swap(l, 15, func(d *domain.Decision) { d.Detail = "altered" }) }, follow.ErrForeignLedger, 15},
		{"the last one is gone", func(l *ledger) { l.Remove(15) }, follow.ErrDamaged, 15},
		{"a gap", func(l *ledger) { l.Remove(20) }, follow.ErrDamaged, 19},
		{"no record", func(l *ledger) { l.Replace(20, func(m *events.Message) { m.Data = []byte("{}") }) }, follow.ErrDamaged, 19},
		{"another place", func(l *ledger) { swap(l, 20, func(d *domain.Decision) { d.Index, d.Arrival.Seq = 20, 21 }) }, follow.ErrDamaged, 19},
		{"the chain is broken", func(l *ledger) { swap(l, 20, func(d *domain.Decision) { d.Prev = events.GenesisHash }) }, follow.ErrDamaged, 19},
		{"the chain breaks behind it", func(l *ledger) { swap(l, 20, func(d *domain.Decision) { d.Detail = "altered" }) }, follow.ErrDamaged, 20},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := newLedger(t, 15)
			store, keys := newStore(t), newKeys(t)
			signed(t, l, store, keys)
			l.grow(15)
			row.damage(l)
			merkle, stop := start(t, tree.Config{Log: l, Store: store, Keys: keys})
			_, waited := merkle.WaitForHead(t.Context(), 30)
			err := stop()
			if !errors.Is(waited, row.want) || !errors.Is(err, row.want) {
				t.Fatalf("got %v (waiting: %v), want %v", err, waited, row.want)
			}
			if len(errors.GetAllHints(waited)) == 0 {
				t.Errorf("no hint: %+v", waited)
			}
			if state, _ := store.State(t.Context()); state.Seq != row.at {
				t.Errorf("the tree is at sequence %d, want %d", state.Seq, row.at)
			}
		})
	}
}

// TestAHeadIsAMemoryOfItsOwn: a tree that was emptied still knows what was
// signed: a ledger that lost its end or was rewritten is noticed, and the same
// one gives the same tree.
func TestAHeadIsAMemoryOfItsOwn(t *testing.T) {
	l := newLedger(t, 600)
	keys := newKeys(t)
	emptied := func(t *testing.T) *treestore.Store {
		store := newStore(t)
		signed(t, l, store, keys)
		if err := store.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		return store
	}
	t.Run("the same ledger", func(t *testing.T) {
		l, store := newLedger(t, 600), newStore(t)
		for range 2 { // heads of several sizes
			signed(t, l, store, keys)
			l.grow(300)
		}
		if err := store.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		isRight(t, l, signed(t, l, store, keys), store)
	})
	t.Run("remembered meanwhile", func(t *testing.T) {
		merkle, err := tree.Open(t.Context(), tree.Config{Log: l, Store: emptied(t), Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		if seq, hash, err := merkle.Remembered(t.Context()); seq != 600 || hash != events.RecordHash(l.records[599]) || err != nil {
			t.Errorf("remembers %d %s, %v", seq, hash, err)
		}
	})
	for _, row := range []struct {
		name  string
		other func(*testing.T) *ledger
		want  error
	}{
		{"an end that was lost", func(t *testing.T) *ledger {
			other := newLedger(t, 0)
			for _, record := range l.records[:599] {
				other.records = append(other.records, record)
				other.Publish(events.Outgoing{Subject: "ledger.decisions._._._", Data: record})
			}
			return other
		}, follow.ErrForeignLedger},
		{"another history as long", func(t *testing.T) *ledger {
			other := newLedger(t, 300)
			other.Publish(other.next("another"))
			other.grow(299)
			return other
		}, follow.ErrForeignLedger},
	} {
		t.Run(row.name, func(t *testing.T) {
			merkle, stop := start(t, tree.Config{Log: row.other(t), Store: emptied(t), Keys: keys})
			_, waited := merkle.WaitForHead(t.Context(), 601)
			_ = stop()
			if !errors.Is(waited, row.want) || len(errors.GetAllHints(waited)) == 0 {
				t.Errorf("got %+v, want %v", waited, row.want)
			}
		})
	}
}

// TestSignedRootsAreCompared: records that continue to the same last record
// but are not those that were signed give another root. Nothing is stored or
// signed over it. (A chain makes such a ledger impossible; the head here is
// altered, with the ledger's own key.)
func TestSignedRootsAreCompared(t *testing.T) {
	l := newLedger(t, 600)
	store, keys := newStore(t), newKeys(t)
	head, err := tree.SignHead(keys.Signer, 400, tree.EmptyRoot)
	if err != nil {
		t.Fatal(err)
	}
	kept := tree.KeptHead{Head: head, Key: keys.Current(), Record: events.RecordHash(l.records[399]), SignedAt: time.Now()}
	if err := store.AddHead(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	merkle, stop := start(t, tree.Config{Log: l, Store: store, Keys: keys})
	_, waited := merkle.WaitForHead(t.Context(), 600)
	_ = stop()
	if !errors.Is(waited, tree.ErrRewritten) || len(errors.GetAllHints(waited)) == 0 {
		t.Errorf("got %+v", waited)
	}
	if state, err := store.State(t.Context()); state.Seq != 399 || err != nil {
		t.Errorf("the tree is at %d, %v", state.Seq, err)
	}
}

// TestOpenFindsDamage: each stored byte that a root depends on is looked at
// before the daemon starts, the others by the audit beside its work.
func TestOpenFindsDamage(t *testing.T) {
	const records = 3*256 + 5
	l := newLedger(t, records)
	keys := newKeys(t)
	for _, row := range []struct {
		name, sql string
		opens     bool // the audit finds it
		want      error
	}{
		{"a hash at the edge", `UPDATE tiles SET hashes = CAST(zeroblob(32) || substr(hashes, 33) AS BLOB) WHERE level = 0 AND n = 3`, false, tree.ErrTreeDamaged},
		{"a hash above", `UPDATE tiles SET hashes = CAST(zeroblob(32) || substr(hashes, 33) AS BLOB) WHERE level = 1`, false, tree.ErrTreeDamaged},
		{"a hash far from the edge", `UPDATE tiles SET hashes = CAST(zeroblob(32) || substr(hashes, 33) AS BLOB) WHERE level = 0 AND n = 1`, true, tree.ErrTreeDamaged},
		{"a full tile cut", `UPDATE tiles SET hashes = substr(hashes, 1, 32) WHERE level = 0 AND n = 1`, true, tree.ErrTreeDamaged},
		{"a full tile gone", `DELETE FROM tiles WHERE level = 0 AND n = 1`, true, tree.ErrTreeDamaged},
		{"an edge tile gone", `DELETE FROM tiles WHERE level = 0 AND n = 3`, false, tree.ErrTreeDamaged},
		{"an edge tile longer", `UPDATE tiles SET hashes = CAST(hashes || zeroblob(32) AS BLOB) WHERE level = 0 AND n = 3`, false, tree.ErrTreeDamaged},
		{"the stored root", `UPDATE state SET root = zeroblob(32)`, false, tree.ErrTreeDamaged},
		{"the size", `UPDATE state SET seq = seq - 1`, false, tree.ErrTreeDamaged},
		{"a head's root", `UPDATE heads SET root = zeroblob(32)`, false, tree.ErrTreeDamaged},
		{"a head's size", `UPDATE heads SET size = size + 1 WHERE number = (SELECT max(number) FROM heads)`, false, tree.ErrTreeDamaged},
		{"a head's note", `UPDATE heads SET note = replace(note, '— ', '—')`, false, tree.ErrTreeDamaged},
		{"a head's key", `UPDATE heads SET key = 'x'`, false, tree.ErrTreeDamaged},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), treestore.FileName)
			store := openStore(t, path)
			signed(t, l, store, keys)
			alter(t, path, row.sql)
			merkle, err := tree.Open(t.Context(), tree.Config{Log: l, Store: store, Keys: keys})
			if row.opens {
				if err != nil {
					t.Fatalf("%+v", err)
				}
				err = merkle.Run(t.Context())
			}
			if !errors.Is(err, row.want) || len(errors.GetAllHints(err)) == 0 {
				t.Errorf("got %+v, want %v", err, row.want)
			}
		})
	}
}

// TestAuditFindsBytes: a byte changed anywhere in any tile is found.
func TestAuditFindsBytes(t *testing.T) {
	const records = 2*256 + 7
	l := newLedger(t, records)
	path := filepath.Join(t.TempDir(), treestore.FileName)
	store := openStore(t, path)
	merkle := signed(t, l, store, newKeys(t))
	db := openDatabase(t, path)
	for _, tile := range []struct {
		level, n, bytes int
	}{{0, 0, 8192}, {0, 1, 8192}, {0, 2, 7 * 32}, {1, 0, 2 * 32}} {
		for at := 0; at < tile.bytes; at += 1 + tile.bytes/61 {
			flipByte(t, db, tile.level, tile.n, at)
			if err := merkle.Audit(t.Context()); !errors.Is(err, tree.ErrTreeDamaged) {
				t.Fatalf("byte %d of tile %d of level %d altered: %v", at, tile.n, tile.level, err)
			}
			flipByte(t, db, tile.level, tile.n, at)
		}
	}
	if err := merkle.Audit(t.Context()); err != nil {
		t.Errorf("%+v", err)
	}
}

// openDatabase opens the file behind the store's back.
func openDatabase(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)&_pragma=ignore_check_constraints(1)&_pragma=synchronous(off)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func alter(t *testing.T, path, text string) {
	t.Helper()
	if _, err := openDatabase(t, path).Exec(text); err != nil {
		t.Fatal(err)
	}
}

func flipByte(t *testing.T, db *sql.DB, level, n, at int) {
	t.Helper()
	var hashes []byte
	if err := db.QueryRow(`SELECT hashes FROM tiles WHERE level = ? AND n = ?`, level, n).Scan(&hashes); err != nil {
		t.Fatal(err)
	}
	hashes[at] ^= 1
	if _, err := db.Exec(`UPDATE tiles SET hashes = ? WHERE level = ? AND n = ?`, hashes, level, n); err != nil {
		t.Fatal(err)
	}
}

// TestHeadsAreSignedAtMostOnceAnInterval: the first at once, the next when the
// interval has passed, and that one covers all.
func TestHeadsAreSignedAtMostOnceAnInterval(t *testing.T) {
	const interval = 10 * time.Second
	synctest.Test(t, func(t *testing.T) {
		store, err := treestore.Open(t.Context(), filepath.Join(t.TempDir(), treestore.FileName))
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		l := newLedger(t, 10)
		var mu sync.Mutex
		var sizes []int64
		var times []time.Time
		merkle, stop := start(t, tree.Config{Log: l, Store: store, Keys: newKeys(t), HeadInterval: interval,
			Observer: observer{signed: func(head tree.KeptHead) {
				mu.Lock()
				defer mu.Unlock()
				sizes, times = append(sizes, head.Size), append(times, time.Now())
			}}})
		for range 100 {
			time.Sleep(time.Second) // of the test's clock
			l.grow(3)
		}
		if _, err := merkle.WaitForHead(t.Context(), 310); err != nil {
			t.Fatal(err)
		}
		if err := stop(); err != nil {
			t.Fatalf("%+v", err)
		}
		for i := 1; i < len(times); i++ {
			if pause := times[i].Sub(times[i-1]); pause < interval || sizes[i] <= sizes[i-1] {
				t.Errorf("heads of %d and %d records %s apart", sizes[i-1], sizes[i], pause)
			}
		}
		if len(times) < 10 || len(times) > 13 {
			t.Errorf("%d heads in 100 s: %v", len(times), sizes)
		}
	})
}

// TestTheEndIsSigned: when the tree is told to end, what is stored gets a head,
// whatever the interval.
func TestTheEndIsSigned(t *testing.T) {
	l := newLedger(t, 0)
	store := newStore(t)
	merkle, stop := start(t, tree.Config{Log: l, Store: store, Keys: newKeys(t), HeadInterval: tree.MaxHeadInterval})
	waitFor(t, merkle, 0)
	l.grow(7)
	if _, err := merkle.WaitFor(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	if head, err := merkle.Head(t.Context()); head.Size != 0 || err != nil {
		t.Fatalf("a head of %d records within the interval, %v", head.Size, err)
	}
	if err := stop(); err != nil {
		t.Fatalf("%+v", err)
	}
	if head, err := merkle.Head(t.Context()); head.Size != 7 || err != nil {
		t.Errorf("the last head has %d records, %v", head.Size, err)
	}
	if _, err := merkle.WaitForHead(t.Context(), 8); !errors.Is(err, tree.ErrStopped) {
		t.Errorf("waiting for more: %v", err)
	}
	if _, err := merkle.WaitFor(t.Context(), 8); !errors.Is(err, tree.ErrStopped) {
		t.Errorf("waiting for more: %v", err)
	}
}

func TestOpenRefusesIntervals(t *testing.T) {
	for _, row := range []struct {
		interval time.Duration
		ok       bool
	}{{0, true}, {time.Nanosecond, true}, {tree.MaxHeadInterval, true}, {tree.MaxHeadInterval + 1, false}, {-1, false}} {
		_, err := tree.Open(t.Context(), tree.Config{Log: newLedger(t, 0), Store: newStore(t), Keys: newKeys(t), HeadInterval: row.interval})
		if (err == nil) != row.ok {
			t.Errorf("%s: %v", row.interval, err)
		}
	}
}

// TestKeySwitch: new heads are of the new key, at once also for the tree as it
// is; old ones verify with the old key. A key that is gone is said.
func TestKeySwitch(t *testing.T) {
	l := newLedger(t, 100)
	store, old := newStore(t), newKeys(t)
	signed(t, l, store, old)
	keys := rotated(t, old)
	merkle, stop := start(t, tree.Config{Log: l, Store: store, Keys: keys})
	<-merkle.Ready()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var head tree.KeptHead
	for head.Key != keys.Current() && ctx.Err() == nil {
		var err error
		if head, err = merkle.Head(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if head.Size != 100 || head.Key != keys.Current() {
		t.Errorf("the head has %d records and key %s", head.Size, head.Key)
	}
	l.grow(50)
	waitFor(t, merkle, 150)
	if err := stop(); err != nil {
		t.Fatalf("%+v", err)
	}
	heads, err := store.Heads(t.Context(), 99, 10)
	if err != nil || len(heads) < 3 {
		t.Fatalf("%d heads, %v", len(heads), err)
	}
	oldKey, newKey := parseKey(t, old.Current()), parseKey(t, keys.Current())
	if _, err := tree.OpenHead(heads[0].Note, oldKey); err != nil || heads[0].Size != 100 {
		t.Errorf("the old head: %+v", err)
	}
	if _, err := tree.OpenHead(heads[0].Note, newKey); !errors.Is(err, tree.ErrUntrusted) {
		t.Errorf("the old head by the new key: %v", err)
	}
	for _, head := range heads[1:] {
		if _, err := tree.OpenHead(head.Note, newKey); err != nil {
			t.Errorf("the head of %d records: %+v", head.Size, err)
		}
	}
	_, err = tree.Open(t.Context(), tree.Config{Log: l, Store: store, Keys: newKeys(t)})
	if !errors.Is(err, tree.ErrKeyUnknown) || len(errors.GetAllHints(err)) == 0 {
		t.Errorf("without the key: %+v", err)
	}
}
