package audit_test

import (
	"context"
	"sync"
	"testing"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest"
	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/audit/audittest"
	"github.com/ledgerd/ledgerd/internal/simci"
)

func withPatience(t testing.TB) context.Context { return audittest.WithPatience(t) }

// ledger is a decided ledger in memory.
type ledger struct {
	arrivals, decisions *eventstest.Log
	ci                  *simci.CI
}

func (l *ledger) source() audit.Source { return audit.Live(l.arrivals, l.decisions) }

// decided gives a ledger on which everything is decided.
func decided(t testing.TB, config simci.Config) *ledger {
	t.Helper()
	ci, err := simci.New(config)
	if err != nil {
		t.Fatal(err)
	}
	l := &ledger{arrivals: newArrivals(), decisions: newLedger(), ci: ci}
	l.arrivals.Publish(audittest.Arrivals(t, ci)...)
	audittest.Decide(t, l.arrivals, l.decisions)
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

func newArrivals() *eventstest.Log { return eventstest.NewArrivals() }
func newLedger() *eventstest.Log   { return eventstest.NewLedger() }
