package natsserver_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/internal/natsserver"
)

// patience bounds every wait of these tests; nothing waits that long when all
// is well.
const patience = 20 * time.Second

const testStoreBytes = 1 << 30

// outsider is a role with a key of its own.
type outsider struct {
	role   natsdeploy.Role
	pair   nkeys.KeyPair
	public string
}

func newOutsider(t testing.TB, role natsdeploy.Role) outsider {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return outsider{role, pair, public}
}

// ledger is a server with both streams, and a key for each role outside.
type ledger struct {
	*natsserver.Server
	cfg       natsserver.Config
	outsiders map[natsdeploy.Role]outsider
	logs      *lines
}

// lines keeps what was logged.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func testConfig(t testing.TB) (natsserver.Config, map[natsdeploy.Role]outsider, *lines) {
	t.Helper()
	outsiders := map[natsdeploy.Role]outsider{}
	for _, role := range natsdeploy.Outside() {
		outsiders[role] = newOutsider(t, role)
	}
	logs := &lines{}
	return natsserver.Config{
		StoreDir:      filepath.Join(t.TempDir(), "nats"),
		LedgerID:      "test",
		Listen:        "127.0.0.1:0",
		Operator:      outsiders[natsdeploy.Operator].public,
		Coordinator:   outsiders[natsdeploy.Coordinator].public,
		Reader:        outsiders[natsdeploy.Reader].public,
		MaxStoreBytes: testStoreBytes,
		RelaxedSync:   true, // these tests cut no power
		Logger:        slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelInfo})),
	}, outsiders, logs
}

// startLedger runs a server on the network and makes both streams as the
// provisioner.
func startLedger(t testing.TB) *ledger {
	t.Helper()
	cfg, outsiders, logs := testConfig(t)
	srv, err := natsserver.Start(testContext(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Stop)
	l := &ledger{Server: srv, cfg: cfg, outsiders: outsiders, logs: logs}
	l.makeStreams(t)
	return l
}

func (l *ledger) makeStreams(t testing.TB) {
	t.Helper()
	conn, err := l.InProcess(natsdeploy.Provisioner)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	for _, stream := range []jetstream.StreamConfig{arrivalsStream(), ledgerStream()} {
		if _, err := js.CreateStream(testContext(t), stream); err != nil {
			t.Fatalf("create %s: %v", stream.Name, err)
		}
	}
}

func arrivalsStream() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:        "ARRIVALS",
		Subjects:    []string{"ledger.arrivals.>"},
		Storage:     jetstream.FileStorage,
		Discard:     jetstream.DiscardNew,
		DenyDelete:  true,
		DenyPurge:   true,
		AllowDirect: true,
	}
}

func ledgerStream() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:               "LEDGER",
		Subjects:           []string{"ledger.decisions.>"},
		Storage:            jetstream.FileStorage,
		Discard:            jetstream.DiscardNew,
		DenyDelete:         true,
		DenyPurge:          true,
		AllowDirect:        true,
		AllowAtomicPublish: true,
		RePublish:          &jetstream.RePublish{Source: "ledger.decisions.>", Destination: "ledger.committed.>"},
	}
}

// connect joins over the network with the role's own key.
func (l *ledger) connect(t testing.TB, role natsdeploy.Role, opts ...nats.Option) *nats.Conn {
	t.Helper()
	who := l.outsiders[role]
	own := []nats.Option{
		nats.Nkey(who.public, who.pair.Sign),
		nats.CustomInboxPrefix(role.InboxPrefix()),
		// Refusals are asserted by the answers, and by refusals() where the
		// server's reason matters; the default handler prints.
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}
	conn, err := nats.Connect(l.ClientURL(), append(own, opts...)...)
	if err != nil {
		t.Fatalf("connect as %s: %v", role, err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// daemon joins in process.
func (l *ledger) daemon(t testing.TB) *nats.Conn {
	t.Helper()
	conn, err := l.InProcess(natsdeploy.Daemon, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

func (l *ledger) daemonJetStream(t testing.TB) jetstream.JetStream {
	t.Helper()
	return newJetStream(t, l.daemon(t))
}

func newJetStream(t testing.TB, conn *nats.Conn) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// lengths gives the last sequences of both streams, as the daemon sees them.
func (l *ledger) lengths(t testing.TB) (arrivals, decisions uint64) {
	t.Helper()
	js := l.daemonJetStream(t)
	return lastSeq(t, js, "ARRIVALS"), lastSeq(t, js, "LEDGER")
}

func lastSeq(t testing.TB, js jetstream.JetStream, name string) uint64 {
	t.Helper()
	stream, err := js.Stream(testContext(t), name)
	if err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	return stream.CachedInfo().State.LastSeq
}

// testContext ends with the test.
func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}
