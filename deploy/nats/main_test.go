package natsdeploy_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
	"go.uber.org/goleak"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/internal/natsclient"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds waits that are over as soon as a cluster has its leaders.
const patience = time.Minute

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// site is where the files of this folder are put to use: keys, certificates,
// and the servers that run.
type site struct {
	dir     string // CA, certificates, seeds
	servers []*server.Server
}

// variables of the roles, as keys.env.example has them.
var variables = map[natsdeploy.Role]string{
	natsdeploy.Daemon:      "LEDGERD_DAEMON_NKEY",
	natsdeploy.Provisioner: "LEDGERD_PROVISIONER_NKEY",
	natsdeploy.Operator:    "LEDGERD_OPERATOR_NKEY",
	natsdeploy.Coordinator: "LEDGERD_COORDINATOR_NKEY",
	natsdeploy.Reader:      "LEDGERD_READER_NKEY",
}

// prepare makes a key for each role and certificates, and sets the variables
// that all servers share.
func prepare(t *testing.T) *site {
	t.Helper()
	s := &site{dir: t.TempDir()}
	makeCertificates(t, s.dir)
	for role, variable := range variables {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		public, err := pair.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		seed, err := pair.Seed()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.seed(role), seed, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv(variable, public)
	}
	t.Setenv("LEDGERD_DAEMON_CONNECTION", natsdeploy.Standard)
	t.Setenv("LEDGERD_MAX_FILE_STORE", "1GB")
	t.Setenv("LEDGERD_TLS_CERT", s.file("server.pem"))
	t.Setenv("LEDGERD_TLS_KEY", s.file("server.key"))
	t.Setenv("LEDGERD_TLS_CA", s.file("ca.pem"))
	return s
}

func (s *site) file(name string) string { return filepath.Join(s.dir, name) }

func (s *site) seed(role natsdeploy.Role) string { return s.file(string(role) + ".nk") }

// run starts a server from a file of this folder, with the variables as they
// are set.
func (s *site) run(t *testing.T, file string) *server.Server {
	t.Helper()
	opts := &server.Options{}
	if err := opts.ProcessConfigFile(file); err != nil {
		t.Fatal(err)
	}
	opts.NoSigs, opts.NoLog, opts.DisableJetStreamBanner = true, true, true // as no program of its own
	srv, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.servers = append(s.servers, srv)
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	srv.Start()
	if !srv.ReadyForConnections(patience) {
		t.Fatal("the server takes no connections")
	}
	return srv
}

// freeAddress is one of loopback that nobody listens at just now.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }() // it took no connection
	return listener.Addr().String()
}

// config connects as a role, as both binaries do.
func (s *site) config(role natsdeploy.Role, url string) natsclient.Config {
	return natsclient.Config{
		URL: url, Creds: s.seed(role), CA: s.file("ca.pem"), Role: role, Name: "test",
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
}

func (s *site) connect(t *testing.T, role natsdeploy.Role, url string) *nats.Conn {
	t.Helper()
	conn, denials, err := natsclient.Connect(testContext(t), s.config(role, url))
	if err != nil {
		t.Fatalf("%s: %+v", role, err)
	}
	t.Cleanup(func() {
		conn.Close()
		if err := denials.Err(); err != nil {
			t.Errorf("%s: %v", role, err)
		}
	})
	return conn
}

func (s *site) jetStream(t *testing.T, role natsdeploy.Role, url string) natsjs.JetStream {
	t.Helper()
	js, err := natsjs.New(s.connect(t, role, url))
	if role == natsdeploy.Reader {
		js, err = natsjs.NewWithAPIPrefix(s.connect(t, role, url), natsdeploy.ReaderAPI)
	}
	if err != nil {
		t.Fatal(err)
	}
	return js
}
