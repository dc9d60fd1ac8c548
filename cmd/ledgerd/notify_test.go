package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSystemdIsTold: the daemon says when it is ready and when it stops, as a
// unit of Type=notify needs.
func TestSystemdIsTold(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	t.Setenv("NOTIFY_SOCKET", name)
	daemon := startProcess(t, "--data-dir", t.TempDir()).awaitReady(t)
	wantNotice(t, socket, "READY=1")
	daemon.stop(t)
	wantNotice(t, socket, "STOPPING=1")
}

func wantNotice(t *testing.T, socket *net.UnixConn, want string) {
	t.Helper()
	if err := socket.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	notice := make([]byte, 256)
	n, err := socket.Read(notice)
	if err != nil || string(notice[:n]) != want {
		t.Errorf("systemd is told %q (%v), want %q", notice[:n], err, want)
	}
}

// TestMountedToken: the modes that orchestrators mount are taken with a
// warning, one that others may change is not.
func TestMountedToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, taken := range map[os.FileMode]bool{0o400: true, 0o440: true, 0o444: true, 0o644: true, 0o660: false, 0o646: false} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		_, stderr, code := runBinary(t, "", "ledgerd", "check", "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0", "--nats-listen", "127.0.0.1:0", "--auth-token-file", file)
		if (code == 0) != taken {
			t.Errorf("mode %04o: code %d, stderr %s", mode, code, stderr)
		}
	}
}
