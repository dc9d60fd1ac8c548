package natsclient_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/internal/datadir"
	"github.com/ledgerd/ledgerd/internal/natsclient"
)

// TestByDataDir: every outside role finds the daemon and can ask it.
func TestByDataDir(t *testing.T) {
	d := startDaemon(t)
	d.answer(t, "ledger.decision.*")
	for _, role := range natsdeploy.Outside() {
		conn, denials := connect(t, natsclient.Config{DataDir: d.dir.Path(), Role: role, Name: "test"})
		reply, err := conn.RequestWithContext(testContext(t), "ledger.decision.1", nil)
		if err != nil || string(reply.Data) != "here" {
			t.Errorf("%s: %v, %v", role, err, denials.Err())
		}
		if err := denials.Err(); err != nil {
			t.Errorf("%s: %v", role, err)
		}
		if !strings.HasPrefix(conn.NewInbox(), role.InboxPrefix()+".") {
			t.Errorf("%s gets answers at %s", role, conn.NewInbox())
		}
	}
}

// TestByURL: the same with an address and the seed's file.
func TestByURL(t *testing.T) {
	d := startDaemon(t)
	d.answer(t, "ledger.decision.*")
	for _, role := range natsdeploy.Outside() {
		conn, _ := connect(t, natsclient.Config{
			DataDir: "does-not-matter", URL: d.server.ClientURL(), Creds: datadir.CredentialFile(d.dir.Path(), role), Role: role,
		})
		if _, err := conn.RequestWithContext(testContext(t), "ledger.decision.1", nil); err != nil {
			t.Errorf("%s: %v", role, err)
		}
	}
}

// refused tries what must fail, and checks that the error helps.
func refused(t *testing.T, cfg natsclient.Config, want error, says ...string) {
	t.Helper()
	if cfg.Role == "" {
		cfg.Role = natsdeploy.Operator
	}
	cfg.Logger = (&lines{}).logger()
	conn, _, err := natsclient.Connect(testContext(t), cfg)
	if err == nil {
		conn.Close()
	}
	if !errors.Is(err, want) {
		t.Fatalf("%v, want %v", err, want)
	}
	hints := strings.Join(errors.GetAllHints(err), "\n")
	if hints == "" {
		t.Errorf("no hint: %v", err)
	}
	for _, part := range says {
		if !strings.Contains(err.Error()+hints, part) {
			t.Errorf("%v (%s) does not say %q", err, hints, part)
		}
	}
}

func TestNoDaemon(t *testing.T) {
	refused(t, natsclient.Config{DataDir: t.TempDir()}, datadir.ErrNoLedger)
	refused(t, natsclient.Config{}, natsclient.ErrConfig)
	dir, err := datadir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	refused(t, natsclient.Config{DataDir: dir.Path()}, datadir.ErrNotRunning)
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	refused(t, natsclient.Config{DataDir: dir.Path()}, datadir.ErrNotRunning, "ledgerd serve --data-dir")
}

func TestNoCredentialsInDataDir(t *testing.T) {
	d := startDaemon(t)
	for _, role := range []natsdeploy.Role{natsdeploy.Daemon, natsdeploy.Provisioner} {
		refused(t, natsclient.Config{DataDir: d.dir.Path(), Role: role}, natsclient.ErrCredentials, string(role))
	}
	seed := datadir.CredentialFile(d.dir.Path(), natsdeploy.Operator)
	if err := os.Chmod(seed, 0o644); err != nil {
		t.Fatal(err)
	}
	refused(t, natsclient.Config{DataDir: d.dir.Path()}, datadir.ErrExposed)
	if err := os.Remove(seed); err != nil {
		t.Fatal(err)
	}
	refused(t, natsclient.Config{DataDir: d.dir.Path()}, natsclient.ErrCredentials)
	if err := d.dir.Announce("nats://u:secret@elsewhere:4222", "", false); err != nil {
		t.Fatal(err)
	}
	refused(t, natsclient.Config{DataDir: d.dir.Path()}, natsclient.ErrCredentials, "--nats-url nats://elsewhere:4222")
}

// TestForeignPathInConnection: a seed is looked for below the directory alone.
func TestForeignPathInConnection(t *testing.T) {
	d := startDaemon(t)
	file := filepath.Join(d.dir.Path(), "connection.json")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(content), "credentials/operator.nk", "../operator.nk", 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, natsclient.Config{DataDir: d.dir.Path()}, natsclient.ErrCredentials, "../operator.nk")
}

func TestBadFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("SUNOSEEDATALL"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []natsclient.Config{
		{URL: "nats://127.0.0.1:1", Creds: file},
		{URL: "nats://127.0.0.1:1", Creds: file + ".absent"},
		{URL: "nats://127.0.0.1:1", CA: file},
		{URL: "nats://127.0.0.1:1", CA: file + ".absent"},
	} {
		refused(t, cfg, natsclient.ErrCredentials, file)
	}
	_, _, err := natsclient.Connect(testContext(t), natsclient.Config{URL: "nats://127.0.0.1:1", Creds: file})
	if strings.Contains(err.Error(), "NOSEED") {
		t.Errorf("the file is repeated: %v", err)
	}
	refused(t, natsclient.Config{DataDir: "d", Creds: file}, natsclient.ErrConfig)
	refused(t, natsclient.Config{DataDir: "d", CA: file}, natsclient.ErrConfig)
}

func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	refused(t, natsclient.Config{URL: "nats://user:secret@" + address}, natsclient.ErrUnreachable, "connect to nats://"+address)
	refused(t, natsclient.Config{URL: "user:secret@" + address + ",nats://" + address}, natsclient.ErrUnreachable, "connect to "+address+",nats://"+address)
}

// TestSilentServer: who takes the connection and says nothing does not hold
// up whoever gives up.
func TestSilentServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	accepted := make(chan net.Conn, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			t.Errorf("accept: %v", err)
		}
		accepted <- conn
		cancel()
	}()
	began := time.Now()
	_, _, err = natsclient.Connect(ctx, natsclient.Config{URL: "nats://" + listener.Addr().String(), Role: natsdeploy.Reader, Logger: (&lines{}).logger()})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("gave up after %s", took)
	}
	_ = (<-accepted).Close() // the client closed it first
}

func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := natsclient.Connect(ctx, natsclient.Config{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestNotAuthorised: a key that the server does not know, or none.
func TestNotAuthorised(t *testing.T) {
	d := startDaemon(t)
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	stranger := filepath.Join(t.TempDir(), "stranger.nk")
	if err := os.WriteFile(stranger, seed, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, natsclient.Config{URL: d.server.ClientURL(), Creds: stranger}, natsclient.ErrNotAuthorised, "--nats-creds")
	refused(t, natsclient.Config{URL: d.server.ClientURL()}, natsclient.ErrNotAuthorised)
	if err := os.WriteFile(datadir.CredentialFile(d.dir.Path(), natsdeploy.Operator), seed, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, natsclient.Config{DataDir: d.dir.Path()}, natsclient.ErrNotAuthorised, "Restart it")
}

// TestServerWithoutKeys: a server that asks for no key is not a ledger's.
func TestServerWithoutKeys(t *testing.T) {
	d := startDaemon(t)
	open, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	open.Start()
	defer open.WaitForShutdown()
	defer open.Shutdown()
	refused(t, natsclient.Config{URL: open.ClientURL(), Creds: datadir.CredentialFile(d.dir.Path(), natsdeploy.Operator)},
		natsclient.ErrNotAuthorised, "accounts.conf")
}

// TestFull: an account's limit is told from a server that is not there.
func TestFull(t *testing.T) {
	opts := &server.Options{}
	if err := opts.ProcessConfigString(`accounts { A { limits { max_connections: 1 }, users: [{user: u, password: p}] } }`); err != nil {
		t.Fatal(err)
	}
	opts.Host, opts.Port, opts.NoSigs, opts.NoLog = "127.0.0.1", server.RANDOM_PORT, true, true
	full, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	full.Start()
	defer full.WaitForShutdown()
	defer full.Shutdown()
	at := strings.Replace(full.ClientURL(), "nats://", "nats://u:p@", 1)
	first, err := nats.Connect(at)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	refused(t, natsclient.Config{URL: at}, natsclient.ErrUnreachable, "max_connections")
}

// TestExposedCredsAreWarnedOf: the mode of a mounted secret is not always the
// user's to choose.
func TestExposedCredsAreWarnedOf(t *testing.T) {
	d := startDaemon(t)
	file := datadir.CredentialFile(d.dir.Path(), natsdeploy.Reader)
	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o644: true} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		logs := &lines{}
		connect(t, natsclient.Config{URL: d.server.ClientURL(), Creds: file, Role: natsdeploy.Reader, Logger: logs.logger()})
		if got := strings.Contains(logs.String(), "open to other users"); got != warned {
			t.Errorf("mode %o: %s", mode, logs)
		}
	}
}

// TestReconnect: a server that comes back is found again, and it is logged.
func TestReconnect(t *testing.T) {
	d := startDaemon(t)
	logs := &lines{}
	conn, _ := connect(t, natsclient.Config{DataDir: d.dir.Path(), Role: natsdeploy.Reader, Logger: logs.logger()})
	states := conn.StatusChanged(nats.RECONNECTING, nats.CONNECTED)
	d.config.Listen = strings.TrimPrefix(d.server.ClientURL(), "nats://")
	d.server.Stop()
	wantStatus(t, states, nats.RECONNECTING)
	d.run(t)
	d.answer(t, "ledger.decision.*")
	wantStatus(t, states, nats.CONNECTED)
	if _, err := conn.RequestWithContext(testContext(t), "ledger.decision.1", nil); err != nil {
		t.Error(err)
	}
	if text := logs.String(); !strings.Contains(text, "connection to NATS lost") {
		t.Errorf("logged %s", text)
	}
}

func wantStatus(t *testing.T, states chan nats.Status, want nats.Status) {
	t.Helper()
	select {
	case got := <-states:
		if got != want {
			t.Fatalf("the connection is %s, want %s", got, want)
		}
	case <-testContext(t).Done():
		t.Fatalf("the connection never was %s", want)
	}
}
