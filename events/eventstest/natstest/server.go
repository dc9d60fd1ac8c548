// Package natstest runs a NATS server with JetStream inside a test.
//
// Model: one server a test, in process, without a listener unless one is asked
// for. Authority: none; its default configuration lets everybody do everything.
// Failure: whatever does not start fails the test.
package natstest

import (
	"net"
	"sync"
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

	mu   sync.Mutex
	nats *server.Server // the one that runs, or ran last
}

// Start runs a server until the test ends.
func Start(t testing.TB, options Options) *Server {
	t.Helper()
	s := &Server{options: options, dir: t.TempDir()}
	t.Cleanup(s.Stop)
	if s.Run(t); s.running() == nil {
		t.FailNow()
	}
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
	next, err := server.NewServer(opts)
	if err != nil {
		t.Errorf("new server: %v", err) // not Fatal: a test may run it again beside itself
		return
	}
	next.Start()
	if s.options.Listen && !next.ReadyForConnections(startPatience) {
		t.Error("the server does not take connections")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nats = next // from here on connections reach it
}

func (s *Server) running() *server.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nats
}

// Stop ends the server; its store stays until the test ends.
func (s *Server) Stop() {
	last := s.running()
	if last == nil {
		return // it never started
	}
	last.Shutdown()
	last.WaitForShutdown()
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
func (s *Server) InProcessConn() (net.Conn, error) { return s.running().InProcessConn() }

// URL is where a server that listens is reached.
func (s *Server) URL() string { return s.running().ClientURL() }
