package tree_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest"
	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/internal/tree/treestore"
)

const testOrigin = "ledgerd.invalid/00112233445566778899aabbccddeeff"

// ledger is a LEDGER stream of small refusals.
type ledger struct {
	*eventstest.Log
	t       testing.TB
	records [][]byte // by index
}

func newLedger(t testing.TB, records int) *ledger {
	l := &ledger{Log: eventstest.NewLedger(), t: t}
	l.grow(records)
	return l
}

// grow appends n records.
func (l *ledger) grow(n int) {
	l.t.Helper()
	batch := make([]events.Outgoing, 0, n)
	for range n {
		batch = append(batch, l.next(""))
	}
	l.Publish(batch...)
}

// next makes the record behind the last one.
func (l *ledger) next(detail string) events.Outgoing {
	l.t.Helper()
	prev := events.GenesisHash
	index := uint64(len(l.records))
	if index > 0 {
		prev = events.RecordHash(l.records[index-1])
	}
	d := &domain.Decision{
		V: domain.RuleVersion, Index: index, Prev: prev,
		Arrival: domain.ArrivalRef{Seq: index + 1, ID: "a", SHA256: events.GenesisHash, Time: eventstest.TimeOf(index + 1)},
		Outcome: domain.Rejected, Reason: domain.ReasonArrivalMalformed, Detail: detail,
	}
	record, err := events.EncodeRecord(d)
	if err != nil {
		l.t.Fatal(err)
	}
	l.records = append(l.records, record)
	return events.NewDecisionMessage(d, record, "epoch", "host")
}

// newKeys makes keys that are on no disk.
func newKeys(t testing.TB) *tree.Keys {
	t.Helper()
	secret, verifier, err := tree.GenerateKey(testOrigin)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	return &tree.Keys{Signer: signer, All: []tree.Key{{Verifier: verifier, Since: time.Now()}}}
}

// rotated gives keys with another one that signs.
func rotated(t testing.TB, keys *tree.Keys) *tree.Keys {
	t.Helper()
	next := newKeys(t)
	key, err := tree.SignSwitch(keys.All[len(keys.All)-1], keys.Signer, next.Current(), next.Signer, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	all := append(append([]tree.Key{}, keys.All...), key)
	return &tree.Keys{Signer: next.Signer, All: all}
}

func openStore(t testing.TB, path string, options ...treestore.Option) *treestore.Store {
	t.Helper()
	store, err := treestore.Open(context.Background(), path, options...)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("%+v", err)
		}
	})
	return store
}

func newStore(t testing.TB, options ...treestore.Option) *treestore.Store {
	t.Helper()
	return openStore(t, filepath.Join(t.TempDir(), treestore.FileName), options...)
}

// start runs a tree until the test stops it; stop gives what Run returned.
func start(t testing.TB, config tree.Config) (merkle *tree.Tree, stop func() error) {
	t.Helper()
	if config.HeadInterval == 0 {
		config.HeadInterval = time.Nanosecond
	}
	if config.RetryDelay == 0 {
		config.RetryDelay = time.Millisecond
	}
	merkle, err := tree.Open(context.Background(), config)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- merkle.Run(ctx) }()
	stopped := false
	stop = func() error {
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if !stopped {
			if err := stop(); err != nil {
				t.Errorf("%+v", err)
			}
		}
	})
	return merkle, stop
}

// signed runs a tree until a head covers the whole ledger, and stops it.
func signed(t testing.TB, l *ledger, store tree.Store, keys *tree.Keys) *tree.Tree {
	t.Helper()
	merkle, stop := start(t, tree.Config{Log: l, Store: store, Keys: keys})
	waitFor(t, merkle, int64(len(l.records)))
	if err := stop(); err != nil {
		t.Fatalf("%+v", err)
	}
	return merkle
}

func waitFor(t testing.TB, merkle *tree.Tree, size int64) tree.KeptHead {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	head, err := merkle.WaitForHead(ctx, size)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return head
}

func parseKey(t testing.TB, text string) note.Verifier {
	t.Helper()
	key, err := tree.ParseKey(text)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return key
}
