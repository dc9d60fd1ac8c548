package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/cockroachdb/errors"
	systemd "github.com/coreos/go-systemd/v22/daemon"
	"github.com/google/uuid"
	"github.com/oklog/run"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/datadir"
	"github.com/ledgerd/ledgerd/internal/decisions"
	"github.com/ledgerd/ledgerd/internal/follow"
	"github.com/ledgerd/ledgerd/internal/metrics"
	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/internal/writer"
	"github.com/ledgerd/ledgerd/projections"
)

// daemon is everything that one ledgerd holds, opened and wired.
type daemon struct {
	log     *slog.Logger
	metrics *metrics.Metrics

	dir       *datadir.Dir
	nats      *natsBackend
	arrivals  events.Log
	ledger    events.Log
	store     projections.Store
	runner    *projections.Runner
	writer    *writer.Writer
	tree      *tree.Tree
	answers   *decisions.Service
	decisions *decisionLog
	token     string // readers over HTTP must bear it; "": everybody on this machine may read
	listener  net.Listener
	http      *http.Server
	health    *health

	viewsFit   chan struct{} // closed when the views are of this program's version
	viewsReady chan struct{} // closed when they have all that was decided before the start
	announced  func()        // called once, when everything behind the addresses is ready
	closers    []func() error
}

// openDaemon takes hold of the data directory and opens everything behind it.
// Nothing runs yet.
func openDaemon(ctx context.Context, c serveCommand, log *slog.Logger) (*daemon, error) {
	d := &daemon{log: log, metrics: metrics.New(cli.Version()), announced: func() {}}
	err := d.open(ctx, &c)
	if err == nil {
		err = d.wire()
	}
	if err != nil {
		return nil, errors.CombineErrors(err, d.close())
	}
	return d, nil
}

// open opens what the daemon works on, in the order in which it is needed.
func (d *daemon) open(ctx context.Context, c *serveCommand) (err error) {
	if d.dir, err = datadir.Open(c.DataDir); err != nil {
		return err
	}
	d.closeLater(d.dir.Close)
	if d.token, err = readToken(c.AuthTokenFile, d.log); err != nil {
		return err
	}
	if d.listener, err = listen(c.Listen, d.token); err != nil {
		return err
	}
	d.closeLater(func() error { _ = d.listener.Close(); return nil }) // closed already when HTTP was served
	if d.nats, err = openNATS(ctx, c, d.dir, d.log); err != nil {
		return err
	}
	d.closeLater(func() error { d.nats.close(); return nil })
	d.arrivals, d.ledger = d.nats.logs()
	if err := c.viewsStay(); err != nil {
		return err
	}
	if err := noteViews(d.dir.Path(), c.DatabaseURL); err != nil {
		return err
	}
	if d.store, err = openViews(ctx, d.dir.Path(), c.DatabaseURL); err != nil {
		return err
	}
	if err := warnOfReaders(ctx, d.store, d.log); err != nil {
		return err
	}
	d.store = d.metrics.Store(d.store)
	d.closeLater(d.store.Close)
	var closeTree func() error
	if d.tree, closeTree, err = openTree(ctx, d.dir.Path(), c.Origin, d.ledger, d.log); err != nil {
		return err
	}
	d.closeLater(closeTree)
	return nil
}

// wire makes the parts that work on what was opened.
func (d *daemon) wire() error {
	d.health = &health{nats: d.nats.health}
	d.metrics.WatchStreams(d.arrivals, d.ledger)
	d.metrics.WatchLag(viewsProjection, d.store, d.ledger)
	d.metrics.WatchReady(func() bool { ready, _ := d.health.Ready(); return ready })
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	d.viewsFit, d.viewsReady = make(chan struct{}), make(chan struct{})
	d.runner, err = projections.NewRunner(projections.Config{Log: d.ledger, Store: d.store, Name: viewsProjection, Observer: d.metrics.Projection(viewsProjection), Logger: d.log})
	if err != nil {
		return err
	}
	d.decisions = newDecisionLog(d.metrics.Writer(), d.log)
	d.writer, err = writer.New(writer.Config{
		Arrivals: d.arrivals, Ledger: d.ledger, Epoch: uuid.NewString(), Host: host,
		Memories: []follow.Memory{d.runner, d.tree}, Observer: d.decisions, Logger: d.log,
	})
	if err != nil {
		return err
	}
	d.answers, err = decisions.New(decisions.Config{Conn: d.nats.conn, Ledger: d.ledger, Logger: d.log})
	if err != nil {
		return err
	}
	d.http, err = d.httpServer()
	return err
}

// run is the wiring diagram: one actor a block. The first that ends ends all:
// each interrupt ends its own actor, in the order of the blocks. The writer
// comes before those who read what it appends, HTTP last.
func (d *daemon) run(ctx context.Context) (err error) {
	defer func() { err = errors.CombineErrors(err, d.close()) }()
	var group run.Group

	// The process: SIGINT or SIGTERM ends the context.
	group.Add(actor(ctx, func(ctx context.Context) error { <-ctx.Done(); return nil }))
	ctx = context.WithoutCancel(ctx) // the others are ended by their interrupts

	loops := map[string]*loop{}
	for _, part := range []string{"writer", "views", "tree", "decisions", "http"} {
		loops[part] = d.health.add(part)
	}

	// The announcement, when the others run.
	group.Add(actor(ctx, func(ctx context.Context) error { return d.announce(ctx, loops) }))

	// The writer decides arrivals.
	group.Add(actor(ctx, func(ctx context.Context) error {
		return keepReading(ctx, loops["writer"], d.log, d.writer.RunWithStandby, d.writer.Ready())
	}))

	// The log has a line for each decision that people look for.
	group.Add(actor(ctx, func(ctx context.Context) error { d.decisions.run(ctx); return nil }))

	// The runner folds decisions into views.
	group.Add(actor(ctx, func(ctx context.Context) error {
		return keepReading(ctx, loops["views"], d.log, d.runViews, d.viewsReady)
	}))

	// The views are of use when they have all that was decided before the start.
	group.Add(actor(ctx, d.awaitViews))

	// The tree hashes decisions and signs its heads.
	group.Add(actor(ctx, func(ctx context.Context) error {
		return keepReading(ctx, loops["tree"], d.log, d.tree.Run, d.tree.Ready())
	}))

	// The decision service answers who waits for a decision.
	group.Add(actor(ctx, func(ctx context.Context) error {
		loops["decisions"].running()
		return keepReading(ctx, loops["decisions"], d.log, d.answers.Run, nil)
	}))

	// HTTP answers queries, health and metrics.
	group.Add(func() error {
		loops["http"].running()
		return d.serveHTTP()
	}, func(error) { d.stopHTTP() })

	return errors.CombineErrors(group.Run(), d.health.failure())
}

// actor gives a part a context of its own, which its interrupt ends.
func actor(ctx context.Context, work func(context.Context) error) (execute func() error, interrupt func(error)) {
	ctx, cancel := context.WithCancel(ctx)
	return func() error { defer cancel(); return work(ctx) }, func(error) { cancel() }
}

// keepReading runs a loop. One that cannot go on is reported and then waits for
// the end with the others, so that what is decided stays readable; the daemon
// ends with its error.
func keepReading(ctx context.Context, l *loop, log *slog.Logger, work func(context.Context) error, ready <-chan struct{}) error {
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	for {
		select {
		case <-ready:
			l.running()
			log.Info("a part runs", "part", l.state.Name)
			ready = nil
		case err := <-done:
			if err == nil || ctx.Err() != nil {
				log.Info("a part has ended", "part", l.state.Name)
				return nil
			}
			l.stopped(err)
			log.Error("a part of the daemon has stopped; what is stored stays readable", "part", l.state.Name, "error", err, "hint", errors.FlattenHints(err))
			<-ctx.Done()
			return nil // health keeps the error, which the daemon ends with
		}
	}
}

// announce tells clients where the daemon is, when every loop runs or has
// turned out not to: what is stored can be asked for in either case.
func (d *daemon) announce(ctx context.Context, loops map[string]*loop) error {
	for _, l := range loops {
		select {
		case <-l.settled:
		case <-ctx.Done():
			return nil
		}
	}
	if err := d.dir.Announce(d.nats.url, d.httpURL(), d.nats.embedded); err != nil {
		return err
	}
	if d.health.failure() == nil {
		notifySystemd(systemd.SdNotifyReady, d.log)
		d.announced()
	} else {
		d.log.Error("the daemon is not ready; it serves what is stored", "http", d.httpURL(), "nats", d.nats.url)
	}
	<-ctx.Done()
	notifySystemd(systemd.SdNotifyStopping, d.log)
	return nil
}

// notifySystemd tells systemd, where it runs the daemon (Type=notify).
func notifySystemd(state string, log *slog.Logger) {
	if _, err := systemd.SdNotify(false, state); err != nil {
		log.Warn("systemd was not told", "state", state, "error", err)
	}
}

// closeLater registers what close undoes, last first.
func (d *daemon) closeLater(closer func() error) { d.closers = append(d.closers, closer) }

func (d *daemon) close() error {
	var err error
	for i := len(d.closers) - 1; i >= 0; i-- {
		err = errors.CombineErrors(err, d.closers[i]())
	}
	d.closers = nil
	return err
}
