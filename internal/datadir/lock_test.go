package datadir_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/datadir"
)

// TestHeldByAnotherProcess: whoever comes second is told who holds the
// directory, where that one listens, and what to do.
func TestHeldByAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	other := startHolder(t, dir)
	for name, open := range map[string]func(string) (*datadir.Dir, error){"open": datadir.Open, "open existing": datadir.OpenExisting} {
		_, err := open(dir)
		if !errors.Is(err, datadir.ErrHeld) {
			t.Fatalf("%s: %v", name, err)
		}
		for _, want := range []string{dir, fmt.Sprintf("process %d on ", other.cmd.Process.Pid), "nats://127.0.0.1:1", "http://127.0.0.1:2"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %q", name, err, want)
			}
		}
		if len(errors.GetAllHints(err)) == 0 {
			t.Errorf("%s: no hint", name)
		}
	}
	other.leave(t)
	d := open(t, dir)
	if got := entries(t, dir); strings.Contains(got, "connection.json") {
		t.Errorf("the other one left its announcement: %s", got)
	}
	closeDir(t, d)
}

// TestHeldWithinTheProcess: the lock is between holders, not processes.
func TestHeldWithinTheProcess(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	_, err := datadir.Open(dir)
	if !errors.Is(err, datadir.ErrHeld) || !strings.Contains(err.Error(), fmt.Sprintf("process %d ", os.Getpid())) {
		t.Errorf("second holder: %v", err)
	}
	closeDir(t, d)
	closeDir(t, d) // again does nothing
	closeDir(t, open(t, dir))
}

// TestHolderUnknown: between taking the lock and saying who took it nobody can
// be named.
func TestHolderUnknown(t *testing.T) {
	dir := t.TempDir()
	startHolder(t, dir)
	for _, content := range []string{"", "{", `{"pid":1,"surprise":true}`} {
		write(t, filepath.Join(dir, "holder.json"), content)
		_, err := datadir.Open(dir)
		if !errors.Is(err, datadir.ErrHeld) || !strings.Contains(err.Error(), "has not said who it is") {
			t.Errorf("holder.json %q: %v", content, err)
		}
	}
}

// TestHolderOfAnotherTime: an announcement counts only as its holder's.
func TestHolderOfAnotherTime(t *testing.T) {
	dir := t.TempDir()
	startHolder(t, dir)
	write(t, filepath.Join(dir, "connection.json"), `{"nats_url":"nats://stale","http_url":"","ledger_id":"","pid":1,"credentials":{}}`)
	if _, err := datadir.Open(dir); strings.Contains(err.Error(), "stale") {
		t.Errorf("%v", err)
	}
}

// TestLeftoversOfACrash: a dead holder's lock is free, and what it said of
// itself, or did not finish, is gone.
func TestLeftoversOfACrash(t *testing.T) {
	dir := t.TempDir()
	other := startHolder(t, dir)
	other.crash(t)
	if got := entries(t, dir); !strings.Contains(got, "connection.json") || !strings.Contains(got, "holder.json") {
		t.Fatalf("a crash leaves %s", got)
	}
	if _, err := datadir.ReadConnection(dir); !errors.Is(err, datadir.ErrNotRunning) {
		t.Errorf("a dead daemon's announcement: %v", err)
	}
	unfinished := []string{"ledger.json.unfinished", "credentials/reader.nk.unfinished"}
	for _, name := range unfinished {
		write(t, filepath.Join(dir, name), "half of it")
	}
	d := open(t, dir)
	for _, name := range append(unfinished, "connection.json") {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	closeDir(t, d)
}

// TestAskingTakesNoHold: clients that look do not keep the daemon out.
func TestAskingTakesNoHold(t *testing.T) {
	dir := t.TempDir()
	closeDir(t, open(t, dir))
	for range 20 {
		if _, err := datadir.ReadConnection(dir); !errors.Is(err, datadir.ErrNotRunning) {
			t.Fatal(err)
		}
		closeDir(t, open(t, dir))
	}
}
