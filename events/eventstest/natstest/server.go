// Package natstest runs a NATS server with JetStream inside a test.
//
// Model: one server a test, in process, without a listener unless one is asked
// for. Authority: none; its default configuration lets everybody do everything.
// Failure: whatever does not start fails the test.
package natstest

import (
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

const (
	// maxPayload carries the largest arrival with its headers.
	maxPayload = 8<<20 + 64<<10
	// startPatience is how long a server may take to start. It is only ever
	// waited for when it does not.
	startPatience = 20 * time.Second
)

// Options change the server from its default.
type Options struct {
	Config     string // text of a server's configuration file: accounts, permissions
	SyncAlways bool   // every acknowledged message is on disk
	Listen     bool   // on a free port of loopback too
	MaxStore   int64  // bytes that streams may keep; 0: the disk's
}

// Server is a running server.
type Server struct {
	options Options
	dir     string
	nats    *server.Server
}

// Start runs a server until the test ends.
func Start(t testing.TB, options Options) *Server {
	t.Helper()
	s := &Server{options: options, dir: t.TempDir()}
	s.Run(t)
	t.Cleanup(s.Stop)
	return s
}

// Run starts the server again on the same store, after [Server.Stop].
func (s *Server) Run(t testing.TB) {
	t.Helper()
	opts := &server.Options{}
	if s.options.Config != "" {
		if err := opts.ProcessConfigString(s.options.Config); err != nil {
			t.Fatalf("server configuration: %v", err)
		}
	}
	opts.ServerName = "test"
	opts.NoSigs, opts.NoLog, opts.DisableJetStreamBanner = true, true, true
	opts.JetStream, opts.StoreDir, opts.SyncAlways = true, s.dir, s.options.SyncAlways
	opts.JetStreamMaxStore = s.options.MaxStore
	opts.MaxPayload = maxPayload
	opts.DontListen = !s.options.Listen
	opts.Host, opts.Port = "127.0.0.1", server.RANDOM_PORT
	var err error
	if s.nats, err = server.NewServer(opts); err != nil {
		t.Fatalf("new server: %v", err)
	}
	s.nats.Start()
	if s.options.Listen && !s.nats.ReadyForConnections(startPatience) {
		t.Fatal("the server does not take connections")
	}
}

// Stop ends the server; its store stays until the test ends.
func (s *Server) Stop() {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
}

// Connect gives a connection in process that ends with the test.
func (s *Server) Connect(t testing.TB, options ...nats.Option) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect("", append([]nats.Option{nats.InProcessServer(s)}, options...)...)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// InProcessConn is what a connection in process dials, also after the server
// was run again.
func (s *Server) InProcessConn() (net.Conn, error) { return s.nats.InProcessConn() }

// URL is where a server that listens is reached.
func (s *Server) URL() string { return s.nats.ClientURL() }
