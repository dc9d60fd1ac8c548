package datadir_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/google/go-cmp/cmp"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/internal/datadir"
)

// TestConnection follows a daemon from start to end, as its clients see it.
func TestConnection(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	_, err := datadir.ReadConnection(dir)
	if !errors.Is(err, datadir.ErrNotRunning) || !strings.Contains(err.Error(), "is held by process") {
		t.Errorf("held, serving nobody: %v", err)
	}
	if err := d.Announce("nats://127.0.0.1:4222", "http://127.0.0.1:8080", true); err != nil {
		t.Fatal(err)
	}
	want := datadir.Connection{
		NATSURL: "nats://127.0.0.1:4222", HTTPURL: "http://127.0.0.1:8080", LedgerID: d.LedgerID(), PID: os.Getpid(),
		Credentials: map[natsdeploy.Role]string{
			natsdeploy.Operator:    "credentials/operator.nk",
			natsdeploy.Coordinator: "credentials/coordinator.nk",
			natsdeploy.Reader:      "credentials/reader.nk",
		},
	}
	wantConnection(t, dir, want)
	if err := d.Announce("nats://cluster:4222", "http://127.0.0.1:8080", false); err != nil {
		t.Fatal(err)
	}
	want.NATSURL, want.Credentials = "nats://cluster:4222", map[natsdeploy.Role]string{}
	wantConnection(t, dir, want)
	closeDir(t, d)
	if _, err := datadir.ReadConnection(dir); !errors.Is(err, datadir.ErrNotRunning) || len(errors.GetAllHints(err)) == 0 {
		t.Errorf("after the end: %v", err)
	}
}

func wantConnection(t *testing.T, dir string, want datadir.Connection) {
	t.Helper()
	got, err := datadir.ReadConnection(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDamagedConnection(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	defer closeDir(t, d)
	for _, content := range []string{"", "{", `{"surprise":1}`} {
		write(t, filepath.Join(dir, "connection.json"), content)
		if _, err := datadir.ReadConnection(dir); !errors.Is(err, datadir.ErrDamaged) || len(errors.GetAllHints(err)) == 0 {
			t.Errorf("%q: %v", content, err)
		}
	}
}
