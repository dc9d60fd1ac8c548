// Package natsserver runs the NATS server that ledgerd carries in itself.
//
// Model: one server with JetStream under one store directory, with the
// accounts of deploy/nats. Its listener is on loopback and admits the
// operator's, coordinator's and reader's keys. The daemon and the provisioner
// are let in from this process alone, by keys that are made at each start and
// never leave memory.
//
// Authority: who may do what is deploy/nats/accounts.conf; this package adds
// limits. It makes no stream.
//
// Failure: Start gives a running server or an error with a hint, never a
// server that lost a stream on the way: one that is on disk and was not taken
// up is [ErrStoreDamaged]. Acknowledged messages are on disk (sync always).
// While the server runs, a watch looks after the room on disk: arrivals are
// turned away before it ends, with an error that says so, and a server whose
// streams no longer take writes is run anew when there is room (watch.go).
// [Server.Health] tells both. Stop ends everything that Start began.
package natsserver

import (
	"context"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
)

// Server is a running embedded server. It is safe for concurrent use.
type Server struct {
	config Config // Listen holds the port that was taken; read-only after Start
	public natsdeploy.Keys
	keys   map[natsdeploy.Role]nkeys.KeyPair // daemon and provisioner; read-only after Start
	url    string                            // for clients; read-only after Start
	watch  *watch
	stop   sync.Once

	mu   sync.RWMutex
	nats *server.Server // the one that runs, or ran last; the watch replaces it
}

// Start runs the server and returns when it takes connections. It may take
// long when a store has to be rebuilt. When ctx ends meanwhile, the store is
// finished and left all the same, and the error is ctx's.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	s := &Server{config: cfg, keys: map[natsdeploy.Role]nkeys.KeyPair{}}
	if err := s.makeKeys(); err != nil {
		return nil, err
	}
	s.watch = newWatch(s)
	running, err := s.boot(ctx)
	if err != nil {
		return nil, err
	}
	s.nats = running
	if cfg.Listen != "" {
		s.url = running.ClientURL()
		s.config.Listen = strings.TrimPrefix(s.url, "nats://") // the same port, whenever it is run anew
	}
	if err := s.watch.start(); err != nil {
		shutDown(running)
		return nil, err
	}
	return s, nil
}

// makeKeys makes this process's own keys and notes the public ones of every
// role.
func (s *Server) makeKeys() error {
	s.public = natsdeploy.Keys{Operator: s.config.Operator, Coordinator: s.config.Coordinator, Reader: s.config.Reader}
	for role, into := range map[natsdeploy.Role]*string{
		natsdeploy.Daemon:      &s.public.Daemon,
		natsdeploy.Provisioner: &s.public.Provisioner,
	} {
		pair, err := nkeys.CreateUser()
		if err != nil {
			return errors.Wrapf(errors.Mark(err, ErrStart), "make the %s's key", role)
		}
		if *into, err = pair.PublicKey(); err != nil {
			return errors.Wrapf(errors.Mark(err, ErrStart), "make the %s's key", role)
		}
		s.keys[role] = pair
	}
	return nil
}

// boot runs a server on the store and gives it when it takes connections. It is
// both how Start begins and how the watch recovers. After an error nothing of
// it runs.
func (s *Server) boot(ctx context.Context) (*server.Server, error) {
	if err := ctx.Err(); err != nil {
		return nil, notStarted(err)
	}
	opts, err := s.config.options(s.public)
	if err != nil {
		return nil, err
	}
	if err := prepareStore(s.config); err != nil {
		return nil, err
	}
	if err := checkAddress(ctx, s.config.Listen); err != nil {
		return nil, err
	}
	next, err := server.NewServer(opts)
	if err != nil {
		return nil, errors.Mark(err, ErrStart)
	}
	log := newLogger(s.config.Logger)
	next.SetLoggerV2(log, false, false, false)
	if err := s.run(ctx, next, log); err != nil {
		shutDown(next)
		return nil, err
	}
	log.started(s.watch)
	return next, nil
}

// run starts a server and looks whether it is what was wanted.
func (s *Server) run(ctx context.Context, next *server.Server, log *logger) error {
	// It returns when listening, or after a fatal line. A server that is shut
	// down while it takes up its streams would keep open those that come after:
	// so it is waited for although ctx may have ended.
	next.Start()
	if err := ctx.Err(); err != nil {
		return notStarted(err)
	}
	if text, gaveUp := log.complaints(); gaveUp {
		return errors.WithHint(errors.Wrap(ErrStart, text),
			"The log lines above, marked part=nats, say more.")
	}
	lost, err := lostStreams(next, s.config.StoreDir)
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		text, _ := log.complaints()
		return errors.WithHintf(errors.Wrapf(ErrStoreDamaged, "not taken up from %s: %v (%s)", s.config.StoreDir, lost, text),
			"Nothing was changed on disk. Keep a copy of the data directory, then bring back a backup with `ledgerd restore`.")
	}
	return nil
}

func notStarted(err error) error { return errors.Wrap(err, "start the NATS server") }

// shutDown ends a server and waits for all of it.
func shutDown(running *server.Server) {
	running.Shutdown()
	running.WaitForShutdown()
}

// running is the server that runs, or ran last.
func (s *Server) running() *server.Server {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.nats
}

// runAnew ends the server and runs another one on the same store and address.
// After an error none runs.
func (s *Server) runAnew(ctx context.Context) error {
	shutDown(s.running())
	next, err := s.boot(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nats = next
	return nil
}

// checkAddress tells a taken port apart from other reasons, which the server
// itself only logs. Another process may still take it before the server does;
// Start then fails with ErrStart.
func checkAddress(ctx context.Context, listen string) error {
	if listen == "" {
		return nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return errors.WithHint(errors.Wrapf(ErrAddressInUse, "%s", listen),
			"Another program, perhaps another ledgerd, listens there. Stop it or give --nats-listen another port; port 0 takes a free one.")
	}
	if err != nil {
		return errors.WithHint(errors.Wrapf(errors.Mark(err, ErrListen), "%s", listen),
			"Give --nats-listen an address of this machine's loopback, for instance 127.0.0.1:4222.")
	}
	return errors.Wrap(listener.Close(), "free the listen address again")
}

// ClientURL is where clients of this machine connect, for instance
// nats://127.0.0.1:4222. Empty without a listener.
func (s *Server) ClientURL() string { return s.url }

// reconnectWait is how long a connection in process waits before it tries
// again: a server that is run anew is there in a moment.
const reconnectWait = 100 * time.Millisecond

// InProcess connects as the daemon or the provisioner, without the network. The
// connection is made again for as long as it is not closed; the caller closes
// it before it stops the server. Other roles have no key here ([ErrRole]); with
// their own credentials they reach the server through [Server.Dial].
func (s *Server) InProcess(role natsdeploy.Role, opts ...nats.Option) (*nats.Conn, error) {
	pair, ok := s.keys[role]
	if !ok {
		return nil, errors.Wrapf(ErrRole, "%s", role)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, errors.Wrapf(err, "read the %s's public key", role)
	}
	own := []nats.Option{
		s.Dial(),
		nats.Name("ledgerd " + string(role)),
		nats.CustomInboxPrefix(role.InboxPrefix()),
		nats.Nkey(public, pair.Sign),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			s.config.Logger.Debug("a connection in process", "role", role, "error", err)
		}),
	}
	conn, err := nats.Connect("", append(own, opts...)...)
	return conn, errors.Wrapf(err, "connect in process as %s", role)
}

// Dial makes a connection reach this server in process. It brings no rights.
func (s *Server) Dial() nats.Option { return nats.InProcessServer(s) }

// InProcessConn is what a connection in process dials, also after the server
// was run anew.
func (s *Server) InProcessConn() (net.Conn, error) { return s.running().InProcessConn() }

// Health is nil while the server takes arrivals and decisions. Errors:
// [ErrStopped], [ErrDiskFull], [ErrNoWrites], [ErrStoreDamaged]. It never
// waits.
func (s *Server) Health() error {
	if err := s.watch.health(); err != nil {
		return err
	}
	if !s.running().Running() {
		return ErrStopped
	}
	return nil
}

// Stop ends the server: it closes clients, flushes the store and waits for all
// of it. Calling it again does nothing.
func (s *Server) Stop() {
	s.stop.Do(func() {
		s.watch.close() // from here on nobody runs it anew
		shutDown(s.running())
	})
}
