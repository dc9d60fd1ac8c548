package projections

import (
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/cockroachdb/errors"
	"go.uber.org/multierr"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/follow"
)

// ErrDifferent: the rebuilt rows are not those of the live views, although the
// same fold made both from the same ledger. One of them is wrong.
var ErrDifferent = errors.New("projections: the rebuilt views differ from the live ones")

const hintDifferent = "nothing was switched; the rebuilt rows come from the ledger alone, so the live ones are wrong: " +
	"look at the difference, then rebuild again and accept it"

// RebuildConfig is what a rebuild needs. Log and Store are required.
type RebuildConfig struct {
	Log   events.Log // the LEDGER stream
	Store Store
	Views []View // none: all

	// Accept switches even when rows differ that the same fold version made,
	// or when the ledger is not the one that the live views were made from.
	// Without it such a rebuild ends with ErrDifferent or follow.ErrForeignLedger and
	// changes nothing.
	Accept bool

	// Progress is told now and then how far the rebuild is, from Rebuild's own
	// goroutine. It must not block.
	Progress func(RebuildProgress)
	Logger   *slog.Logger

	// For tests; zero is the default.
	LoadRows  int // new rows that a batch holds
	HeldBytes int // of campaigns whose other rows wait
}

// RebuildProgress is how far a rebuild is.
type RebuildProgress struct {
	Stage  RebuildStage
	Read   uint64 // decisions folded so far
	Target uint64 // of so many; it moves on with the ledger
}

// RebuildStage is what a rebuild is doing.
type RebuildStage string

// The stages, in order.
const (
	StageLoad    RebuildStage = "load"    // folds the ledger
	StageFinish  RebuildStage = "finish"  // makes the indexes
	StageCompare RebuildStage = "compare" // with the live rows
	StageSwitch  RebuildStage = "switch"
)

// Rebuilt is what a rebuild came to.
type Rebuilt struct {
	Position   Position    // that the views were switched at
	Comparison *Comparison // nil when there was nothing to compare with: another fold version, or another ledger
	Took       time.Duration
}

// catchUpWithin is how many decisions behind the live views a build is
// compared and switched: few enough that nobody notices the wait.
const catchUpWithin = 1000

// Rebuild makes views anew beside the live ones, compares the two when the
// same fold version made both, and switches in one step. Live writers and
// readers go on meanwhile. Whenever it ends early, with an error or with its
// process, the live views are as they were.
//
// Errors: ErrDifferent (the Comparison says where), follow.ErrForeignLedger,
// follow.ErrDamaged, ErrRebuildRunning, and those of Store and Log, which are not
// tried again here.
func Rebuild(ctx context.Context, config RebuildConfig) (Rebuilt, error) {
	if config.Log == nil || config.Store == nil {
		return Rebuilt{}, errors.AssertionFailedf("projections: log and store are required")
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.Progress == nil {
		config.Progress = func(RebuildProgress) {}
	}
	if config.LoadRows == 0 {
		config.LoadRows = loadRows
	}
	if config.HeldBytes == 0 {
		config.HeldBytes = heldBytes
	}
	started := time.Now()
	r := &rebuild{RebuildConfig: config}
	if err := r.prepare(ctx); err != nil {
		return Rebuilt{}, err
	}
	var err error
	if r.build, err = config.Store.Build(ctx, config.Views...); err != nil {
		return Rebuilt{}, err
	}
	err = r.run(ctx)
	// The lock is given back and the rest dropped even when ctx has ended.
	err = multierr.Append(err, r.build.Close(context.WithoutCancel(ctx)))
	r.result.Took = time.Since(started)
	return r.result, err
}

// rebuild is one rebuild on its way.
type rebuild struct {
	RebuildConfig
	build      Build
	follower   *follower
	comparable bool   // the live rows come from the same ledger and fold
	fixed      uint64 // where the build ends when it does not follow the live views; 0 when it does
	result     Rebuilt
}

// prepare finds out how the ledger and the live views belong together.
func (r *rebuild) prepare(ctx context.Context) error {
	version, err := r.Store.Version(ctx)
	if err != nil {
		return err
	}
	live, err := r.Store.Position(ctx)
	if err != nil {
		return err
	}
	stream, err := r.Log.Identity(ctx)
	if err != nil {
		return errors.Wrap(err, "projections: ask LEDGER's identity")
	}
	_, err = checkLedger(ctx, r.Log, Position{Seq: live.Seq, Stream: stream, Hash: live.Hash})
	switch {
	case errors.Is(err, follow.ErrForeignLedger) && r.Accept:
		if err := r.endAtTail(ctx, err); err != nil {
			return err
		}
	case err != nil:
		return err // a stream that was copied is the same ledger: only its records count here
	default:
		r.comparable = version == FoldVersion
	}
	r.follower = &follower{ledger: r.Log, stream: stream, fold: newFold(r.Log, rebuildBytes), rows: r.LoadRows, held: r.HeldBytes}
	return nil
}

// rebuildBytes bounds the states that a rebuild holds: every campaign comes by,
// and one that was dropped is read again from its opening.
const rebuildBytes = 1 << 30

// endAtTail rebuilds from a ledger that the live views were not made from: they
// are no guide to where to end.
func (r *rebuild) endAtTail(ctx context.Context, why error) error {
	if len(r.Views) > 0 {
		return errors.WithHint(why, "some views cannot come from another ledger than the rest: rebuild all of them")
	}
	tail, err := r.Log.Tail(ctx)
	if err != nil {
		return follow.AsDamage(errors.Wrap(err, "projections: read the end of LEDGER"))
	}
	if tail.Last == 0 {
		return errors.WithHint(why, "LEDGER is empty: there is nothing to rebuild from")
	}
	r.fixed = tail.Last
	r.Logger.Warn("the views are made from another ledger than before, as accepted", "why", why, "until", r.fixed)
	return nil
}

func (r *rebuild) run(ctx context.Context) error {
	if err := r.loadUntilClose(ctx); err != nil {
		return err
	}
	r.report(StageFinish, r.follower.at.Seq)
	if err := r.build.Finish(ctx); err != nil {
		return err
	}
	if err := r.loadUntilClose(ctx); err != nil { // what came in meanwhile
		return err
	}
	if err := r.compare(ctx); err != nil {
		return err
	}
	if err := r.loadUntilClose(ctx); err != nil {
		return err
	}
	r.report(StageSwitch, r.follower.at.Seq)
	return r.build.Switch(ctx, r.rest)
}

// target is where the build has to come to, as far as is known now.
func (r *rebuild) target(ctx context.Context) (uint64, error) {
	if r.fixed != 0 {
		return r.fixed, nil
	}
	live, err := r.Store.Position(ctx)
	return live.Seq, err
}

// loadUntilClose loads until the live views are nearly reached: they move on.
func (r *rebuild) loadUntilClose(ctx context.Context) error {
	for {
		target, err := r.target(ctx)
		if err != nil {
			return err
		}
		r.report(StageLoad, target)
		if r.follower.at.Seq+catchUpWithin >= target && r.follower.at.Seq > 0 || target == 0 {
			return nil
		}
		if err := r.load(ctx, target); err != nil {
			return err
		}
	}
}

// load reads the ledger up to and with a sequence into the build.
func (r *rebuild) load(ctx context.Context, upTo uint64) error {
	r.follower.apply = func(ctx context.Context, b batch) error {
		if err := r.build.Load(ctx, b.from, b.to, b.changes); err != nil {
			return errors.Wrapf(err, "projections: load the decisions behind sequence %d up to %d", b.from.Seq, b.to.Seq)
		}
		r.Progress(RebuildProgress{Stage: StageLoad, Read: b.to.Seq, Target: upTo})
		return nil
	}
	return r.follower.run(ctx, upTo)
}

func (r *rebuild) report(stage RebuildStage, target uint64) {
	r.Progress(RebuildProgress{Stage: stage, Read: r.follower.at.Seq, Target: target})
}

// compare refuses to go on when the live rows are not those of the build.
func (r *rebuild) compare(ctx context.Context) error {
	if !r.comparable {
		return nil
	}
	r.report(StageCompare, r.follower.at.Seq)
	comparison, err := r.build.Compare(ctx, func(ctx context.Context, live Position) error { return r.load(ctx, live.Seq) })
	if err != nil {
		return err
	}
	r.result.Comparison = comparison
	difference := comparison.Difference()
	if difference == nil {
		return nil
	}
	if r.Accept {
		r.Logger.Warn("the rebuilt views differ from the live ones, as accepted",
			"view", difference.View, "key", difference.Key, "live", difference.Live, "built", difference.Built)
		return nil
	}
	return errors.WithHint(errors.Wrapf(ErrDifferent, "view %s at sequence %d, row %s: live %s, rebuilt %s",
		difference.View, comparison.At.Seq, difference.Key, orNothing(difference.Live), orNothing(difference.Built)), hintDifferent)
}

func orNothing(row string) string {
	if row == "" {
		return "nothing"
	}
	return row
}

// rest folds what the build lacks, while the live views stand still.
func (r *rebuild) rest(ctx context.Context, build, live Position) (Position, *Changes, error) {
	if build.Seq != r.follower.at.Seq {
		return Position{}, nil, errors.AssertionFailedf("projections: the build is at sequence %d, its fold at %d", build.Seq, r.follower.at.Seq)
	}
	upTo := live.Seq
	if r.fixed != 0 {
		upTo = r.fixed
	}
	changes := &Changes{}
	r.follower.rows, r.follower.held = math.MaxInt, math.MaxInt // all is one batch
	r.follower.apply = func(_ context.Context, b batch) error {
		changes = b.changes
		return nil
	}
	if err := r.follower.run(ctx, upTo); err != nil {
		return Position{}, nil, err
	}
	at := r.follower.at
	if r.fixed == 0 && !at.SameRecord(live) {
		return Position{}, nil, errors.WithHint(errors.Wrapf(follow.ErrForeignLedger,
			"the live views hold record hash %s at LEDGER sequence %d, the build has come to %s at %d", live.Hash, live.Seq, at.Hash, at.Seq), hintForeign)
	}
	r.result.Position = at
	return at, changes, nil
}
