package natsclient_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/internal/datadir"
	"github.com/ledgerd/ledgerd/internal/natsclient"
	"github.com/ledgerd/ledgerd/internal/natsserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds waits that are over at once when all is well.
const patience = 20 * time.Second

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// lines keeps what was logged.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
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

func (l *lines) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// daemon is a data directory whose embedded server runs and is announced.
type daemon struct {
	dir    *datadir.Dir
	server *natsserver.Server
	config natsserver.Config
}

func startDaemon(t *testing.T) *daemon {
	t.Helper()
	dir, err := datadir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{dir: dir, config: natsserver.Config{
		StoreDir: dir.StoreDir(), LedgerID: dir.LedgerID(), Listen: "127.0.0.1:0",
		MaxStoreBytes: 1 << 30, RelaxedSync: true, Logger: (&lines{}).logger(),
	}}
	for role, key := range map[natsdeploy.Role]*string{
		natsdeploy.Operator: &d.config.Operator, natsdeploy.Coordinator: &d.config.Coordinator, natsdeploy.Reader: &d.config.Reader,
	} {
		if *key, err = dir.PublicKey(role); err != nil {
			t.Fatal(err)
		}
	}
	d.run(t)
	if err := dir.Announce(d.server.ClientURL(), "http://127.0.0.1:1", true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.server.Stop()
		if err := dir.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *daemon) run(t *testing.T) {
	t.Helper()
	var err error
	if d.server, err = natsserver.Start(testContext(t), d.config); err != nil {
		t.Fatal(err)
	}
}

// answer serves a subject as the daemon does.
func (d *daemon) answer(t *testing.T, subject string) {
	t.Helper()
	conn, err := d.server.InProcess(natsdeploy.Daemon)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if _, err := conn.Subscribe(subject, func(m *nats.Msg) { _ = m.Respond([]byte("here")) }); err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
}

// connect must work.
func connect(t *testing.T, cfg natsclient.Config) (*nats.Conn, *natsclient.Denials) {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = (&lines{}).logger()
	}
	conn, denials, err := natsclient.Connect(testContext(t), cfg)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	t.Cleanup(conn.Close)
	return conn, denials
}
