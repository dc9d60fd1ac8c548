package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/natsclient"
	"github.com/ledgerd/ledgerd/internal/simci"
)

const (
	crashes = 25
	// crashWindow is how long a daemon lives at most, from its start: it dies
	// while it starts, catches up, takes arrivals or decides them.
	crashWindow = 700 * time.Millisecond
)

// TestKilledAtAnyMoment kills the daemon again and again while a producer
// publishes. In the end every arrival that was acknowledged has exactly one
// decision, and the views are what a fold from zero makes.
func TestKilledAtAnyMoment(t *testing.T) {
	ci, err := simci.New(simci.Config{Seed: 7, Campaigns: 6, Scenarios: 60, CellBytes: 6000, Troubles: simci.Demo(7).TroublesOf(0)})
	if err != nil {
		t.Fatal(err)
	}
	dataDir := t.TempDir()
	producer := &producer{t: t, dataDir: dataDir, plan: outgoingOf(t, ci), acknowledged: map[int]uint64{}, endless: true}
	random := rand.New(rand.NewPCG(1, 2)) // the moments differ from run to run all the same
	for range crashes {
		daemon := startProcess(t, "--data-dir", dataDir)
		dies := time.AfterFunc(time.Duration(random.Int64N(int64(crashWindow))), func() { _ = daemon.cmd.Process.Signal(syscall.SIGKILL) })
		producer.publishUntil(daemon.ended, daemon.readyChan)
		<-daemon.ended
		dies.Stop()
	}
	if len(producer.acknowledged) == 0 {
		t.Fatal("no arrival was acknowledged between the crashes: the test tests nothing")
	}
	t.Logf("%d of %d arrivals were acknowledged over %d crashes", len(producer.acknowledged), len(producer.plan), crashes)

	last := startProcess(t, "--data-dir", dataDir).awaitReady(t)
	producer.endless = false
	producer.publishUntil(last.ended, last.readyChan)
	producer.check(last)
	last.stop(t)
}

// producer publishes a plan, and publishes again what was not acknowledged,
// each arrival always with the same id.
type producer struct {
	t            testing.TB
	dataDir      string
	plan         []events.Outgoing
	acknowledged map[int]uint64 // index in the plan → sequence
	first        int            // in the plan that is not acknowledged, at least
	endless      bool           // when all is published, publish it again as new facts
}

// again adds the plan as it is once more, under new ids.
func (p *producer) again() {
	for _, out := range p.plan[:min(len(p.plan), publishChunk*10)] {
		id := fmt.Sprintf("again-%d", len(p.plan))
		header := maps.Clone(out.Header)
		header[events.HeaderID], header[events.HeaderMsgID] = []string{id}, []string{id}
		p.plan = append(p.plan, events.Outgoing{Subject: out.Subject, Header: header, Data: out.Data})
	}
}

func outgoingOf(t testing.TB, ci *simci.CI) []events.Outgoing {
	t.Helper()
	var plan []events.Outgoing
	for arrival := range ci.Arrivals() {
		out, err := events.NewArrival(arrival.Campaign, arrival.Kind, arrival.Body, arrival.ID, "https://example.org/ci", time.Unix(1, 0))
		if err != nil {
			t.Fatal(err)
		}
		plan = append(plan, out)
	}
	return plan
}

// publishChunk is how much is published in one call: a crash in between leaves
// the rest unpublished.
const publishChunk = 40

// publishUntil publishes what is missing until all is acknowledged or the
// daemon is gone.
func (p *producer) publishUntil(gone <-chan struct{}, ready <-chan struct{}) {
	select {
	case <-ready:
	case <-gone:
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-gone:
			cancel()
		case <-ctx.Done():
		}
	}()
	conn, _, err := natsclient.Connect(ctx, natsclient.Config{DataDir: p.dataDir, Role: natsdeploy.Operator, Name: "test"})
	if err != nil {
		return // it died in between
	}
	defer conn.Close()
	publisher := jetstream.NewPublisher(conn)
	for ctx.Err() == nil {
		var indexes []int
		var chunk []events.Outgoing
		for p.first < len(p.plan) && p.acknowledged[p.first] > 0 {
			p.first++
		}
		if p.first == len(p.plan) && p.endless {
			p.again()
		}
		for i := p.first; i < len(p.plan) && len(chunk) < publishChunk; i++ {
			if _, done := p.acknowledged[i]; !done {
				indexes, chunk = append(indexes, i), append(chunk, p.plan[i])
			}
		}
		if len(chunk) == 0 {
			return
		}
		results, _ := publisher.PublishAll(ctx, chunk) // what failed is published again
		for k, result := range results {
			if result.Err == nil {
				p.acknowledged[indexes[k]] = result.Sequence
			}
		}
	}
}

// check compares the ledger with what was acknowledged.
func (p *producer) check(daemon *process) {
	p.t.Helper()
	if len(p.acknowledged) != len(p.plan) {
		p.t.Fatalf("%d of %d arrivals were acknowledged in the end", len(p.acknowledged), len(p.plan))
	}
	arrivalLog, ledgerLog := readerOf(p.t, p.dataDir)
	arrivals := readAll(p.t, arrivalLog)
	ledger := readUpTo(p.t, ledgerLog, uint64(len(arrivals)))
	checkLedger(p.t, arrivals, ledger)

	times := map[string]int{} // id → decisions
	for i := range ledger {
		d, err := events.DecodeRecord(ledger[i].Data)
		if err != nil {
			p.t.Fatal(err)
		}
		times[d.Arrival.ID]++
	}
	for i, seq := range p.acknowledged {
		id := p.plan[i].Header.Get(events.HeaderID)
		if found := arrivals[seq-1].Header.Get(events.HeaderID); found != id {
			p.t.Errorf("arrival %s was acknowledged as sequence %d, where %s is", id, seq, found)
		}
		if times[id] != 1 {
			p.t.Errorf("arrival %s, acknowledged as sequence %d, has %d decisions", id, seq, times[id])
		}
	}
	checkViews(p.t, p.dataDir, ledgerLog, uint64(len(ledger)))
	if p.t.Failed() {
		p.t.Logf("the daemon's log:\n%s", daemon.log)
	}
}

// readUpTo waits until a stream has a sequence, and reads it whole.
func readUpTo(t testing.TB, log events.Log, last uint64) []events.Message {
	t.Helper()
	ctx := withPatience(t)
	cursor, err := log.Read(ctx, last)
	if err != nil {
		t.Fatal(err)
	}
	defer cursor.Close()
	if _, err := cursor.Next(ctx); err != nil {
		t.Fatal(err)
	}
	return readAll(t, log)
}
