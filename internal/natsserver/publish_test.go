package natsserver_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/synadia-io/orbit.go/jetstreamext"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/internal/natsserver"
)

// TestProducersPublishTheirKinds: the stream's acknowledgement comes back
// through the import, with the arrival's sequence.
func TestProducersPublishTheirKinds(t *testing.T) {
	l := startLedger(t)
	seq := uint64(0)
	for _, row := range []struct {
		role  natsdeploy.Role
		kinds []string
	}{
		{natsdeploy.Operator, []string{"campaign", "cell", "checkpoint", "void", "seal", "unheard"}},
		{natsdeploy.Coordinator, []string{"cell", "checkpoint"}},
	} {
		js := newJetStream(t, l.connect(t, row.role))
		for _, kind := range row.kinds {
			seq++
			m := &nats.Msg{Subject: "ledger.arrivals.c1." + kind, Header: nats.Header{}, Data: []byte(`{"some":"data"}`)}
			m.Header.Set("ce-id", fmt.Sprint(seq))
			ack, err := js.PublishMsg(testContext(t), m, jetstream.WithMsgID(fmt.Sprint(seq)))
			if err != nil {
				t.Fatalf("%s publishes a %s: %v", row.role, kind, err)
			}
			if ack.Stream != "ARRIVALS" || ack.Sequence != seq || ack.Duplicate {
				t.Errorf("%s publishes a %s: acknowledged as %+v, want sequence %d", row.role, kind, ack, seq)
			}
			again, err := js.PublishMsg(testContext(t), m, jetstream.WithMsgID(fmt.Sprint(seq)))
			if err != nil || again.Sequence != seq || !again.Duplicate {
				t.Errorf("%s repeats a %s: %+v, %v; want a duplicate of %d", row.role, kind, again, err, seq)
			}
		}
	}
	l.asPublished(t, seq)
}

// asPublished checks that messages are stored as they were sent, without
// headers of the import's own.
func (l *ledger) asPublished(t *testing.T, last uint64) {
	t.Helper()
	arrivals, err := l.daemonJetStream(t).Stream(testContext(t), "ARRIVALS")
	if err != nil {
		t.Fatal(err)
	}
	for seq := uint64(1); seq <= last; seq++ {
		m, err := arrivals.GetMsg(testContext(t), seq)
		if err != nil {
			t.Fatal(err)
		}
		if m.Header.Get("ce-id") != fmt.Sprint(seq) || string(m.Data) != `{"some":"data"}` || m.Header.Get("Nats-Request-Info") != "" {
			t.Errorf("arrival %d is stored as %v %q", seq, m.Header, m.Data)
		}
	}
}

// TestManyArrivalsAtOnce: a producer may pipeline.
func TestManyArrivalsAtOnce(t *testing.T) {
	l := startLedger(t)
	js := newJetStream(t, l.connect(t, natsdeploy.Coordinator))
	const many = 2000
	futures := make([]jetstream.PubAckFuture, many)
	for i := range futures {
		var err error
		if futures[i], err = js.PublishAsync("ledger.arrivals.c1.cell", []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	for i, future := range futures {
		select {
		case ack := <-future.Ok():
			if ack.Sequence != uint64(i+1) {
				t.Fatalf("arrival %d stored at %d", i+1, ack.Sequence)
			}
		case err := <-future.Err():
			t.Fatalf("arrival %d: %v", i+1, err)
		}
	}
}

// TestTheLargestMessage: a body of 8 MiB with its headers is carried whole, a
// larger one is refused before it is sent.
func TestTheLargestMessage(t *testing.T) {
	l := startLedger(t)
	conn := l.connect(t, natsdeploy.Coordinator)
	js := newJetStream(t, conn)
	m := &nats.Msg{Subject: "ledger.arrivals.c1.cell", Header: nats.Header{}, Data: make([]byte, natsserver.MaxBodyBytes)}
	m.Header.Set("ce-source", strings.Repeat("s", 60<<10))
	if _, err := js.PublishMsg(testContext(t), m); err != nil {
		t.Errorf("a body of %d bytes: %v", len(m.Data), err)
	}
	m.Data = make([]byte, natsserver.MaxBodyBytes+natsserver.MaxHeaderBytes)
	if _, err := js.PublishMsg(testContext(t), m); !errors.Is(err, nats.ErrMaxPayload) {
		t.Errorf("a larger one: %v, want %v", err, nats.ErrMaxPayload)
	}
	if got := conn.MaxPayload(); got != natsserver.MaxBodyBytes+natsserver.MaxHeaderBytes {
		t.Errorf("the server announces %d bytes", got)
	}
}

var legalArrival = regexp.MustCompile(`^ledger\.arrivals\.[A-Za-z0-9][A-Za-z0-9_-]*\.[a-z]+$`)

// TestWildcardsAreNoSubjects: a subject with a wildcard in the campaign's place
// is within the permission, and is stored under that very name if at all. The
// writer finds no legal campaign in it.
func TestWildcardsAreNoSubjects(t *testing.T) {
	l := startLedger(t)
	answerDecisions(t, l)
	conn := l.connect(t, natsdeploy.Coordinator, nats.SkipSubjectValidation())
	for _, subject := range []string{"ledger.arrivals.*.cell", "ledger.arrivals.>.cell", "ledger.arrivals..cell"} {
		if err := conn.Publish(subject, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	l.settle(t, conn)
	arrivals, err := l.daemonJetStream(t).Stream(testContext(t), "ARRIVALS")
	if err != nil {
		t.Fatal(err)
	}
	for seq := uint64(1); seq < arrivals.CachedInfo().State.LastSeq; seq++ {
		m, err := arrivals.GetMsg(testContext(t), seq)
		if err != nil {
			t.Fatal(err)
		}
		if legalArrival.MatchString(m.Subject) {
			t.Errorf("stored at %s, which is a campaign's", m.Subject)
		}
	}
}

// TestTheDecisionServiceAnswersEveryRole: whoever knows an arrival's sequence
// can ask for its decision.
func TestTheDecisionServiceAnswersEveryRole(t *testing.T) {
	l := startLedger(t)
	daemon := l.daemon(t)
	if _, err := daemon.QueueSubscribe("ledger.decision.*", "deciders", func(m *nats.Msg) {
		_ = m.Respond([]byte("decision " + strings.TrimPrefix(m.Subject, "ledger.decision.")))
	}); err != nil {
		t.Fatal(err)
	}
	flush(t, daemon)
	for _, role := range natsdeploy.Outside() {
		answer, err := l.connect(t, role).RequestWithContext(testContext(t), "ledger.decision.7", nil)
		if err != nil || string(answer.Data) != "decision 7" {
			t.Errorf("%s: %v, %v", role, answer, err)
		}
	}
}

func TestNobodyAnswersWithoutADaemon(t *testing.T) {
	l := startLedger(t)
	for _, role := range natsdeploy.Outside() {
		_, err := l.connect(t, role).RequestWithContext(testContext(t), "ledger.decision.7", nil)
		if !errors.Is(err, nats.ErrNoResponders) {
			t.Errorf("%s: %v, want %v at once", role, err, nats.ErrNoResponders)
		}
	}
}

// TestDecisionsAreHeardAfterTheyAreStored: ledger.committed.> shows a batch
// only once all of it is stored.
func TestDecisionsAreHeardAfterTheyAreStored(t *testing.T) {
	l := startLedger(t)
	heard := map[natsdeploy.Role]*nats.Subscription{}
	conns := map[natsdeploy.Role]*nats.Conn{}
	for _, role := range natsdeploy.Outside() {
		conns[role] = l.connect(t, role)
		sub, err := conns[role].SubscribeSync("ledger.committed.>")
		if err != nil {
			t.Fatal(err)
		}
		flush(t, conns[role])
		heard[role] = sub
	}
	silent := func(when string) {
		t.Helper()
		for role, sub := range heard {
			flush(t, conns[role])
			if n, _, _ := sub.Pending(); n != 0 {
				t.Errorf("%s heard %d decisions %s", role, n, when)
			}
		}
	}

	js := l.daemonJetStream(t)
	abandoned, err := jetstreamext.NewBatchPublisher(js)
	if err != nil {
		t.Fatal(err)
	}
	if err := abandoned.Add("ledger.decisions.c1.accepted.cell", []byte("abandoned")); err != nil {
		t.Fatal(err)
	}
	batch, err := jetstreamext.NewBatchPublisher(js, jetstreamext.BatchFlowControl{AckFirst: true, AckEvery: 1, AckTimeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	for i, body := range []string{"one", "two"} {
		if err := batch.Add(fmt.Sprintf("ledger.decisions.c1.accepted.cell%d", i), []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	silent("before the batch was committed")
	if _, err := batch.Commit(testContext(t), "ledger.decisions.c1.accepted.seal", []byte("three")); err != nil {
		t.Fatal(err)
	}
	for role, sub := range heard {
		for i, want := range []string{"one", "two", "three"} {
			m, err := sub.NextMsgWithContext(testContext(t))
			if err != nil {
				t.Fatalf("%s waits for %q: %v", role, want, err)
			}
			if string(m.Data) != want || m.Header.Get("Nats-Sequence") != fmt.Sprint(i+1) || !strings.HasPrefix(m.Subject, "ledger.committed.c1.accepted.") {
				t.Errorf("%s heard %s %v %q, want %q at %d", role, m.Subject, m.Header, m.Data, want, i+1)
			}
		}
	}
	if err := abandoned.Discard(); err != nil {
		t.Fatal(err)
	}
	silent("of a batch that was given up")
}
