package writer

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/follow"
)

// Config is what a writer needs. Arrivals, Ledger and Epoch are required.
type Config struct {
	Arrivals events.Log
	Ledger   events.Log
	Epoch    string          // random for each process: how a writer knows its own records
	Host     string          // said beside the epoch, for people
	Memories []follow.Memory // every local memory of the ledger's past
	Observer Observer        // nil: nobody counts
	Logger   *slog.Logger

	// For tests; zero is the default.
	CacheBytes int           // of campaign states in memory
	RetryDelay time.Duration // between tries when a stream is unavailable
}

// Observer is told what a writer did. Its methods are called from the writer's
// goroutines, must be safe for concurrent use, and must not block.
type Observer interface {
	Appended(decisions []*domain.Decision, bytes int, took time.Duration)
	Waiting(arrivals int) // decoded arrivals that wait for their decision
}

type noObserver struct{}

func (noObserver) Appended([]*domain.Decision, int, time.Duration) {}
func (noObserver) Waiting(int)                                     {}

const (
	// defaultRetryDelay is how long a writer waits before it asks an
	// unavailable stream again: short beside a server's restart, long beside a
	// busy loop.
	defaultRetryDelay = 500 * time.Millisecond
	// cacheBytes bounds the campaign states in memory.
	cacheBytes = 400 << 20
)

// Writer decides arrivals. Run may be called again after it returned.
type Writer struct {
	Config
	rules int // version that decides what comes; set by resync, before anything is decided

	committed atomic.Uint64 // last sequence known to be stored; written by resync and the appender
	ready     chan struct{} // closed by Run when the first resync has succeeded
	isReady   atomic.Bool
}

// New checks the configuration and gives a writer that has not started.
func New(config Config) (*Writer, error) {
	if config.Arrivals == nil || config.Ledger == nil || config.Epoch == "" {
		return nil, errors.AssertionFailedf("writer: arrivals, ledger and epoch are required")
	}
	if config.Observer == nil {
		config.Observer = noObserver{}
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.CacheBytes == 0 {
		config.CacheBytes = cacheBytes
	}
	if config.RetryDelay == 0 {
		config.RetryDelay = defaultRetryDelay
	}
	return &Writer{Config: config, ready: make(chan struct{})}, nil
}

// Committed is the sequence of the last decision known to be stored.
func (w *Writer) Committed() uint64 { return w.committed.Load() }

// Ready is closed once the writer has found its position and agreed with every
// memory of the past.
func (w *Writer) Ready() <-chan struct{} { return w.ready }

// Run decides until ctx ends (nil), another writer appends ([ErrStoodAside]),
// the streams turn out damaged ([follow.ErrDamaged], [domain.ErrLedgerContradicts],
// [domain.ErrUnknownRules]). Everything else is retried from the tail.
func (w *Writer) Run(ctx context.Context) error {
	var lost *flight // what is in the air from before the last error
	retry := follow.Retry{
		Delay: w.RetryDelay,
		Final: isFinal,
		Failed: func(err error, _ time.Duration) {
			w.Logger.Warn("the writer starts again from the ledger's tail", "error", err)
		},
	}
	return retry.Do(ctx, func(ctx context.Context) error {
		position, err := w.resync(ctx, lost)
		if err != nil {
			return err
		}
		w.announce(position)
		lost, err = w.decideFrom(ctx, position, lost.behind(position))
		return err
	})
}

func (w *Writer) announce(position position) {
	w.committed.Store(position.seq)
	if w.isReady.CompareAndSwap(false, true) {
		close(w.ready)
		w.Logger.Info("the writer goes on", "after", position.seq, "epoch", w.Epoch)
	}
}
