package natsserver

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
)

func publicKey(t *testing.T) string {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return public
}

// TestTheDaemonsKeyIsForThisProcessAlone: even the daemon's own key is refused
// on the listener.
func TestTheDaemonsKeyIsForThisProcessAlone(t *testing.T) {
	srv, err := Start(t.Context(), Config{
		StoreDir: filepath.Join(t.TempDir(), "nats"), LedgerID: "test", Listen: "127.0.0.1:0",
		Operator: publicKey(t), Coordinator: publicKey(t), Reader: publicKey(t),
		MaxStoreBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	for _, role := range []natsdeploy.Role{natsdeploy.Daemon, natsdeploy.Provisioner} {
		pair := srv.keys[role]
		public, err := pair.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		key := nats.Nkey(public, pair.Sign)
		if conn, err := nats.Connect(srv.ClientURL(), key); !errors.Is(err, nats.ErrAuthorization) {
			if err == nil {
				conn.Close()
			}
			t.Errorf("%s over the network: %v, want %v", role, err, nats.ErrAuthorization)
		}
		conn, err := nats.Connect("", srv.Dial(), key)
		if err != nil {
			t.Fatalf("%s in process: %v", role, err)
		}
		conn.Close()
	}
}
