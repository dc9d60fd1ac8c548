package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	natsjs "github.com/nats-io/nats.go/jetstream"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/natsclient"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/sqlite"
)

func withPatience(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// readerOf opens both streams of a running daemon as a reader does.
func readerOf(t testing.TB, dataDir string) (arrivals, ledger events.Log) {
	t.Helper()
	conn, _, err := natsclient.Connect(withPatience(t), natsclient.Config{DataDir: dataDir, Role: natsdeploy.Reader, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := natsjs.NewWithAPIPrefix(conn, natsdeploy.ReaderAPI)
	if err != nil {
		t.Fatal(err)
	}
	return jetstream.OpenDirect(js, events.ArrivalsStream), jetstream.OpenDirect(js, events.LedgerStream)
}

// readAll reads a stream whole: every sequence from 1 to the end.
func readAll(t testing.TB, log events.Log) []events.Message {
	t.Helper()
	ctx := withPatience(t)
	tail, err := log.Tail(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if tail.Last == 0 {
		return nil
	}
	cursor, err := log.Read(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer cursor.Close()
	var all []events.Message
	for uint64(len(all)) < tail.Last {
		messages, err := cursor.Next(ctx) // a hole is an error
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, messages...)
	}
	return all[:tail.Last]
}

// checkLedger decides all arrivals again, and wants every byte of the ledger
// to be what comes of it.
func checkLedger(t testing.TB, arrivals, ledger []events.Message) {
	t.Helper()
	if len(ledger) != len(arrivals) {
		t.Fatalf("%d arrivals have %d decisions", len(arrivals), len(ledger))
	}
	states := map[string]*domain.Campaign{}
	prev := events.GenesisHash
	for i := range arrivals {
		arrival := events.DecodeArrival(&arrivals[i])
		decision, err := domain.Decide(domain.RuleVersion, states[arrival.Campaign], arrival)
		if err != nil {
			t.Fatal(err)
		}
		decision.Prev = prev
		record, err := events.EncodeRecord(decision)
		if err != nil {
			t.Fatal(err)
		}
		if arrival.Campaign != "" {
			if states[arrival.Campaign], err = domain.Fold(states[arrival.Campaign], decision, events.RecordHash(record)); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(record, ledger[i].Data) || ledger[i].Subject != events.DecisionSubject(decision) {
			t.Fatalf("record %d on %s is\n%s\nand must be\n%s", i, ledger[i].Subject, ledger[i].Data, record)
		}
		prev = events.RecordHash(record)
	}
}

// checkViews folds the ledger from zero into a new store and wants the same
// rows that the daemon keeps.
func checkViews(t testing.TB, dataDir string, ledger events.Log, last uint64) {
	t.Helper()
	ctx := withPatience(t)
	live, err := sqlite.Open(ctx, filepath.Join(dataDir, viewsName))
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	checkViewsOf(t, live, ledger, last)
}

// checkViewsOf is the same for any store.
func checkViewsOf(t testing.TB, live projections.Reader, ledger events.Log, last uint64) {
	t.Helper()
	ctx := withPatience(t)
	fresh, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), viewsName))
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	runner, err := projections.NewRunner(projections.Config{Log: ledger, Store: fresh, Name: "fold from zero"})
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- runner.Run(running) }()
	if _, err := runner.WaitFor(ctx, last); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	got, want := dump(t, live), dump(t, fresh)
	for name := range want {
		if !bytes.Equal(got[name], want[name]) {
			t.Errorf("view %s is\n%.2000s\nand folded from zero it is\n%.2000s", name, got[name], want[name])
		}
	}
}

// dump prints every row that a reader can see, with the index that it is of.
func dump(t testing.TB, r projections.Reader) map[string][]byte {
	t.Helper()
	ctx := withPatience(t)
	views := map[string][]byte{}
	put := func(name string, value any, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		raw, err := json.Marshal(value, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		views[name] = append(append(views[name], raw...), '\n')
	}
	pages(t, put, "entries", func(page projections.Page) (projections.List[projections.Entry], error) {
		return r.Entries(ctx, projections.EntryQuery{Page: page})
	})
	pages(t, put, "imports", func(page projections.Page) (projections.List[projections.Import], error) {
		return r.Imports(ctx, projections.ImportQuery{Page: page})
	})
	pages(t, put, "rejections", func(page projections.Page) (projections.List[projections.Rejection], error) {
		return r.Rejections(ctx, projections.RejectionQuery{Page: page})
	})
	pages(t, put, "checkpoints", func(page projections.Page) (projections.List[projections.Checkpoint], error) {
		return r.Checkpoints(ctx, projections.CheckpointQuery{Page: page})
	})
	pages(t, put, "shared measurements", func(page projections.Page) (projections.List[projections.SharedImport], error) {
		return r.SharedMeasurements(ctx, page)
	})
	usage, err := r.Usage(ctx, projections.UsageQuery{})
	put("usage", usage, err)
	summary, err := r.Summary(ctx, "")
	put("summary", summary, err)
	campaigns := pages(t, put, "campaigns", func(page projections.Page) (projections.List[projections.Campaign], error) {
		return r.Campaigns(ctx, projections.CampaignQuery{Page: page})
	})
	for _, campaign := range campaigns {
		scenarios, err := r.Scenarios(ctx, campaign.ID)
		put("scenarios", scenarios, err)
		pages(t, put, "cells", func(page projections.Page) (projections.List[projections.Cell], error) {
			return r.Cells(ctx, projections.CellQuery{Campaign: campaign.ID, Page: page})
		})
	}
	return views
}

// pages reads a list to its end.
func pages[T any](t testing.TB, put func(string, any, error), name string, read func(projections.Page) (projections.List[T], error)) []T {
	t.Helper()
	var all []T
	page := projections.Page{Limit: projections.MaxPageLimit}
	for {
		list, err := read(page)
		put(name, list, err)
		all = append(all, list.Items...)
		if page.After = list.Next; page.After == nil {
			return all
		}
	}
}
