package natsserver_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/synadia-io/orbit.go/jetstreamext"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
)

// reader joins over the network as a reader, with the API where readers have it.
func (l *ledger) reader(t testing.TB) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.NewWithAPIPrefix(l.connect(t, natsdeploy.Reader), natsdeploy.ReaderAPI)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// decide appends n decisions with bodies of size bytes, in atomic batches.
func decide(t testing.TB, js jetstream.JetStream, n, size int) {
	t.Helper()
	body := make([]byte, size)
	for done := 0; done < n; {
		batch, err := jetstreamext.NewBatchPublisher(js)
		if err != nil {
			t.Fatal(err)
		}
		for ; done < n-1 && batch.Size() < 999; done++ {
			if err := batch.Add("ledger.decisions.c1.accepted.cell", body); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := batch.Commit(testContext(t), "ledger.decisions.c1.accepted.cell", body); err != nil {
			t.Fatal(err)
		}
		done++
	}
}

// readBatches reads LEDGER from 1 to last by batched direct gets and checks
// that no sequence is missing.
func readBatches(t testing.TB, js jetstream.JetStream, last, batch uint64) {
	t.Helper()
	for next := uint64(1); next <= last; {
		messages, err := jetstreamext.GetBatch(testContext(t), js, "LEDGER", int(min(batch, last-next+1)), jetstreamext.GetBatchSeq(next))
		if err != nil {
			t.Fatal(err)
		}
		for m, err := range messages {
			if err != nil {
				t.Fatalf("at %d: %v", next, err)
			}
			if m.Sequence != next {
				t.Fatalf("read %d, want %d", m.Sequence, next)
			}
			next++
		}
	}
}

func readConsumer(t testing.TB, js jetstream.JetStream, last uint64) {
	t.Helper()
	consumer, err := js.OrderedConsumer(testContext(t), "LEDGER", jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	next, done := uint64(1), make(chan error, 1)
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		meta, err := m.Metadata()
		switch {
		case err != nil || meta.Sequence.Stream != next:
			done <- errors.Newf("read %v, %v, want %d", meta, err, next)
		case next == last:
			done <- nil
		}
		next++
	}, jetstream.PullMaxMessages(5000))
	if err != nil {
		t.Fatal(err)
	}
	defer consuming.Stop()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-testContext(t).Done():
		t.Fatal("the consumer stopped")
	}
}

// TestReadersReadInBatches: a batched direct get answers many messages through
// one service import.
func TestReadersReadInBatches(t *testing.T) {
	l := startLedger(t)
	const last = 2500
	decide(t, l.daemonJetStream(t), last, 300)
	js := l.reader(t)
	for _, batch := range []uint64{1, 999, 2500, 10000} {
		t.Run(fmt.Sprint(batch), func(t *testing.T) {
			n := uint64(last)
			if batch == 1 {
				n = 20
			}
			readBatches(t, js, n, batch)
		})
	}
}

func TestReadersReadBothStreams(t *testing.T) {
	l := startLedger(t)
	publish(t, l.connect(t, natsdeploy.Coordinator), "ledger.arrivals.c1.cell", "an arrival")
	daemon := l.daemonJetStream(t)
	if _, err := daemon.Publish(testContext(t), "ledger.decisions.c1.accepted.cell", []byte("a decision")); err != nil {
		t.Fatal(err)
	}
	js := l.reader(t)
	for name, want := range map[string]string{"ARRIVALS": "an arrival", "LEDGER": "a decision"} {
		stream, err := js.Stream(testContext(t), name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if last := stream.CachedInfo().State.LastSeq; last != 1 {
			t.Errorf("%s ends at %d, want 1", name, last)
		}
		m, err := stream.GetMsg(testContext(t), 1) // direct
		if err != nil || string(m.Data) != want {
			t.Errorf("%s: direct get: %v, %v", name, m, err)
		}
		answer, err := js.Conn().RequestWithContext(testContext(t), natsdeploy.ReaderAPI+".STREAM.MSG.GET."+name, []byte(`{"seq":1}`)) // by the leader
		if err != nil || len(answer.Data) == 0 {
			t.Errorf("%s: get: %v, %v", name, answer, err)
		}
	}
	ledger, err := js.Stream(testContext(t), "LEDGER")
	if err != nil {
		t.Fatal(err)
	}
	if m, err := ledger.GetLastMsgForSubject(testContext(t), "ledger.decisions.c1.>"); err != nil || m.Sequence != 1 {
		t.Errorf("last of a campaign: %v, %v", m, err)
	}
	if _, err := ledger.GetMsg(testContext(t), 2); !errors.Is(err, jetstream.ErrMsgNotFound) {
		t.Errorf("past the end: %v, want %v", err, jetstream.ErrMsgNotFound)
	}
}

// BenchmarkReading compares a reader's batched gets over the network with the
// daemon's ordered consumer in process, and the latter over both roads.
func BenchmarkReading(b *testing.B) {
	const many = 50_000
	for _, size := range []int{300, 6 << 10} {
		n := many
		if size > 1000 {
			n = many / 5
		}
		l := startLedger(b)
		decide(b, l.daemonJetStream(b), n, size)
		reader := l.reader(b)
		inProcess := l.daemonJetStream(b)
		report := func(name string, read func()) {
			b.Run(fmt.Sprintf("%dB/%s", size, name), func(b *testing.B) {
				for b.Loop() {
					read()
				}
				b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "msg/s")
			})
		}
		for _, batch := range []uint64{100, 1000, 5000} {
			report(fmt.Sprintf("reader_batches_of_%d", batch), func() { readBatches(b, reader, uint64(n), batch) })
		}
		report("daemon_batches_of_1000", func() { readBatches(b, inProcess, uint64(n), 1000) })
		report("daemon_consumer", func() { readConsumer(b, inProcess, uint64(n)) })
	}
}
