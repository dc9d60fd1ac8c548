package tree

import (
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/cockroachdb/errors"
	"golang.org/x/sync/errgroup"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/follow"
)

// Config is what a Tree needs. Log, Store and Keys with a signer are required.
type Config struct {
	Log      events.Log // the LEDGER stream
	Store    Store
	Keys     *Keys
	Observer Observer // nil: nobody counts
	Logger   *slog.Logger

	// HeadInterval is the least time between two heads, up to MaxHeadInterval;
	// zero is DefaultHeadInterval. What was decided meanwhile is covered by the
	// next.
	HeadInterval time.Duration

	// For tests; zero is the default.
	RetryDelay time.Duration // before the first retry; each further one waits twice as long
}

// Observer is told what a tree did. It is called from the tree's goroutines
// and must not block.
type Observer interface {
	Appended(state State, records int, took time.Duration)
	Signed(head KeptHead)
}

type noObserver struct{}

func (noObserver) Appended(State, int, time.Duration) {}
func (noObserver) Signed(KeptHead)                    {}

const (
	// DefaultHeadInterval keeps who waits for a receipt from waiting long, and
	// the kept heads, of some 500 bytes each, below 50 MB for a day without a
	// pause.
	DefaultHeadInterval = time.Second
	// MaxHeadInterval bounds how long a decision can be without a head.
	MaxHeadInterval = time.Minute

	// signLastTimeout bounds what the end waits for.
	signLastTimeout = 2 * time.Second
)

// Tree follows the ledger and signs heads. One process writes a tree, which
// holds the data directory.
type Tree struct {
	*Reader
	config Config
	ready  chan struct{} // closed when the ledger was found to continue the tree
	status follow.Status[status]
}

// status is how far a tree is known to be.
type status struct {
	loaded bool // state is what is stored
	state  State
	head   KeptHead // the last one
}

// Open gives a tree that has not started, after it has computed the stored
// root again and compared it with the last signed head. Errors:
// ErrTreeDamaged, ErrKeyUnknown, those of Keys.Check and of the store.
func Open(ctx context.Context, config Config) (*Tree, error) {
	if config.Log == nil || config.Store == nil || config.Keys == nil || config.Keys.Signer == nil {
		return nil, errors.AssertionFailedf("tree: log, store and keys with a signer are required")
	}
	if config.HeadInterval < 0 || config.HeadInterval > MaxHeadInterval {
		return nil, errors.Newf("tree: a head interval of %s is not between 0 and %s", config.HeadInterval, MaxHeadInterval)
	}
	if config.Observer == nil {
		config.Observer = noObserver{}
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.HeadInterval == 0 {
		config.HeadInterval = DefaultHeadInterval
	}
	if config.RetryDelay == 0 {
		config.RetryDelay = follow.DefaultRetryDelay
	}
	reader, err := NewReader(config.Store, config.Keys, config.Log)
	if err != nil {
		return nil, err
	}
	t := &Tree{Reader: reader, config: config, ready: make(chan struct{})}
	_, _, _, err = t.load(ctx)
	return t, err
}

// load reads where the stored tree is, and makes sure that its hashes give the
// root that they should. signed is nil when there is no head.
func (t *Tree) load(ctx context.Context) (state State, e *edge, signed *KeptHead, err error) {
	if state, err = t.store.State(ctx); err != nil {
		return State{}, nil, nil, err
	}
	if e, err = loadEdge(ctx, t.store, state.Size()); err != nil {
		return State{}, nil, nil, err
	}
	root, err := e.root()
	switch {
	case err != nil:
		return State{}, nil, nil, err
	case root != state.Root:
		return State{}, nil, nil, treeDamaged("the stored hashes of %d records give root %s, stored is %s", state.Size(), root, state.Root)
	}
	head, err := t.Head(ctx)
	switch {
	case errors.Is(err, ErrNoHead):
		return state, e, nil, nil
	case err != nil:
		return State{}, nil, nil, err
	}
	// A tree that is being made again is behind heads; it is compared with each
	// when it gets there.
	_, err = t.lastRoot(ctx, state.Size())
	return state, e, &head, err
}

// lastRoot holds the stored hashes against the largest head of at most size.
func (r *Reader) lastRoot(ctx context.Context, size int64) (KeptHead, error) {
	head, err := r.HeadAt(ctx, size)
	if errors.Is(err, ErrNoHead) {
		return KeptHead{}, nil
	}
	if err == nil {
		_, err = r.rootAt(ctx, head.Size, head)
	}
	return head, err
}

// Run follows the ledger until ctx ends (nil) or the tree cannot:
// follow.ErrForeignLedger, follow.ErrDamaged, ErrRewritten, ErrTreeDamaged, or
// an error of the store that no retry mends. A store or stream that cannot be
// reached is tried again. Run may be called again after it returned, by one
// goroutine at a time.
func (t *Tree) Run(ctx context.Context) error {
	t.status.End(nil)
	parts, partsCtx := errgroup.WithContext(ctx)
	parts.Go(func() error { return t.persist(partsCtx, "follow the ledger", t.pass) })
	parts.Go(func() error { return t.persist(partsCtx, "sign tree heads", t.sign) })
	parts.Go(func() error { return t.persist(partsCtx, "look through the stored hashes", t.Audit) })
	err := parts.Wait()
	if ctx.Err() != nil {
		t.signLast(ctx)
		t.status.End(ErrStopped)
		return nil
	}
	t.status.End(err)
	return err
}

// persist does something again until it succeeds, fails for good, or ctx ends
// (nil).
func (t *Tree) persist(ctx context.Context, what string, do func(context.Context) error) error {
	retry := follow.Retry{
		Delay: t.config.RetryDelay, MaxDelay: follow.MaxRetryDelay,
		Final: func(err error) bool { return !follow.IsTransient(err) },
		At:    func() uint64 { return t.State().Seq },
		Failed: func(err error, pause time.Duration) {
			t.config.Logger.Warn("the tree starts again from what is stored", "doing", what, "size", t.State().Size(), "in", pause, "error", err)
		},
	}
	return retry.Do(ctx, do)
}

// markReady is called by the first pass that found the ledger as it must be.
func (t *Tree) markReady() {
	select {
	case <-t.ready:
	default:
		close(t.ready)
	}
}

// Ready is closed when the ledger was found to continue the tree, and the tree
// follows it. Behind it may still be.
func (t *Tree) Ready() <-chan struct{} { return t.ready }

// State is how far the tree is known to be.
func (t *Tree) State() State { return t.status.Get().state }

// WaitForHead waits until a signed head covers size records, and gives it.
// When ctx ends first, or the tree ended for good, it says why.
func (t *Tree) WaitForHead(ctx context.Context, size int64) (KeptHead, error) {
	s, err := t.status.Wait(ctx, func(s status) bool { return s.head.Note != "" && s.head.Size >= size })
	return s.head, errors.Wrapf(err, "tree: the last head has %d records, not %d", s.head.Size, size)
}

// WaitFor waits until the stored tree has size records. When ctx ends first, or
// the tree ended for good, it says why.
func (t *Tree) WaitFor(ctx context.Context, size int64) (State, error) {
	s, err := t.status.Wait(ctx, func(s status) bool { return s.loaded && s.state.Size() >= size })
	return s.state, errors.Wrapf(err, "tree: the tree has %d records, not %d", s.state.Size(), size)
}

// Name says whose memory of the ledger it is.
func (t *Tree) Name() string { return "the tree tree" }

// Remembered is what is stored of the ledger, for the writer's check: the last
// sequence that is in the tree or below a signed head, and the hash of its
// record.
func (t *Tree) Remembered(ctx context.Context) (seq uint64, hash string, err error) {
	state, err := t.store.State(ctx)
	if err != nil {
		return 0, "", errors.Wrap(err, "tree: ask where the tree is")
	}
	head, err := t.store.LastHead(ctx, math.MaxInt64)
	if err != nil && !errors.Is(err, ErrNoHead) {
		return 0, "", errors.Wrap(err, "tree: ask for the last head")
	}
	if err == nil && uint64(head.Size) > state.Seq {
		return uint64(head.Size), head.Record, nil
	}
	return state.Seq, state.Hash, nil
}
