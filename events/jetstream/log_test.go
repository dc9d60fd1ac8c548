package jetstream_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest"
	"github.com/ledgerd/ledgerd/events/eventstest/natstest"
	"github.com/ledgerd/ledgerd/events/jetstream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func contextFor(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func connect(t testing.TB, server *natstest.Server, options ...nats.Option) natsjs.JetStream {
	t.Helper()
	js, err := natsjs.New(server.Connect(t, options...))
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// breakable is a LEDGER whose messages can be deleted, for the suite.
func breakable(t testing.TB, js natsjs.JetStream) natsjs.Stream {
	t.Helper()
	stream, err := js.CreateStream(contextFor(t), natsjs.StreamConfig{
		Name: events.LedgerStream, Subjects: []string{events.DecisionsFilter}, AllowDirect: true, AllowAtomicPublish: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func openStream(t *testing.T) (natsjs.JetStream, eventstest.Stream) {
	js := connect(t, natstest.Start(t, natstest.Options{}))
	stream := breakable(t, js)
	return js, eventstest.Stream{
		Log: jetstream.Open(js, events.LedgerStream),
		Remove: func(seq uint64) {
			t.Helper()
			if err := stream.DeleteMsg(contextFor(t), seq); err != nil {
				t.Fatal(err)
			}
		},
		Recreate: func() {
			t.Helper()
			if err := js.DeleteStream(contextFor(t), events.LedgerStream); err != nil {
				t.Fatal(err)
			}
			breakable(t, js)
		},
	}
}

func TestLogConforms(t *testing.T) {
	eventstest.Conformance(t, func(t *testing.T) eventstest.Stream {
		_, s := openStream(t)
		return s
	})
}

func TestDirectLogReads(t *testing.T) {
	eventstest.ReadConformance(t, func(t *testing.T) eventstest.Stream {
		js, s := openStream(t)
		s.Reader = jetstream.OpenDirect(js, events.LedgerStream)
		return s
	})
}
