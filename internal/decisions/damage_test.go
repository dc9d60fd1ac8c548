package decisions_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/decisions"
)

// reading is a ledger whose readings are altered by fail, when it is not nil:
// it is told how often was read before.
type reading struct {
	events.Log
	reads atomic.Int64
	fail  func(sequence uint64, before int64) error
}

func (r *reading) Get(ctx context.Context, sequence uint64) (*events.Message, error) {
	if err := r.fail(sequence, r.reads.Add(1)-1); err != nil {
		return nil, err
	}
	return r.Log.Get(ctx, sequence)
}

// TestMissing: a decision that was heard of and cannot be found is damage, and
// is not waited for.
func TestMissing(t *testing.T) {
	l := startLedger(t)
	lost := &reading{Log: l.log, fail: func(sequence uint64, _ int64) error {
		if sequence == 1 {
			return events.ErrNotFound
		}
		return nil
	}}
	l.serve(t, decisions.Config{Ledger: lost, Patience: 50 * time.Millisecond})
	conn := l.outside(t, natsdeploy.Reader)
	l.append(t, 2)
	if _, _, err := decisions.Wait(testContext(t), conn, 2); err != nil {
		t.Fatal(err)
	}
	_, _, err := decisions.Wait(testContext(t), conn, 1)
	if !errors.Is(err, decisions.ErrMissing) || len(errors.GetAllHints(err)) == 0 {
		t.Errorf("%v", err)
	}
}

// TestUnreadableForNow: a ledger that cannot be read just now is asked again.
func TestUnreadableForNow(t *testing.T) {
	l := startLedger(t)
	l.append(t, 1)
	away := &reading{Log: l.log, fail: func(_ uint64, before int64) error {
		if before < 2 {
			return events.ErrUnavailable
		}
		return nil
	}}
	l.serve(t, decisions.Config{Ledger: away, Patience: 50 * time.Millisecond})
	if _, _, err := decisions.Wait(testContext(t), l.outside(t, natsdeploy.Reader), 1); err != nil {
		t.Error(err)
	}
}

// TestMissedNotice: a decision that was stored while nobody listened, behind
// the look and before the notice, is found when the next one is heard of.
func TestMissedNotice(t *testing.T) {
	l := startLedger(t)
	l.append(t, 3) // before the service listens
	early := &reading{Log: l.log, fail: func(_ uint64, before int64) error {
		if before == 0 {
			return events.ErrNotFound // it looks before it is there
		}
		return nil
	}}
	waiting, _ := l.serve(t, decisions.Config{Ledger: early, Patience: patience})
	decided := make(chan error, 1)
	conn := l.outside(t, natsdeploy.Operator)
	go func() {
		_, _, err := decisions.Wait(testContext(t), conn, 2)
		decided <- err
	}()
	<-waiting
	l.append(t, 1)
	if err := <-decided; err != nil {
		t.Error(err)
	}
}

// TestWrongAnswers: what is no decision, or another one, is not taken for it.
func TestWrongAnswers(t *testing.T) {
	l := startLedger(t)
	answers := map[string]func(*nats.Msg){
		decisions.Subject(1): func(m *nats.Msg) { m.Data = l.record(t, 2) },
		decisions.Subject(2): func(m *nats.Msg) { m.Data = append(l.record(t, 2), ' ') },
		decisions.Subject(3): func(m *nats.Msg) { m.Data = nil },
		decisions.Subject(4): func(m *nats.Msg) { m.Header.Set(decisions.HeaderCode, "999") },
	}
	_, err := l.daemon.Subscribe("ledger.decision.*", func(m *nats.Msg) {
		answer := nats.NewMsg(m.Reply)
		answers[m.Subject](answer)
		if err := m.RespondMsg(answer); err != nil {
			t.Error(err)
		}
	})
	if err == nil {
		err = l.daemon.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	conn := l.outside(t, natsdeploy.Reader)
	for sequence := uint64(1); sequence <= 4; sequence++ {
		if _, _, err := decisions.Wait(testContext(t), conn, sequence); !errors.Is(err, decisions.ErrAnswer) {
			t.Errorf("%d: %v", sequence, err)
		}
	}
}

func TestNewNeedsBoth(t *testing.T) {
	l := startLedger(t)
	for _, config := range []decisions.Config{{}, {Conn: l.daemon}, {Ledger: l.log}} {
		if _, err := decisions.New(config); !errors.HasAssertionFailure(err) {
			t.Errorf("%v", err)
		}
	}
}

// TestConnectionClosed ends the service with an error.
func TestConnectionClosed(t *testing.T) {
	l := startLedger(t)
	conn := l.inProcess(t, natsdeploy.Daemon)
	service, err := decisions.New(decisions.Config{Conn: conn, Ledger: l.log})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- service.Run(context.Background()) }()
	l.listening(t, ended)
	conn.Close()
	if err := <-ended; !errors.Is(err, nats.ErrConnectionClosed) {
		t.Error(err)
	}
}

// TestTwoServices: with two daemons each request is answered once.
func TestTwoServices(t *testing.T) {
	l := startLedger(t)
	l.append(t, 1)
	l.serve(t, decisions.Config{})
	l.serve(t, decisions.Config{Conn: l.inProcess(t, natsdeploy.Daemon)})
	conn := l.outside(t, natsdeploy.Reader)
	inbox := conn.NewInbox()
	answers, err := conn.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := conn.PublishRequest(decisions.Subject(1), inbox, nil); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		if _, err := answers.NextMsgWithContext(testContext(t)); err != nil {
			t.Fatal(err)
		}
	}
	// A later question's answer comes behind a second answer to the earlier ones.
	if _, _, err := decisions.Wait(testContext(t), conn, 1); err != nil {
		t.Fatal(err)
	}
	if n, _, err := answers.Pending(); n != 0 || err != nil {
		t.Errorf("%d answers more: %v", n, err)
	}
}
