package jetstream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest/natstest"
	"github.com/ledgerd/ledgerd/events/jetstream"
)

var someTime = time.Date(2026, 10, 1, 10, 0, 0, 0, time.UTC)

// accounts has a producer in an account of its own, which reaches ARRIVALS
// through a service import and may publish cells alone.
const accounts = `
accounts {
  LEDGER {
    jetstream: enabled
    users: [{user: ledger, password: x}]
    exports: [{service: "ledger.arrivals.*.*"}]
  }
  PRODUCERS {
    users: [{user: producer, password: x, permissions: {publish: ["ledger.arrivals.*.cell"], subscribe: ["_INBOX.>"]}}]
    imports: [{service: {account: LEDGER, subject: "ledger.arrivals.*.*"}}]
  }
}`

func as(user string) nats.Option { return nats.UserInfo(user, "x") }

func quiet() nats.Option {
	return nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})
}

// arrivals are n of them, with ids that say which.
func arrivals(t testing.TB, n, size int) []events.Outgoing {
	t.Helper()
	batch := make([]events.Outgoing, n)
	for i := range batch {
		batch[i] = arrival(t, bytes.Repeat([]byte("x"), size), fmt.Sprint("id-", i))
	}
	return batch
}

func wantInOrder(t *testing.T, results []jetstream.Result, from uint64) {
	t.Helper()
	for i, result := range results {
		if result.Err != nil || result.Sequence != from+uint64(i) {
			t.Fatalf("message %d: %+v, want sequence %d", i, result, from+uint64(i))
		}
	}
}

// TestPublishThroughAServiceImport: a producer that may only publish learns
// sequences in the order of its messages, and the same ones when it tries again.
func TestPublishThroughAServiceImport(t *testing.T) {
	server := natstest.Start(t, natstest.Options{Config: accounts})
	ledger := connect(t, server, as("ledger"))
	provision(t, ledger)
	publisher := jetstream.NewPublisher(server.Connect(t, as("producer")))
	var told atomic.Int64
	publisher.Acknowledged = func(index int, sequence uint64) {
		if sequence != uint64(index+1) {
			t.Errorf("told of sequence %d for message %d", sequence, index)
		}
		told.Add(1)
	}
	const n = 3*jetstream.MaxInFlight + 7
	batch := arrivals(t, n, 100)
	results, err := publisher.PublishAll(contextFor(t), batch)
	if err != nil {
		t.Fatal(err)
	}
	wantInOrder(t, results, 1)
	if told.Load() != n {
		t.Errorf("told of %d acknowledgements, want %d", told.Load(), n)
	}
	for i, m := range read(t, jetstream.Open(ledger, events.ArrivalsStream), n) {
		if m.Header.Get(events.HeaderID) != fmt.Sprint("id-", i) {
			t.Fatalf("sequence %d holds %s", m.Seq, m.Header.Get(events.HeaderID))
		}
	}
	again, err := publisher.PublishAll(contextFor(t), batch)
	if err != nil {
		t.Fatal(err)
	}
	wantInOrder(t, again, 1)
	if !again[0].Duplicate || results[0].Duplicate {
		t.Errorf("%+v, then %+v", results[0], again[0])
	}
	publisher.Acknowledged = nil
	if sequence, err := publisher.Publish(contextFor(t), arrival(t, []byte("{}"), "")); err != nil || sequence != n+1 {
		t.Errorf("sequence %d: %v", sequence, err)
	}
}

// TestPublishLarge: the bound on bytes in flight lets every size through.
func TestPublishLarge(t *testing.T) {
	js := connect(t, natstest.Start(t, natstest.Options{}))
	provision(t, js)
	results, err := jetstream.NewPublisher(js.Conn()).PublishAll(contextFor(t), arrivals(t, 12, 7<<20))
	if err != nil {
		t.Fatal(err)
	}
	wantInOrder(t, results, 1)
}

func TestPublishNothing(t *testing.T) {
	js := connect(t, natstest.Start(t, natstest.Options{}))
	if results, err := jetstream.NewPublisher(js.Conn()).PublishAll(contextFor(t), nil); err != nil || len(results) != 0 {
		t.Errorf("%v, %v", results, err)
	}
}

// TestPublishDenied: the server drops what may not be published, and says so
// on the side only.
func TestPublishDenied(t *testing.T) {
	server := natstest.Start(t, natstest.Options{Config: accounts})
	provision(t, connect(t, server, as("ledger")))
	publisher := jetstream.NewPublisher(server.Connect(t, as("producer"), quiet()))
	publisher.SetAckTimeout(200 * time.Millisecond)
	out := arrival(t, []byte("{}"), "1")
	out.Subject = "ledger.arrivals.chat-review.seal"
	_, err := publisher.Publish(contextFor(t), out)
	if !errors.Is(err, events.ErrRefused) || !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("%+v", err)
	}
	if _, err := publisher.Publish(contextFor(t), arrival(t, []byte("{}"), "2")); err != nil {
		t.Errorf("what is allowed, afterwards: %+v", err)
	}
}

// TestPublishChecksFirst: nothing is sent when one message cannot be.
func TestPublishChecksFirst(t *testing.T) {
	server := natstest.Start(t, natstest.Options{Config: "max_payload: 1048576"})
	js := connect(t, server)
	provision(t, js)
	publisher := jetstream.NewPublisher(js.Conn())
	withoutID := arrival(t, []byte("{}"), "1")
	delete(withoutID.Header, events.HeaderMsgID)
	expecting := arrival(t, []byte("{}"), "1")
	expecting.Header["Nats-Expected-Last-Sequence"] = []string{"0"}
	for name, bad := range map[string]events.Outgoing{
		"larger than an arrival": {Subject: "ledger.arrivals.c.cell", Header: events.Header{events.HeaderMsgID: {"1"}}, Data: make([]byte, events.MaxArrivalBytes+1)},
		"no message id":          withoutID,
		"expectation":            expecting,
	} {
		results, err := publisher.PublishAll(contextFor(t), []events.Outgoing{arrival(t, []byte("{}"), "0"), bad, arrival(t, []byte("{}"), "2")})
		if !errors.Is(err, events.ErrRefused) || !errors.Is(results[1].Err, events.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
		for _, other := range []int{0, 2} {
			if !errors.Is(results[other].Err, events.ErrUnavailable) {
				t.Errorf("%s: message %d: %+v", name, other, results[other])
			}
		}
	}
	if tail, err := jetstream.Open(js, events.ArrivalsStream).Tail(contextFor(t)); err != nil || tail.Last != 0 {
		t.Errorf("something was sent: %+v, %v", tail, err)
	}
}

func TestPublishToNobody(t *testing.T) {
	publisher := jetstream.NewPublisher(natstest.Start(t, natstest.Options{}).Connect(t))
	publisher.SetAckTimeout(100 * time.Millisecond)
	results, err := publisher.PublishAll(contextFor(t), arrivals(t, 3, 10))
	for i, result := range results {
		if !errors.Is(result.Err, events.ErrUnavailable) || errors.Is(result.Err, events.ErrStateUnknown) {
			t.Errorf("message %d: %v", i, result.Err)
		}
	}
	if !errors.Is(err, events.ErrUnavailable) {
		t.Error(err)
	}
}

func TestPublishOnAClosedConnection(t *testing.T) {
	conn := natstest.Start(t, natstest.Options{}).Connect(t)
	conn.Close()
	if _, err := jetstream.NewPublisher(conn).Publish(contextFor(t), arrival(t, []byte("{}"), "1")); !errors.Is(err, events.ErrUnavailable) {
		t.Error(err)
	}
}

// script answers arrivals in place of the stream, to lose what a stream would
// not. It is told which message came, and how often before.
func script(t *testing.T, server *natstest.Server, answer func(id string, before int) (ack string)) {
	t.Helper()
	conn := server.Connect(t)
	seen := map[string]int{}
	_, err := conn.Subscribe("ledger.arrivals.>", func(m *nats.Msg) {
		id := m.Header.Get(events.HeaderMsgID)
		ack := answer(id, seen[id])
		seen[id]++
		if ack != "" {
			_ = m.Respond([]byte(ack)) // the publisher under test notices
		}
	})
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func ack(sequence int) string { return fmt.Sprintf(`{"stream":"ARRIVALS","seq":%d}`, sequence) }

func refusal(code int) string {
	return fmt.Sprintf(`{"stream":"ARRIVALS","seq":0,"error":{"code":400,"err_code":%d,"description":"no"}}`, code)
}

// number is the n of id-n.
func number(t *testing.T, id string) int {
	t.Helper()
	var n int
	if err := json.Unmarshal([]byte(strings.TrimPrefix(id, "id-")), &n); err != nil {
		t.Errorf("%q: %v", id, err)
	}
	return n
}

// TestPublishTriesAgain: an acknowledgement that is lost is asked for again,
// with the same id.
func TestPublishTriesAgain(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	script(t, server, func(id string, before int) string {
		if n := number(t, id); n%3 != 1 || before > 0 {
			return ack(n + 1)
		}
		return ""
	})
	publisher := jetstream.NewPublisher(server.Connect(t))
	publisher.SetAckTimeout(100 * time.Millisecond)
	results, err := publisher.PublishAll(contextFor(t), arrivals(t, 20, 10))
	if err != nil {
		t.Fatal(err)
	}
	wantInOrder(t, results, 1)
}

// TestPublishGivesUp: what was acknowledged stays so, the rest is said to be
// unknown, or never sent.
func TestPublishGivesUp(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	script(t, server, func(id string, _ int) string {
		if n := number(t, id); n < 5 || n == 7 {
			return ack(n + 1)
		}
		return ""
	})
	publisher := jetstream.NewPublisher(server.Connect(t))
	publisher.SetAckTimeout(50 * time.Millisecond)
	results, err := publisher.PublishAll(contextFor(t), arrivals(t, jetstream.MaxInFlight+20, 10))
	if !errors.Is(err, events.ErrStateUnknown) {
		t.Error(err)
	}
	for i, result := range results {
		switch {
		case i < 5 || i == 7:
			if result.Err != nil || result.Sequence != uint64(i+1) {
				t.Errorf("message %d: %+v", i, result)
			}
		case i < jetstream.MaxInFlight+5:
			if !errors.Is(result.Err, events.ErrStateUnknown) {
				t.Errorf("message %d: %+v", i, result)
			}
		case !errors.Is(result.Err, events.ErrUnavailable):
			t.Errorf("message %d was sent although %d others were in flight: %+v", i, jetstream.MaxInFlight, result)
		}
	}
}

// TestPublishStopsAtARefusal: what was in flight is settled, the rest is not
// sent.
func TestPublishStopsAtARefusal(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	script(t, server, func(id string, _ int) string {
		if n := number(t, id); n != 5 {
			return ack(n + 1)
		}
		return refusal(10077)
	})
	results, err := jetstream.NewPublisher(server.Connect(t)).PublishAll(contextFor(t), arrivals(t, 3*jetstream.MaxInFlight, 10))
	if !errors.Is(err, events.ErrRefused) {
		t.Error(err)
	}
	if !errors.Is(results[5].Err, events.ErrRefused) {
		t.Errorf("%+v", results[5])
	}
	for i, result := range results {
		switch {
		case i == 5:
		case i < jetstream.MaxInFlight && result.Sequence != uint64(i+1):
			t.Errorf("message %d was in flight: %+v", i, result)
		case i >= 2*jetstream.MaxInFlight && !errors.Is(result.Err, events.ErrUnavailable):
			t.Errorf("message %d was not: %+v", i, result)
		}
	}
}

func TestPublishReadsAnswers(t *testing.T) {
	for answer, want := range map[string]error{
		"no JSON":                    events.ErrStateUnknown,
		`{}`:                         events.ErrStateUnknown,
		`{"stream":"OTHER","seq":1}`: events.ErrStateUnknown,
		`{"stream":"ARRIVALS"}`:      events.ErrStateUnknown,
		refusal(10054):               events.ErrRefused,
		refusal(10023):               events.ErrRefused,
		refusal(19999):               events.ErrRefused,
		refusal(10076):               events.ErrUnavailable,
		ack(1):                       nil,
		`{"stream":"ARRIVALS","seq":9,"duplicate":true,"domain":"hub"}`: nil,
	} {
		server := natstest.Start(t, natstest.Options{})
		script(t, server, func(string, int) string { return answer })
		publisher := jetstream.NewPublisher(server.Connect(t))
		publisher.SetAckTimeout(100 * time.Millisecond) // for which it tries what may pass
		_, err := publisher.Publish(contextFor(t), arrival(t, []byte("{}"), "1"))
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", answer, err, want)
		}
	}
}

func TestPublishCancelled(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	script(t, server, func(string, int) string { cancel(); return "" })
	_, err := jetstream.NewPublisher(server.Connect(t)).Publish(ctx, arrival(t, []byte("{}"), "1"))
	if !errors.Is(err, context.Canceled) || !errors.Is(err, events.ErrStateUnknown) {
		t.Error(err)
	}
}

// TestPublishWaitsOut: what passes is no failure.
func TestPublishWaitsOut(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	script(t, server, func(id string, before int) string {
		if n := number(t, id); before > 0 || n%2 == 0 {
			return ack(n + 1)
		}
		return refusal(10158) // an earlier try is being stored
	})
	results, err := jetstream.NewPublisher(server.Connect(t)).PublishAll(contextFor(t), arrivals(t, 20, 10))
	if err != nil {
		t.Fatal(err)
	}
	wantInOrder(t, results, 1)
}

// TestPublishKeepsOrderAroundOthers: nothing overtakes what is no cell, even
// when it is lost at first.
func TestPublishKeepsOrderAroundOthers(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	var stored []string // in the order of their first answers; written by the script alone
	script(t, server, func(id string, before int) string {
		if before == 0 && number(t, id)%5 == 0 {
			return ""
		}
		stored = append(stored, id)
		return ack(len(stored))
	})
	batch := arrivals(t, 20, 10)
	for _, i := range []int{0, 5, 6, 15, 19} {
		batch[i].Subject = events.ArrivalSubject("chat-review", domain.KindVoid)
	}
	publisher := jetstream.NewPublisher(server.Connect(t))
	publisher.SetAckTimeout(100 * time.Millisecond)
	results, err := publisher.PublishAll(contextFor(t), batch)
	if err != nil {
		t.Fatal(err)
	}
	for _, barrier := range []int{0, 5, 6, 15, 19} {
		for i, result := range results {
			if i < barrier && result.Sequence > results[barrier].Sequence || i > barrier && result.Sequence < results[barrier].Sequence {
				t.Errorf("message %d is sequence %d, message %d, no cell, is %d", i, result.Sequence, barrier, results[barrier].Sequence)
			}
		}
	}
}

// TestPublishOverARestart: a server that goes away and comes back in the
// middle loses and doubles nothing.
func TestPublishOverARestart(t *testing.T) {
	server := natstest.Start(t, natstest.Options{SyncAlways: true})
	ledger := connect(t, server, nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	provision(t, ledger)
	publisher := jetstream.NewPublisher(server.Connect(t, nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond), quiet()))
	restarted := make(chan struct{})
	publisher.Acknowledged = func(index int, _ uint64) {
		if index == 300 {
			go func() {
				defer close(restarted)
				server.Stop()
				server.Run(t)
			}()
		}
	}
	const n = 2000
	back := ledger.Conn().StatusChanged(nats.CONNECTED)
	results, err := publisher.PublishAll(contextFor(t), arrivals(t, n, 100))
	<-restarted
	if err != nil {
		t.Fatalf("%+v", err)
	}
	<-back
	stored := read(t, jetstream.Open(ledger, events.ArrivalsStream), n)
	for i, result := range results {
		if result.Sequence == 0 || result.Sequence > n {
			t.Fatalf("message %d: %+v", i, result)
		}
		if id := stored[result.Sequence-1].Header.Get(events.HeaderID); id != fmt.Sprint("id-", i) {
			t.Fatalf("sequence %d, acknowledged for message %d, holds %s", result.Sequence, i, id)
		}
	}
}
