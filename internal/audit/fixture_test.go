package audit_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest"
	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/simci"
	"github.com/ledgerd/ledgerd/internal/writer"
)

// patience is how long a test waits for what takes milliseconds. It is only
// ever reached by a failing test.
const patience = time.Minute

func withPatience(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// ledger is a decided ledger in memory.
type ledger struct {
	arrivals, decisions *eventstest.Log
	ci                  *simci.CI
}

func (l *ledger) source() audit.Source { return audit.Live(l.arrivals, l.decisions) }

// arrivalsOf makes the messages of a simulated CI, troubles of every kind
// included, and some that are not even readable.
func arrivalsOf(t testing.TB, ci *simci.CI) []events.Outgoing {
	t.Helper()
	var batch []events.Outgoing
	for a := range ci.Arrivals() {
		out, err := events.NewArrival(a.Campaign, a.Kind, a.Body, a.ID, "/test", time.Unix(1, 0))
		if err != nil {
			t.Fatal(err)
		}
		batch = append(batch, out)
	}
	return append(batch,
		events.Outgoing{Subject: "ledger.arrivals." + ci.Campaigns()[0] + ".odd", Data: []byte("{}")},
		events.Outgoing{Subject: "ledger.arrivals." + ci.Campaigns()[0] + ".seal", Data: []byte(`{"actor":"no header"}`)},
	)
}

// decided gives a ledger on which everything is decided.
func decided(t testing.TB, config simci.Config) *ledger {
	t.Helper()
	ci, err := simci.New(config)
	if err != nil {
		t.Fatal(err)
	}
	l := &ledger{arrivals: newArrivals(), decisions: newLedger(), ci: ci}
	l.arrivals.Publish(arrivalsOf(t, ci)...)
	decide(t, l.arrivals, l.decisions)
	return l
}

// small is a campaign with every trouble, and two smaller ones.
func small() simci.Config { return simci.Demo(7) }

var smallOnce struct {
	sync.Once
	ledger              *ledger
	arrivals, decisions []events.Outgoing
}

// smallLedger gives a copy of the same decided ledger to every test.
func smallLedger(t testing.TB) *ledger {
	t.Helper()
	made := &smallOnce
	made.Do(func() {
		made.ledger = decided(t, small())
		made.arrivals, made.decisions = outgoingOf(t, made.ledger.arrivals), outgoingOf(t, made.ledger.decisions)
	})
	l := &ledger{arrivals: newArrivals(), decisions: newLedger(), ci: made.ledger.ci}
	l.arrivals.Publish(made.arrivals...)
	l.decisions.Publish(made.decisions...)
	return l
}

// outgoingOf reads everything in a stream.
func outgoingOf(t testing.TB, log events.Log) []events.Outgoing {
	t.Helper()
	var all []events.Outgoing
	for seq := uint64(1); seq <= lastOf(t, log); seq++ {
		m := get(t, log, seq)
		all = append(all, events.Outgoing{Subject: m.Subject, Header: m.Header, Data: m.Data})
	}
	return all
}

func lastOf(t testing.TB, log events.Log) uint64 {
	t.Helper()
	tail, err := log.Tail(withPatience(t))
	if err != nil {
		t.Fatal(err)
	}
	return tail.Last
}

func get(t testing.TB, log events.Log, seq uint64) *events.Message {
	t.Helper()
	m, err := log.Get(withPatience(t), seq)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// decide runs a writer until all is decided.
func decide(t testing.TB, arrivals, decisions events.Log) {
	t.Helper()
	tail, err := arrivals.Tail(withPatience(t))
	if err != nil {
		t.Fatal(err)
	}
	w, err := writer.New(writer.Config{Arrivals: arrivals, Ledger: decisions, Epoch: "test", Host: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(withPatience(t))
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	cursor, err := decisions.Read(ctx, tail.Last)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cursor.Next(ctx); err != nil {
		t.Fatal(err)
	}
	cursor.Close()
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func newArrivals() *eventstest.Log { return eventstest.NewArrivals() }
func newLedger() *eventstest.Log   { return eventstest.NewLedger() }
