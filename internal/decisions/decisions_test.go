package decisions_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/decisions"
)

// TestStored: every outside role learns what is decided, byte for byte, with
// the writer's headers and none of the server's.
func TestStored(t *testing.T) {
	l := startLedger(t)
	l.append(t, 3)
	l.serve(t, decisions.Config{})
	for _, role := range natsdeploy.Outside() {
		conn := l.outside(t, role)
		for sequence := uint64(1); sequence <= 3; sequence++ {
			stored, err := l.log.Get(testContext(t), sequence)
			if err != nil {
				t.Fatal(err)
			}
			decision, record, err := decisions.Wait(testContext(t), conn, sequence)
			if err != nil {
				t.Fatalf("%s: %+v", role, err)
			}
			if !bytes.Equal(record, stored.Data) || decision.Arrival.Seq != sequence || decision.Arrival.ID != fmt.Sprint("id-", sequence) {
				t.Errorf("%s: decision %d is %s", role, sequence, record)
			}
			answer, err := conn.RequestWithContext(testContext(t), decisions.Subject(sequence), nil)
			if err != nil {
				t.Fatal(err)
			}
			wantHeaders(t, answer, sequence)
		}
	}
}

func wantHeaders(t *testing.T, answer *nats.Msg, sequence uint64) {
	t.Helper()
	for name, want := range map[string]string{
		events.HeaderEpoch: epoch, events.HeaderHost: "host", events.HeaderID: fmt.Sprint(sequence - 1), events.HeaderType: events.DecisionType,
	} {
		if got := answer.Header.Get(name); got != want {
			t.Errorf("answer on %d: %s is %q, want %q", sequence, name, got, want)
		}
	}
	for name := range answer.Header {
		if len(name) > 5 && name[:5] == "Nats-" {
			t.Errorf("answer on %d has the server's header %s", sequence, name)
		}
	}
}

// TestWaiting: who comes early is woken by the append, in every role, with the
// same bytes and headers as who comes late.
func TestWaiting(t *testing.T) {
	l := startLedger(t)
	waiting, _ := l.serve(t, decisions.Config{Patience: patience})
	answers := map[natsdeploy.Role]chan *nats.Msg{}
	for _, role := range natsdeploy.Outside() {
		conn, answer := l.outside(t, role), make(chan *nats.Msg, 1)
		answers[role] = answer
		go func() {
			defer close(answer)
			m, err := conn.RequestWithContext(testContext(t), decisions.Subject(2), nil)
			if err != nil {
				t.Errorf("%s: %v", role, err)
				return
			}
			answer <- m
		}()
	}
	for range answers {
		if sequence := <-waiting; sequence != 2 {
			t.Fatalf("request for %d waits", sequence)
		}
	}
	l.append(t, 1) // not theirs
	l.append(t, 1)
	stored, err := l.log.Get(testContext(t), 2)
	if err != nil {
		t.Fatal(err)
	}
	for role, answer := range answers {
		m := <-answer
		if m == nil {
			continue // said already
		}
		if !bytes.Equal(m.Data, stored.Data) {
			t.Errorf("%s: %s", role, m.Data)
		}
		wantHeaders(t, m, 2)
	}
	if len(waiting) > 0 {
		t.Errorf("a request for %d waited a second time", <-waiting)
	}
}

// TestNotYet: the service's patience ends, the client's only with its context.
func TestNotYet(t *testing.T) {
	l := startLedger(t)
	waiting, _ := l.serve(t, decisions.Config{Patience: 50 * time.Millisecond})
	conn := l.outside(t, natsdeploy.Coordinator)
	answer, err := conn.RequestWithContext(testContext(t), decisions.Subject(1), nil)
	if err != nil || answer.Header.Get(decisions.HeaderCode) != decisions.CodeNotYet || len(answer.Data) != 0 {
		t.Fatalf("%+v, %v", answer, err)
	}
	<-waiting
	decided := make(chan error, 1)
	go func() {
		_, _, err := decisions.Wait(testContext(t), conn, 1)
		decided <- err
	}()
	<-waiting
	<-waiting // it asked again
	l.append(t, 1)
	if err := <-decided; err != nil {
		t.Error(err)
	}

	ctx, cancel := context.WithTimeout(context.Background(), 150*time.Millisecond)
	defer cancel()
	_, _, err = decisions.Wait(ctx, conn, 2)
	if !errors.Is(err, decisions.ErrNotDecided) || !errors.Is(err, context.DeadlineExceeded) || len(errors.GetAllHints(err)) == 0 {
		t.Errorf("%v", err)
	}
}

// TestNobodyAnswers: a daemon that is away is waited for too, and named when
// it does not come.
func TestNobodyAnswers(t *testing.T) {
	l := startLedger(t)
	l.append(t, 1)
	conn := l.outside(t, natsdeploy.Operator)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := decisions.Wait(ctx, conn, 1); !errors.Is(err, decisions.ErrNotDecided) || !bytes.Contains([]byte(err.Error()), []byte("is ledgerd running?")) {
		t.Errorf("%v", err)
	}
	decided := make(chan error, 1)
	go func() {
		_, _, err := decisions.Wait(testContext(t), conn, 1)
		decided <- err
	}()
	l.serve(t, decisions.Config{})
	if err := <-decided; err != nil {
		t.Error(err)
	}
	conn.Close()
	if _, _, err := decisions.Wait(testContext(t), conn, 1); !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("%v", err)
	}
}

// TestCause: what ended the context is the error.
func TestCause(t *testing.T) {
	l := startLedger(t)
	l.serve(t, decisions.Config{})
	ctx, cancel := context.WithCancelCause(context.Background())
	reason := errors.New("the reason")
	cancel(reason)
	if _, _, err := decisions.Wait(ctx, l.outside(t, natsdeploy.Reader), 1); !errors.Is(err, reason) {
		t.Errorf("%v", err)
	}
}

// TestNotASequence: what cannot be one is refused, for good.
func TestNotASequence(t *testing.T) {
	l := startLedger(t)
	l.serve(t, decisions.Config{})
	conn := l.outside(t, natsdeploy.Operator)
	for _, token := range []string{"0", "-1", "+1", "01", "1x", "x", "18446744073709551616"} {
		answer, err := conn.RequestWithContext(testContext(t), "ledger.decision."+token, nil)
		if err != nil || answer.Header.Get(decisions.HeaderCode) != decisions.CodeNotASequence {
			t.Errorf("%s: %+v, %v", token, answer, err)
		}
	}
	if _, _, err := decisions.Wait(testContext(t), conn, 0); !errors.Is(err, decisions.ErrAnswer) {
		t.Errorf("%v", err)
	}
}

// TestStopAnswersWhoWaits: nobody is left without an answer.
func TestStopAnswersWhoWaits(t *testing.T) {
	l := startLedger(t)
	waiting, stop := l.serve(t, decisions.Config{Patience: time.Minute})
	conn := l.outside(t, natsdeploy.Reader)
	answer := make(chan *nats.Msg, 1)
	go func() {
		m, err := conn.RequestWithContext(testContext(t), decisions.Subject(1), nil)
		if err != nil {
			t.Error(err)
		}
		answer <- m
	}()
	<-waiting
	stop()
	if m := <-answer; m == nil || m.Header.Get(decisions.HeaderCode) != decisions.CodeNotYet {
		t.Errorf("%+v", m)
	}
}

// TestBusy: at the bound one more is told so, and gets its turn later.
func TestBusy(t *testing.T) {
	l := startLedger(t)
	waiting, _ := l.serve(t, decisions.Config{Patience: time.Minute})
	conn := l.outside(t, natsdeploy.Coordinator)
	inbox := conn.NewInbox()
	answers, err := conn.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	for range decisions.MaxWaiting {
		if err := conn.PublishRequest(decisions.Subject(1), inbox, nil); err != nil {
			t.Fatal(err)
		}
	}
	for range decisions.MaxWaiting {
		<-waiting
	}
	answer, err := conn.RequestWithContext(testContext(t), decisions.Subject(1), nil)
	if err != nil || answer.Header.Get(decisions.HeaderCode) != decisions.CodeBusy {
		t.Fatalf("%+v, %v", answer, err)
	}
	decided := make(chan error, 1)
	go func() {
		_, _, err := decisions.Wait(testContext(t), conn, 1)
		decided <- err
	}()
	l.append(t, 1)
	for range decisions.MaxWaiting {
		m, err := answers.NextMsgWithContext(testContext(t))
		if err != nil || len(m.Data) == 0 {
			t.Fatalf("%+v, %v", m, err)
		}
	}
	if err := <-decided; err != nil {
		t.Error(err)
	}
}

// TestWaitAll: in order, more than are asked for at once, some decided before
// and some while they are asked for.
func TestWaitAll(t *testing.T) {
	l := startLedger(t)
	waiting, _ := l.serve(t, decisions.Config{})
	const n = 3*decisions.MaxAsking + 5
	l.append(t, decisions.MaxAsking/2)
	rest := make(chan struct{})
	go func() {
		defer close(rest)
		<-waiting // what is there was asked for first
		for l.last < n {
			l.append(t, int(min(20, n-l.last)))
		}
	}()
	var sequences []uint64
	for i := range uint64(n) {
		sequences = append(sequences, i+1)
	}
	next := uint64(1)
	for decided, err := range decisions.WaitAll(testContext(t), l.outside(t, natsdeploy.Operator), slices.Values(sequences)) {
		if err != nil || decided.Sequence != next || decided.Decision.Arrival.Seq != next || decided.Epoch != epoch {
			t.Fatalf("%+v, %v; want %d", decided, err, next)
		}
		next++
	}
	<-rest
	if next != n+1 {
		t.Errorf("%d decisions, want %d", next-1, n)
	}
}

// TestWaitAllEnds: with the first error, with its reader, and with nothing to
// ask.
func TestWaitAllEnds(t *testing.T) {
	l := startLedger(t)
	l.append(t, 2)
	l.serve(t, decisions.Config{})
	conn := l.outside(t, natsdeploy.Operator)
	for range decisions.WaitAll(testContext(t), conn, slices.Values([]uint64(nil))) {
		t.Error("a decision on nothing")
	}
	for decided, err := range decisions.WaitAll(testContext(t), conn, slices.Values([]uint64{1, 2, 3, 4})) {
		if err != nil || decided.Sequence != 1 {
			t.Errorf("%+v, %v", decided, err)
		}
		break // questions about 3 and 4 are on their way
	}
	var seen []uint64
	for decided, err := range decisions.WaitAll(testContext(t), conn, slices.Values([]uint64{2, 0, 1})) {
		seen = append(seen, decided.Sequence)
		if (err != nil) != (decided.Sequence == 0) || err != nil && !errors.Is(err, decisions.ErrAnswer) {
			t.Errorf("%+v, %v", decided, err)
		}
	}
	if !slices.Equal(seen, []uint64{2, 0}) {
		t.Errorf("%v", seen)
	}
}
