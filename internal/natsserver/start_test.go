package natsserver_test

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/internal/natsserver"
)

// expectStartError starts a server that must not start, for the given reason
// and with a hint.
func expectStartError(t *testing.T, cfg natsserver.Config, want error) error {
	t.Helper()
	srv, err := natsserver.Start(testContext(t), cfg)
	if err == nil {
		srv.Stop()
	}
	if !errors.Is(err, want) {
		t.Fatalf("start: %v, want %v", err, want)
	}
	if len(errors.GetAllHints(err)) == 0 {
		t.Errorf("no hint says what to do about: %v", err)
	}
	return err
}

func TestListenAddresses(t *testing.T) {
	for _, listen := range []string{
		"0.0.0.0:0", "[::]:0", ":4222", "192.0.2.1:4222", "example.org:4222",
		"127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:nats",
	} {
		t.Run(listen, func(t *testing.T) {
			cfg, _, _ := testConfig(t)
			cfg.Listen = listen
			expectStartError(t, cfg, natsserver.ErrListen)
		})
	}
	for _, listen := range []string{"127.0.0.1:0", "localhost:0", "127.9.9.9:0"} {
		t.Run(listen, func(t *testing.T) {
			cfg, outsiders, logs := testConfig(t)
			cfg.Listen = listen
			srv, err := natsserver.Start(testContext(t), cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(srv.Stop)
			l := &ledger{Server: srv, cfg: cfg, outsiders: outsiders, logs: logs}
			l.connect(t, natsdeploy.Reader)
		})
	}
}

func TestATakenPortIsNamed(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cfg, _, _ := testConfig(t)
	cfg.Listen = taken.Addr().String()
	err = expectStartError(t, cfg, natsserver.ErrAddressInUse)
	if !strings.Contains(err.Error(), cfg.Listen) {
		t.Errorf("%v does not name %s", err, cfg.Listen)
	}
}

func TestBadKeysKeepTheServerFromStarting(t *testing.T) {
	for name, spoil := range map[string]func(*natsserver.Config){
		"missing":   func(c *natsserver.Config) { c.Operator = "" },
		"no key":    func(c *natsserver.Config) { c.Operator = "operator" },
		"twice":     func(c *natsserver.Config) { c.Operator = c.Reader },
		"injection": func(c *natsserver.Config) { c.Operator += "\"\nno_auth_user: \"x" },
	} {
		t.Run(name, func(t *testing.T) {
			cfg, _, _ := testConfig(t)
			spoil(&cfg)
			srv, err := natsserver.Start(testContext(t), cfg)
			if err == nil {
				srv.Stop()
			}
			if !errors.Is(err, natsserver.ErrStart) {
				t.Errorf("start: %v, want %v", err, natsserver.ErrStart)
			}
		})
	}
}

func TestAnUnusableStoreDirectory(t *testing.T) {
	t.Run("a file", func(t *testing.T) {
		cfg, _, _ := testConfig(t)
		if err := os.WriteFile(cfg.StoreDir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		expectStartError(t, cfg, natsserver.ErrStart)
	})
	t.Run("a file where JetStream's directory goes", func(t *testing.T) {
		cfg, _, _ := testConfig(t)
		if err := os.MkdirAll(cfg.StoreDir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(cfg.StoreDir, "jetstream"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		expectStartError(t, cfg, natsserver.ErrStart)
	})
}

// TestDamagedStreamsAreNoticed: the server itself logs each of these and goes
// on without the stream.
func TestDamagedStreamsAreNoticed(t *testing.T) {
	for name, damage := range map[string]func(dir string) error{
		"description is gone":    func(dir string) error { return os.Remove(filepath.Join(dir, "meta.inf")) },
		"checksum is gone":       func(dir string) error { return os.Remove(filepath.Join(dir, "meta.sum")) },
		"description is changed": func(dir string) error { return os.WriteFile(filepath.Join(dir, "meta.inf"), []byte(`{}`), 0o600) },
		"checksum is changed":    func(dir string) error { return os.WriteFile(filepath.Join(dir, "meta.sum"), []byte(`0`), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			l := startLedger(t)
			publish(t, l.connect(t, natsdeploy.Coordinator), "ledger.arrivals.c1.cell", "x")
			l.Stop()
			if err := damage(filepath.Join(l.cfg.StoreDir, "jetstream", "LEDGER", "streams", "ARRIVALS")); err != nil {
				t.Fatal(err)
			}
			err := expectStartError(t, l.cfg, natsserver.ErrStoreDamaged)
			if !strings.Contains(err.Error(), "ARRIVALS") {
				t.Errorf("%v does not name the stream", err)
			}
		})
	}
}

// TestALimitBelowWhatIsReserved: shrinking the store limit may not lose a
// stream silently either.
func TestALimitBelowWhatIsReserved(t *testing.T) {
	l := startLedger(t)
	conn, err := l.InProcess(natsdeploy.Provisioner)
	if err != nil {
		t.Fatal(err)
	}
	bounded := arrivalsStream()
	bounded.MaxBytes = 512 << 20
	if _, err := newJetStream(t, conn).UpdateStream(testContext(t), bounded); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	publish(t, l.connect(t, natsdeploy.Coordinator), "ledger.arrivals.c1.cell", "x")
	l.Stop()
	l.cfg.MaxStoreBytes = 1 << 20
	srv, err := natsserver.Start(testContext(t), l.cfg)
	if err != nil {
		if !errors.Is(err, natsserver.ErrStoreDamaged) {
			t.Errorf("start: %v, want %v or a server with the stream", err, natsserver.ErrStoreDamaged)
		}
		return
	}
	defer srv.Stop()
	again := &ledger{Server: srv, cfg: l.cfg, outsiders: l.outsiders, logs: l.logs}
	if arrivals, _ := again.lengths(t); arrivals != 1 {
		t.Errorf("ARRIVALS ends at %d, want 1", arrivals)
	}
}

// TestAStreamCutOffWhileItWasMade: a crash between the directory and its
// description leaves a stream without messages; making it again is the way on.
func TestAStreamCutOffWhileItWasMade(t *testing.T) {
	cfg, outsiders, logs := testConfig(t)
	for _, dir := range []string{"ARRIVALS/msgs", "ARRIVALS/obs", "LEDGER"} {
		if err := os.MkdirAll(filepath.Join(cfg.StoreDir, "jetstream", "LEDGER", "streams", dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	srv, err := natsserver.Start(testContext(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Stop)
	l := &ledger{Server: srv, cfg: cfg, outsiders: outsiders, logs: logs}
	l.makeStreams(t)
	publish(t, l.connect(t, natsdeploy.Coordinator), "ledger.arrivals.c1.cell", "x")
}

// TestRestart: a stopped server started again on the same directory has all
// that was acknowledged, under the same keys, and is quiet about it.
func TestRestart(t *testing.T) {
	cfg, outsiders, logs := testConfig(t)
	cfg.RelaxedSync = false
	for start := uint64(1); start <= 3; start++ {
		srv, err := natsserver.Start(testContext(t), cfg)
		if err != nil {
			t.Fatal(err)
		}
		l := &ledger{Server: srv, cfg: cfg, outsiders: outsiders, logs: logs}
		if err := l.Health(); err != nil {
			t.Errorf("start %d: %v", start, err)
		}
		if start == 1 {
			l.makeStreams(t)
		}
		if ack := publish(t, l.connect(t, natsdeploy.Coordinator), "ledger.arrivals.c1.cell", "x"); ack.Sequence != start {
			t.Errorf("start %d: stored at %d", start, ack.Sequence)
		}
		l.Stop()
		l.Stop() // harmless
		if err := l.Health(); !errors.Is(err, natsserver.ErrStopped) {
			t.Errorf("stopped: %v, want %v", err, natsserver.ErrStopped)
		}
	}
	if logs.String() != "" {
		t.Errorf("a clean start and stop log at info level:\n%s", logs)
	}
}

func TestACancelledStart(t *testing.T) {
	cfg, _, _ := testConfig(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	srv, err := natsserver.Start(ctx, cfg)
	if err == nil {
		srv.Stop()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("start: %v, want %v", err, context.Canceled)
	}
}

// cancelAt ends a context when the server logs its n-th line.
type cancelAt struct {
	slog.Handler
	left   *atomic.Int64
	cancel context.CancelFunc
}

func (c cancelAt) Enabled(context.Context, slog.Level) bool { return true }
func (c cancelAt) WithAttrs([]slog.Attr) slog.Handler       { return c }
func (c cancelAt) Handle(context.Context, slog.Record) error {
	if c.left.Add(-1) == 0 {
		c.cancel()
	}
	return nil
}

// TestAStartThatIsCancelledMeanwhile: wherever a start is when its context ends,
// nothing of it goes on: the next start has the store and the port at once.
func TestAStartThatIsCancelledMeanwhile(t *testing.T) {
	l := startLedger(t)
	publish(t, l.connect(t, natsdeploy.Coordinator), "ledger.arrivals.c1.cell", "x")
	cfg := l.cfg
	cfg.Listen = strings.TrimPrefix(l.ClientURL(), "nats://")
	l.Stop()
	cancelled := 0
	for line := int64(1); ; line++ {
		ctx, cancel := context.WithCancel(testContext(t))
		left := &atomic.Int64{}
		left.Store(line)
		cfg.Logger = slog.New(cancelAt{Handler: slog.DiscardHandler, left: left, cancel: cancel})
		srv, err := natsserver.Start(ctx, cfg)
		cancel()
		if err == nil {
			srv.Stop()
			break // the start has fewer lines
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled at line %d: %v, want %v", line, err, context.Canceled)
		}
		cancelled++
	}
	if cancelled < 10 {
		t.Errorf("%d starts were cancelled: the test tests little", cancelled)
	}
	cfg.Logger = slog.New(slog.DiscardHandler)
	srv, err := natsserver.Start(testContext(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	again := &ledger{Server: srv, cfg: cfg, outsiders: l.outsiders, logs: l.logs}
	if arrivals, _ := again.lengths(t); arrivals != 1 {
		t.Errorf("ARRIVALS ends at %d, want 1", arrivals)
	}
}

// TestWithoutAListener: the server works in process alone.
func TestWithoutAListener(t *testing.T) {
	cfg, outsiders, logs := testConfig(t)
	cfg.Listen = ""
	srv, err := natsserver.Start(testContext(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Stop)
	if url := srv.ClientURL(); url != "" {
		t.Errorf("ClientURL is %q", url)
	}
	l := &ledger{Server: srv, cfg: cfg, outsiders: outsiders, logs: logs}
	l.makeStreams(t)
	operator := outsiders[natsdeploy.Operator]
	conn, err := nats.Connect("", srv.Dial(), nats.Nkey(operator.public, operator.pair.Sign), nats.CustomInboxPrefix(natsdeploy.Operator.InboxPrefix()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	publish(t, conn, "ledger.arrivals.c1.seal", "x")
}

// TestTheStoreLimit: the streams together keep no more than they may.
func TestTheStoreLimit(t *testing.T) {
	cfg, outsiders, logs := testConfig(t)
	cfg.MaxStoreBytes = 1 << 20
	srv, err := natsserver.Start(testContext(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Stop)
	l := &ledger{Server: srv, cfg: cfg, outsiders: outsiders, logs: logs}
	l.makeStreams(t)
	js := newJetStream(t, l.connect(t, natsdeploy.Coordinator))
	body := make([]byte, 300<<10)
	for i := range 10 {
		_, err := js.Publish(testContext(t), "ledger.arrivals.c1.cell", body)
		var api *jetstream.APIError
		if errors.As(err, &api) {
			if i < 2 {
				t.Errorf("arrival %d of 300 KiB was refused: %v", i+1, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Error("3 MiB were stored under a limit of 1 MiB")
}
