package backup_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/audit/audittest"
	"github.com/ledgerd/ledgerd/internal/audit/storefile"
	"github.com/ledgerd/ledgerd/internal/backup"
	"github.com/ledgerd/ledgerd/internal/datadir"
	"github.com/ledgerd/ledgerd/internal/simci"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%+v", err)
	}
}

var now = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

// description is of the ledger that audittest makes.
var description = datadir.Description{LedgerID: audittest.LedgerID, Created: now, StoreLimit: audittest.StoreBytes}

// dataDir makes a stopped daemon's directory with a decided ledger.
func dataDir(t testing.TB, config simci.Config) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	must(t, datadir.Recreate(path, description))
	opened, err := datadir.Open(path)
	must(t, err)
	must(t, opened.Close())
	audittest.Store(t, opened.StoreDir(), config)
	return path
}

func storeOf(dataDir string) string { return filepath.Join(dataDir, "nats") }

// config backs a stopped directory up.
func config(t testing.TB, dataDir string) backup.Config {
	t.Helper()
	streams := map[string]*natsjs.StreamConfig{}
	for _, name := range []string{events.ArrivalsStream, events.LedgerStream} {
		var err error
		streams[name], err = storefile.Config(storeOf(dataDir), name)
		must(t, err)
	}
	return backup.Config{Source: storefile.Ledger(storeOf(dataDir)), Ledger: description, Streams: streams, Now: now}
}

// backUp makes a backup and opens it.
func backUp(t testing.TB, cfg backup.Config) (*backup.Backup, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "backup")
	_, err := backup.Write(audittest.WithPatience(t), dir, cfg)
	must(t, err)
	b, err := backup.Open(dir)
	must(t, err)
	return b, dir
}

func quiet() backup.RestoreConfig {
	return backup.RestoreConfig{Logger: slog.New(slog.DiscardHandler)}
}

func verify(t testing.TB, source audit.Source) *audit.Verified {
	t.Helper()
	result, err := audit.Verify(audittest.WithPatience(t), audit.VerifyConfig{Source: source, Evidence: true})
	must(t, err)
	return result
}

// small is a campaign of a few kilobytes.
func small() simci.Config { return simci.Config{Seed: 5, Scenarios: 1} }

// names lists what is in a directory, with everything below.
func names(t testing.TB, dir string) []string {
	t.Helper()
	var all []string
	must(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			relative, _ := filepath.Rel(dir, path)
			all = append(all, relative)
		}
		return err
	}))
	return all
}

// edited is a source that gives another body for arrival 3.
type edited struct{ audit.Source }

func (e edited) Walk(ctx context.Context, what audit.Selection) (audit.Walk, error) {
	walk, err := e.Source.Walk(ctx, what)
	return editedWalk{walk}, err
}

type editedWalk struct{ audit.Walk }

func (e editedWalk) Next(ctx context.Context) (audit.Portion, error) {
	portion, err := e.Walk.Next(ctx)
	for i := range portion.Pairs {
		if m := portion.Pairs[i].Arrival; m != nil && m.Seq == 3 {
			changed := *m
			changed.Data = append([]byte(" "), m.Data...)
			portion.Pairs[i].Arrival = &changed
		}
	}
	return portion, err
}
