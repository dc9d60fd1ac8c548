package natsserver

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats-server/v2/server"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
)

const (
	// defaultWatchInterval is how often the room is looked at: often enough
	// that the reserve outlasts it, seldom enough to cost nothing.
	defaultWatchInterval = 500 * time.Millisecond
	// minRepairDelay and maxRepairDelay are between two tries to run the server
	// anew. The first one waits for room alone; each further one waits twice as
	// long, since then it is not the room.
	minRepairDelay = time.Second
	maxRepairDelay = time.Minute
)

// watch looks after the room on disk and after the streams.
//
// There are two lines. The first one is the reserve: with less than
// reserveBytes free, arrivals are turned away with an error that says so, while
// decisions on those that were taken are still stored. The second one is for a
// disk that ends all the same, or fails: a stream that could not be written
// takes nothing more until its server ends, and may even show what is not on
// disk. So JetStream is switched off at once, and the server is run anew when
// there is room. What was acknowledged is on disk, so nothing of it is lost.
type watch struct {
	server *Server
	log    *slog.Logger
	now    chan struct{} // asks for a look before its time
	intake *intake
	cancel context.CancelFunc
	ended  chan struct{} // closed when run has returned

	mu      sync.Mutex
	trouble error // what Health says

	// What follows belongs to run.
	broken  error         // why the streams cannot be written; nil while they can
	lost    bool          // a stream was not taken up again: nothing more is tried
	repair  time.Time     // not before
	delay   time.Duration // after the next repair
	mended  time.Time     // the last time that the server was run anew
	refuses bool          // arrivals are turned away for want of room
}

func newWatch(s *Server) *watch {
	return &watch{server: s, log: s.config.Logger, now: make(chan struct{}, 1), cancel: func() {}, ended: make(chan struct{})}
}

// start begins to look. close ends it.
func (w *watch) start() error {
	var err error
	if w.intake, err = newIntake(w.server); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	go w.run(ctx)
	return nil
}

// close ends the watch and waits for it.
func (w *watch) close() {
	w.cancel()
	<-w.ended
	w.intake.close()
}

// look asks for a look now. It never waits.
func (w *watch) look() {
	select {
	case w.now <- struct{}{}:
	default: // one is asked for already
	}
}

// health is what is wrong, nil for nothing.
func (w *watch) health() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trouble
}

func (w *watch) say(trouble error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trouble = trouble
}

func (w *watch) run(ctx context.Context) {
	defer close(w.ended)
	interval := w.server.config.WatchInterval
	if interval == 0 {
		interval = defaultWatchInterval
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		w.step(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-w.now:
		}
	}
}

// step looks once and does what is to be done.
func (w *watch) step(ctx context.Context) {
	free := w.free()
	if w.broken == nil {
		if why := cannotWrite(w.server.running()); why != nil {
			w.breaks(why)
		}
	}
	if w.broken != nil {
		w.mend(ctx, free)
		return
	}
	w.reserve(free)
}

// free is the room on disk; all there is where the system does not tell.
func (w *watch) free() int64 {
	free, err := w.server.config.free()
	if err != nil {
		return math.MaxInt64
	}
	return free
}

// reserve turns arrivals away when the room ends, and takes them again.
func (w *watch) reserve(free int64) {
	switch {
	case free < reserveBytes:
		err := noRoom(w.server.config.StoreDir, free)
		w.say(err)
		w.turnAway(err) // each time: producers read how much is free
		if w.refuses {
			return
		}
		w.refuses = true
		w.log.Error("THE DISK IS NEARLY FULL: arrivals are turned away until there is room", "error", err, "hint", errors.FlattenHints(err))
	case w.refuses && free >= minFreeBytes:
		w.intake.accept()
		w.refuses = false
		w.say(nil)
		w.log.Info("there is room again: arrivals are taken", "free_mib", free>>20)
	}
}

// turnAway refuses arrivals for a reason that their producers are told.
func (w *watch) turnAway(why error) {
	if err := w.intake.refuse(why.Error()); err != nil {
		w.log.Error("arrivals cannot be turned away", "error", err)
	}
}

func noRoom(dir string, free int64) error {
	return errors.WithHint(
		errors.Wrapf(ErrDiskFull, "%d MiB free at %s, arrivals are taken again at %d MiB", free>>20, dir, int64(minFreeBytes)>>20),
		"Free space on that file system: the daemon goes on by itself. Or stop it and move the whole data directory to a larger one.")
}

// breaks takes the streams out of use: what they show may not be on disk.
func (w *watch) breaks(why error) {
	w.broken = errors.WithHint(errors.Mark(errors.Wrap(why, ErrNoWrites.Error()), ErrNoWrites),
		"The disk is full or fails; the log lines marked part=nats say more. Nothing that was acknowledged is lost. "+
			"When there is room the daemon goes on by itself.")
	w.say(w.broken)
	w.log.Error("THE STREAMS TAKE NO MORE WRITES: nothing is taken or decided until they do", "error", why, "hint", errors.FlattenHints(w.broken))
	w.turnAway(w.broken)
	if err := w.server.running().ShutdownJetStream(); err != nil {
		w.log.Error("JetStream cannot be switched off", "error", err)
	}
}

// mend runs the server anew when there is room.
func (w *watch) mend(ctx context.Context, free int64) {
	started := time.Now()
	if w.lost || free < minFreeBytes || started.Before(w.repair) {
		return
	}
	if started.Sub(w.mended) > maxRepairDelay {
		w.delay = minRepairDelay
	}
	w.repair, w.delay = started.Add(w.delay), min(2*w.delay, maxRepairDelay)
	err := w.server.runAnew(ctx)
	switch {
	case ctx.Err() != nil:
		return // it is being stopped
	case errors.Is(err, ErrStoreDamaged):
		w.lost = true
		w.say(err)
		w.log.Error("the server cannot be run anew", "error", err, "hint", errors.FlattenHints(err))
	case err != nil:
		w.say(errors.Mark(err, ErrNoWrites))
		w.log.Error("the server cannot be run anew yet", "error", err, "hint", errors.FlattenHints(err), "again_in", w.delay)
	default:
		w.broken, w.refuses, w.mended = nil, false, time.Now()
		w.say(nil)
		w.log.Info("the streams take writes again", "took", time.Since(started))
	}
}

// cannotWrite says why a server's streams can no longer be written, nil while
// they can.
func cannotWrite(running *server.Server) error {
	if !running.JetStreamEnabled() {
		return errors.New("JetStream switched itself off")
	}
	detail, err := running.JszAccount(&server.JSzOptions{Account: natsdeploy.LedgerAccount, Streams: true})
	if err != nil {
		return nil // it says nothing: no reason to stop it
	}
	for _, stream := range detail.Streams {
		health := running.Healthz(&server.HealthzOptions{Account: natsdeploy.LedgerAccount, Stream: stream.Name, Details: true})
		for _, wrong := range health.Errors {
			// The stream runs, so what is wrong with it is a write that failed.
			if wrong.Type == server.HealthzErrorStream {
				return errors.Newf("%s: %s", stream.Name, wrong.Error)
			}
		}
	}
	return nil
}
