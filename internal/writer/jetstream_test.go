package writer_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/errors"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest"
	"github.com/ledgerd/ledgerd/events/eventstest/natstest"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/writer"
)

// testStoreBytes is room for the streams of a test.
const testStoreBytes = 4 << 30

// provision makes both streams on a real server.
func provision(t testing.TB, server *natstest.Server) natsjs.JetStream {
	t.Helper()
	js := connection(t, server)
	limits := jetstream.Limits{LedgerID: "test", Replicas: 1, StoreBytes: testStoreBytes}
	if err := jetstream.Provision(withPatience(t), js, limits); err != nil {
		t.Fatal(err)
	}
	return js
}

func connection(t testing.TB, server *natstest.Server) natsjs.JetStream {
	t.Helper()
	js, err := natsjs.New(server.Connect(t))
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func real(js natsjs.JetStream, epoch string) writer.Config {
	return writer.Config{Arrivals: jetstream.Open(js, events.ArrivalsStream), Ledger: jetstream.Open(js, events.LedgerStream), Epoch: epoch, Host: "test"}
}

// publish stores what trouble makes on the real stream.
func publish(t testing.TB, server *natstest.Server, n int, seed uint64) {
	t.Helper()
	made := eventstest.NewArrivals()
	trouble(t, made, n, seed)
	batch := make([]events.Outgoing, n)
	for i := range batch {
		message, err := made.Get(withPatience(t), uint64(i)+1)
		if err != nil {
			t.Fatal(err)
		}
		header := events.Header{events.HeaderMsgID: {fmt.Sprintf("%d-%d", seed, i)}}
		for name, values := range message.Header {
			header[name] = values
		}
		batch[i] = events.Outgoing{Subject: message.Subject, Header: header, Data: message.Data}
	}
	if _, err := jetstream.NewPublisher(server.Connect(t)).PublishAll(withPatience(t), batch); err != nil {
		t.Fatal(err)
	}
}

func TestOnJetStream(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	js := provision(t, server)
	config := real(js, "a")
	start(t, config)
	publish(t, server, 2500, 1)
	reaches(t, config.Ledger, 2500)
	wantLedger(t, config.Arrivals, config.Ledger)
}

func TestTwoWritersOnJetStream(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	js := provision(t, server)
	first, second := start(t, real(js, "first")), start(t, real(connection(t, server), "second"))
	for i := range uint64(10) {
		publish(t, server, 200, i)
		reaches(t, first.Ledger, 200*(i+1))
	}
	first.stop()
	second.stop()
	aside := 0
	for _, end := range []error{first.wait(t), second.wait(t)} {
		switch {
		case errors.Is(end, writer.ErrStoodAside):
			aside++
		case end != nil:
			t.Errorf("ended by %v", end)
		}
	}
	if aside != 1 {
		t.Errorf("%d writers stood aside, want 1", aside)
	}
	wantLedger(t, first.Arrivals, first.Ledger)
}

func TestTheServerRestarts(t *testing.T) {
	server := natstest.Start(t, natstest.Options{SyncAlways: true})
	js := provision(t, server)
	config := real(js, "a")
	start(t, config)
	for i := range uint64(3) {
		publish(t, server, 300, i)
		server.Stop()
		server.Run(t)
		publish(t, server, 1, 100+i)
		reaches(t, config.Ledger, 301*(i+1))
	}
	wantLedger(t, config.Arrivals, config.Ledger)
}
