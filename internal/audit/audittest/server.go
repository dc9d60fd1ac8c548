package audittest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/natsserver"
	"github.com/ledgerd/ledgerd/internal/simci"
	"github.com/ledgerd/ledgerd/internal/writer"
)

const (
	// patience is how long a test waits for what takes milliseconds. It is
	// only ever reached by a failing test.
	patience = time.Minute
	// StoreBytes is room for both streams.
	StoreBytes = 4 << 30
	// LedgerID is the ledger's name.
	LedgerID = "0123456789abcdef0123456789abcdef"
)

// WithPatience is a context for what takes milliseconds.
func WithPatience(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// Server is a running embedded server with both streams.
type Server struct {
	*natsserver.Server
	t        testing.TB
	operator nkeys.KeyPair
	reader   nkeys.KeyPair
}

// Start runs a server on a store directory and makes the streams that are
// missing. It ends with the test, or by Stop.
func Start(t testing.TB, storeDir string) *Server {
	t.Helper()
	s := Bare(t, storeDir)
	js := s.js(s.InProcessAs(natsdeploy.Provisioner))
	if err := jetstream.Provision(WithPatience(t), js, jetstream.Limits{LedgerID: LedgerID, Replicas: 1, StoreBytes: StoreBytes}); err != nil {
		t.Fatal(err)
	}
	return s
}

// Bare runs a server on a store directory and makes nothing.
func Bare(t testing.TB, storeDir string) *Server {
	t.Helper()
	s, err := Try(t, storeDir)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return s
}

// Try is Bare for a store directory that may be damaged.
func Try(t testing.TB, storeDir string) (*Server, error) {
	t.Helper()
	s := &Server{t: t, operator: user(t), reader: user(t)}
	server, err := natsserver.Start(WithPatience(t), natsserver.Config{
		StoreDir: storeDir, LedgerID: LedgerID, MaxStoreBytes: StoreBytes, RelaxedSync: true,
		Operator: public(t, s.operator), Coordinator: public(t, user(t)), Reader: public(t, s.reader),
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	s.Server = server
	t.Cleanup(server.Stop)
	return s, nil
}

func user(t testing.TB) nkeys.KeyPair {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func public(t testing.TB, pair nkeys.KeyPair) string {
	t.Helper()
	key, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// InProcessAs connects as the daemon or the provisioner.
func (s *Server) InProcessAs(role natsdeploy.Role) *nats.Conn {
	s.t.Helper()
	conn, err := s.InProcess(role)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(conn.Close)
	return conn
}

// As connects as the operator or the reader.
func (s *Server) As(role natsdeploy.Role) *nats.Conn {
	s.t.Helper()
	pair := map[natsdeploy.Role]nkeys.KeyPair{natsdeploy.Operator: s.operator, natsdeploy.Reader: s.reader}[role]
	conn, err := nats.Connect("", s.Dial(), nats.CustomInboxPrefix(role.InboxPrefix()), nats.Nkey(public(s.t, pair), pair.Sign))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(conn.Close)
	return conn
}

func (s *Server) js(conn *nats.Conn) natsjs.JetStream {
	s.t.Helper()
	js, err := natsjs.New(conn)
	if err != nil {
		s.t.Fatal(err)
	}
	return js
}

// Logs are both streams as the daemon has them.
func (s *Server) Logs() (arrivals, ledger events.Log) {
	s.t.Helper()
	js := s.js(s.InProcessAs(natsdeploy.Daemon))
	return jetstream.Open(js, events.ArrivalsStream), jetstream.Open(js, events.LedgerStream)
}

// ReaderLogs are both streams as a reader has them.
func (s *Server) ReaderLogs() (arrivals, ledger events.Log) {
	s.t.Helper()
	js, err := natsjs.NewWithAPIPrefix(s.As(natsdeploy.Reader), natsdeploy.ReaderAPI)
	if err != nil {
		s.t.Fatal(err)
	}
	return jetstream.OpenDirect(js, events.ArrivalsStream), jetstream.OpenDirect(js, events.LedgerStream)
}

// Source is the ledger as a reader has it.
func (s *Server) Source() audit.Source { return audit.Live(s.ReaderLogs()) }

// Publish stores arrivals, as an operator.
func (s *Server) Publish(batch []events.Outgoing) {
	s.t.Helper()
	if _, err := jetstream.NewPublisher(s.As(natsdeploy.Operator)).PublishAll(WithPatience(s.t), batch); err != nil {
		s.t.Fatalf("%+v", err)
	}
}

// Decide runs a writer until every arrival is decided.
func (s *Server) Decide() {
	s.t.Helper()
	arrivals, ledger := s.Logs()
	Decide(s.t, arrivals, ledger)
}

// Decide runs a writer until every arrival is decided.
func Decide(t testing.TB, arrivals, ledger events.Log) {
	t.Helper()
	ctx, cancel := context.WithCancel(WithPatience(t))
	defer cancel()
	tail, err := arrivals.Tail(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w, err := writer.New(writer.Config{Arrivals: arrivals, Ledger: ledger, Epoch: "test", Host: "test"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	cursor, err := ledger.Read(ctx, tail.Last)
	if err != nil {
		t.Fatal(err)
	}
	defer cursor.Close()
	if _, err := cursor.Next(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// Arrivals makes the messages of a simulated CI, and some that are not even
// readable.
func Arrivals(t testing.TB, ci *simci.CI) []events.Outgoing {
	t.Helper()
	var batch []events.Outgoing
	for a := range ci.Arrivals() {
		out, err := events.NewArrival(a.Campaign, a.Kind, a.Body, a.ID, "/test", time.Unix(1, 0))
		if err != nil {
			t.Fatal(err)
		}
		batch = append(batch, out)
	}
	first := ci.Campaigns()[0]
	return append(batch, bare("ledger.arrivals."+first+".odd", "{}"), bare("ledger.arrivals."+first+".seal", `{"actor":"no header"}`))
}

// Unreadable counts what Arrivals adds to a simulated CI's plan.
const Unreadable = 2

// bare is a message with no header but the one that every publication has.
func bare(subject, body string) events.Outgoing {
	return events.Outgoing{Subject: subject, Header: events.Header{events.HeaderMsgID: {subject}}, Data: []byte(body)}
}

// Store makes a decided ledger in a store directory, and stops the server.
func Store(t testing.TB, storeDir string, config simci.Config) *simci.CI {
	t.Helper()
	ci, err := simci.New(config)
	if err != nil {
		t.Fatal(err)
	}
	s := Start(t, storeDir)
	s.Publish(Arrivals(t, ci))
	s.Decide()
	s.Stop()
	return ci
}
