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
// Stop ends everything that Start began.
package natsserver

import (
	"context"
	"net"
	"syscall"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
)

// Server is a running embedded server. It is safe for concurrent use.
type Server struct {
	nats   *server.Server
	listen bool
	keys   map[natsdeploy.Role]nkeys.KeyPair // daemon and provisioner; read-only after Start
}

// Start runs the server and returns when it takes connections. It may take
// long when a store has to be rebuilt; ctx ends the attempt.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	s := &Server{listen: cfg.Listen != "", keys: map[natsdeploy.Role]nkeys.KeyPair{}}
	public, err := s.makeKeys(cfg)
	if err != nil {
		return nil, err
	}
	opts, err := cfg.options(public)
	if err != nil {
		return nil, err
	}
	if err := prepareStore(cfg.StoreDir); err != nil {
		return nil, err
	}
	if err := checkAddress(ctx, cfg.Listen); err != nil {
		return nil, err
	}
	if s.nats, err = server.NewServer(opts); err != nil {
		return nil, errors.Mark(err, ErrStart)
	}
	log := newLogger(cfg.Logger)
	s.nats.SetLoggerV2(log, false, false, false)

	if err := s.run(ctx, cfg, log); err != nil {
		s.Stop()
		return nil, err
	}
	log.started()
	return s, nil
}

// makeKeys makes this process's own keys and gives the public ones of every
// role.
func (s *Server) makeKeys(cfg Config) (natsdeploy.Keys, error) {
	public := natsdeploy.Keys{Operator: cfg.Operator, Coordinator: cfg.Coordinator, Reader: cfg.Reader}
	for role, into := range map[natsdeploy.Role]*string{
		natsdeploy.Daemon:      &public.Daemon,
		natsdeploy.Provisioner: &public.Provisioner,
	} {
		pair, err := nkeys.CreateUser()
		if err != nil {
			return public, errors.Wrapf(errors.Mark(err, ErrStart), "make the %s's key", role)
		}
		if *into, err = pair.PublicKey(); err != nil {
			return public, errors.Wrapf(errors.Mark(err, ErrStart), "make the %s's key", role)
		}
		s.keys[role] = pair
	}
	return public, nil
}

// run starts the server and waits until it is ready, has given up or ctx ends.
func (s *Server) run(ctx context.Context, cfg Config, log *logger) error {
	ready := make(chan struct{})
	go func() {
		defer close(ready)
		s.nats.Start() // returns when listening, or after a fatal line
	}()
	select {
	case <-ready:
	case <-ctx.Done():
		s.nats.Shutdown()
		<-ready
		return errors.Wrap(ctx.Err(), "start the NATS server")
	}
	if text, gaveUp := log.complaints(); gaveUp {
		return errors.WithHint(errors.Wrap(ErrStart, text),
			"The log lines above, marked part=nats, say more.")
	}
	lost, err := lostStreams(s.nats, cfg.StoreDir)
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		text, _ := log.complaints()
		return errors.WithHintf(errors.Wrapf(ErrStoreDamaged, "not taken up from %s: %v (%s)", cfg.StoreDir, lost, text),
			"Nothing was changed on disk. Keep a copy of the data directory, then bring back a backup with `ledgerd restore`.")
	}
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
func (s *Server) ClientURL() string {
	if !s.listen {
		return ""
	}
	return s.nats.ClientURL()
}

// InProcess connects as the daemon or the provisioner, without the network.
// The caller closes the connection before it stops the server. Other roles have no
// key here ([ErrRole]); with their own credentials they reach the server
// through [Server.Dial].
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
	}
	conn, err := nats.Connect("", append(own, opts...)...)
	return conn, errors.Wrapf(err, "connect in process as %s", role)
}

// Dial makes a connection reach this server in process. It brings no rights.
func (s *Server) Dial() nats.Option { return nats.InProcessServer(s.nats) }

// Health is nil while the server runs with JetStream. JetStream switches
// itself off when the disk is full or fails.
func (s *Server) Health() error {
	switch {
	case !s.nats.Running():
		return ErrStopped
	case !s.nats.JetStreamEnabled():
		return errors.WithHint(errors.Wrap(ErrStopped, "JetStream switched itself off"),
			"That is what it does when the disk is full or fails. The log lines marked part=nats say why.")
	}
	return nil
}

// Stop ends the server: it closes clients, flushes the store and waits for all
// of it. Calling it again does nothing.
func (s *Server) Stop() {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
}
