package projections

import (
	"context"
	"log/slog"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/follow"
)

// Config is what a Runner needs. Log, Store and Name are required.
type Config struct {
	Log      events.Log // the LEDGER stream
	Store    Store
	Name     string   // says whose memory of the ledger it is, for people
	Observer Observer // nil: nobody counts
	Logger   *slog.Logger

	// For tests; zero is the default.
	RetryDelay time.Duration // before the first retry; each further one waits twice as long
}

// Observer is told what a runner did. It is called from the runner's
// goroutine and must not block.
type Observer interface {
	Applied(position Position, decisions, rows int, took time.Duration)
}

type noObserver struct{}

func (noObserver) Applied(Position, int, int, time.Duration) {}

// Runner keeps the views of a store up with the ledger. Several may run on one
// store: each batch is applied by one of them.
type Runner struct {
	config Config
	status follow.Status[Position] // as far as is known
}

// NewRunner gives a runner that has not started.
func NewRunner(config Config) (*Runner, error) {
	if config.Log == nil || config.Store == nil || config.Name == "" {
		return nil, errors.AssertionFailedf("projections: log, store and name are required")
	}
	if config.Observer == nil {
		config.Observer = noObserver{}
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.RetryDelay == 0 {
		config.RetryDelay = follow.DefaultRetryDelay
	}
	return &Runner{config: config}, nil
}

// Run applies the ledger until ctx ends (nil) or the views cannot follow it:
// follow.ErrForeignLedger, follow.ErrDamaged, ErrAnotherVersion,
// domain.ErrUnknownRules, or an error of the store that no retry mends. A store
// or stream that cannot be reached is tried again. Run may be called again
// after it returned, by one goroutine at a time.
func (r *Runner) Run(ctx context.Context) error {
	r.status.End(nil)
	retry := follow.Retry{
		Delay: r.config.RetryDelay, MaxDelay: follow.MaxRetryDelay,
		Final: func(err error) bool { return !follow.IsTransient(err) },
		At:    func() uint64 { return r.Position().Seq },
		Failed: func(err error, pause time.Duration) {
			r.config.Logger.Warn("the views start again from their position", "projection", r.config.Name, "position", r.Position().Seq, "in", pause, "error", err)
		},
	}
	err := retry.Do(ctx, r.pass)
	r.status.End(err)
	return err
}

// pass is how a runner starts and how it recovers: it finds the position, makes
// sure that the ledger goes on from there, and applies until something fails.
func (r *Runner) pass(ctx context.Context) error {
	version, err := r.config.Store.Version(ctx)
	switch {
	case err != nil:
		return err
	case version != FoldVersion:
		return errors.WithHint(errors.Wrapf(ErrAnotherVersion, "version %d, this program makes version %d", version, FoldVersion), hintVersion)
	}
	position, err := r.config.Store.Position(ctx)
	if err != nil {
		return err
	}
	r.moveTo(position)
	stream, err := checkLedger(ctx, r.config.Log, position)
	if err != nil {
		return err
	}
	follower := &follower{ledger: r.config.Log, stream: stream, apply: r.apply, fold: NewFold(r.config.Log), rows: applyRows, at: position}
	return follower.run(ctx, follow.Forever)
}

func (r *Runner) apply(ctx context.Context, b batch) error {
	started := time.Now()
	// Durable when Apply returns: the rows and the position moved together. A
	// crash before repeats the batch, a crash after goes on behind it. When it
	// fails nobody knows; the next pass asks the store.
	if err := r.config.Store.Apply(ctx, b.from, b.to, b.changes); err != nil {
		return errors.Wrapf(err, "projections: apply the decisions behind sequence %d up to %d", b.from.Seq, b.to.Seq)
	}
	r.moveTo(b.to)
	r.config.Observer.Applied(b.to, b.changes.Decisions, b.changes.Rows(), time.Since(started))
	return nil
}

func (r *Runner) moveTo(position Position) {
	r.status.Update(func(at *Position) { *at = position })
}

// Name says whose memory of the ledger it is.
func (r *Runner) Name() string { return r.config.Name }

// Position is how far the views are known to be; zero before Run has asked.
func (r *Runner) Position() Position { return r.status.Get() }

// WaitFor waits until the views have read sequence seq, and gives their
// position then. When ctx ends first, or the runner ended for good, it gives
// the position reached and why.
func (r *Runner) WaitFor(ctx context.Context, seq uint64) (Position, error) {
	position, err := r.status.Wait(ctx, func(at Position) bool { return at.Seq >= seq })
	return position, errors.Wrapf(err, "projections: %s is at sequence %d, not at %d", r.config.Name, position.Seq, seq)
}

// Lag is how many decisions the views are behind the ledger's end.
func (r *Runner) Lag(ctx context.Context) (uint64, error) {
	tail, err := r.config.Log.Tail(ctx)
	if err != nil {
		return 0, errors.Wrap(err, "projections: read the end of LEDGER")
	}
	position := r.Position()
	return tail.Last - min(tail.Last, position.Seq), nil
}

// Remembered is what the store remembers of the ledger, for the writer's
// check: the last sequence that was folded, and the hash of its record.
func (r *Runner) Remembered(ctx context.Context) (seq uint64, hash string, err error) {
	position, err := r.config.Store.Position(ctx)
	if err != nil {
		return 0, "", errors.Wrapf(err, "projections: ask where %s is", r.config.Name)
	}
	return position.Seq, position.Hash, nil
}
