package main

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ledgerd/ledgerd/internal/pgtest"
	"github.com/ledgerd/ledgerd/internal/simci"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/postgres"
)

const (
	databaseCrashes = 20
	// databaseWindow is how long the database lives between two crashes, at most.
	databaseWindow = 400 * time.Millisecond
)

// TestTheDatabaseIsKilled crashes PostgreSQL again and again under a daemon
// that keeps its views there. The views catch up with every decision once, and
// are what a fold from zero makes.
func TestTheDatabaseIsKilled(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*patience) // it recovers databaseCrashes times
	defer cancel()
	database, err := pgtest.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Stop()
	url := database.Database(t)
	ci, err := simci.New(simci.Config{Seed: 9, Campaigns: 4, Scenarios: 60, Troubles: simci.Demo(9).TroublesOf(0)})
	if err != nil {
		t.Fatal(err)
	}
	dataDir := t.TempDir()
	daemon := startProcess(t, "--data-dir", dataDir, "--database-url", url).awaitReady(t)
	producer := &producer{t: t, dataDir: dataDir, plan: outgoingOf(t, ci), acknowledged: map[int]uint64{}, endless: true}
	crashed := make(chan struct{})
	published := make(chan struct{})
	go func() {
		defer close(published)
		producer.publishUntil(crashed, daemon.readyChan)
	}()
	random := rand.New(rand.NewPCG(3, 4))
	for range databaseCrashes {
		select { // how long the database lives is what is tested
		case <-time.After(time.Duration(random.Int64N(int64(databaseWindow)))):
		case <-daemon.ended:
			t.Fatalf("the daemon ended with its database:\n%s", daemon.log)
		}
		database.Kill()
		if err := database.Again(ctx); err != nil {
			t.Fatal(err)
		}
	}
	close(crashed)
	<-published
	producer.endless = false
	producer.publishUntil(daemon.ended, daemon.readyChan)

	arrivalLog, ledgerLog := readerOf(t, dataDir)
	arrivals := readAll(t, arrivalLog)
	ledger := readUpTo(t, ledgerLog, uint64(len(arrivals)))
	checkLedger(t, arrivals, ledger)
	store, err := postgres.Open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var position projections.Position
	defer func() {
		if t.Failed() {
			t.Logf("the views are at %d of %d; the daemon's log:\n%s", position.Seq, len(ledger), daemon.log)
		}
	}()
	eventually(t, "the views have every decision", func() bool {
		if position, err = store.Position(ctx); err != nil {
			t.Fatal(err)
		}
		return position.Seq == uint64(len(ledger))
	})
	checkViewsOf(t, store, ledgerLog, uint64(len(ledger)))
	daemon.stop(t)
}
