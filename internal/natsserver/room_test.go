package natsserver_test

import (
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/internal/natsserver"
)

const (
	mib        = 1 << 20
	enough     = 256 * mib // to start, and to take arrivals again
	reserve    = 128 * mib // below it they are turned away
	codeNoRoom = 10047
)

// room is a file system whose free space the test decides.
type room struct {
	free  atomic.Int64
	looks atomic.Int64 // how often somebody asked
}

func (r *room) ask(string) (int64, error) {
	r.looks.Add(1)
	return r.free.Load(), nil
}

// set changes the room, and waits until the server has acted on it: when it asks
// again and again, it is through with the first answer.
func (r *room) set(t *testing.T, free int64) {
	t.Helper()
	r.free.Store(free)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	ctx := testContext(t)
	for until := r.looks.Load() + 3; r.looks.Load() < until; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("nobody looks at the room")
		}
	}
}

// startInRoom runs a ledger with both streams where 1 GiB is free.
func startInRoom(t *testing.T, change ...func(*natsserver.Config)) (*ledger, *room) {
	t.Helper()
	r := &room{}
	r.free.Store(1 << 30)
	cfg, outsiders, logs := testConfig(t)
	cfg.Free = r.ask
	cfg.WatchInterval = time.Millisecond
	for _, c := range change {
		c(&cfg)
	}
	srv, err := natsserver.Start(testContext(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Stop)
	l := &ledger{Server: srv, cfg: cfg, outsiders: outsiders, logs: logs}
	l.makeStreams(t)
	return l, r
}

// awaitHealth waits until the server says what is wanted of its health.
func (l *ledger) awaitHealth(t *testing.T, want error) error {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	ctx := testContext(t)
	for {
		err := l.Health()
		if errors.Is(err, want) || err == nil && want == nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("health stays %v, want %v\n%s", err, want, l.logs)
		}
	}
}

// tryPublish gives what an arrival is answered with: a sequence, or an error
// code.
func tryPublish(t *testing.T, conn *nats.Conn, subject string, body []byte) (seq uint64, code jetstream.ErrorCode) {
	t.Helper()
	answer, err := conn.RequestWithContext(testContext(t), subject, body)
	if err != nil {
		t.Fatalf("publish %s: %v", subject, err)
	}
	var ack struct {
		jetstream.PubAck
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &ack); err != nil {
		t.Fatalf("publish %s answered %q: %v", subject, answer.Data, err)
	}
	if ack.Error != nil {
		if ack.Error.Description == "" {
			t.Errorf("%q does not say why", answer.Data)
		}
		return 0, ack.Error.ErrorCode
	}
	return ack.Sequence, 0
}

// TestTheReserve: with less than the reserve free, arrivals of every role are
// turned away with the server's own code, decisions are stored; with enough
// free all goes on.
func TestTheReserve(t *testing.T) {
	l, room := startInRoom(t)
	roles := map[natsdeploy.Role]string{natsdeploy.Operator: "ledger.arrivals.c1.seal", natsdeploy.Coordinator: "ledger.arrivals.c1.cell"}
	conns := map[natsdeploy.Role]*nats.Conn{}
	for role := range roles {
		conns[role] = l.connect(t, role)
	}
	js := l.daemonJetStream(t)
	var stored, decided uint64
	for _, step := range []struct {
		free  int64
		takes bool
	}{
		{1 << 30, true},
		{reserve, true}, // exactly the reserve
		{reserve - 1, false},
		{0, false},
		{enough - 1, false}, // not yet enough again
		{enough, true},
		{reserve, true},
		{reserve - 1, false},
		{1 << 30, true},
	} {
		room.set(t, step.free)
		want := natsserver.ErrDiskFull
		if step.takes {
			want = nil
		}
		if err := l.Health(); !errors.Is(err, want) {
			t.Errorf("%d MiB free: health is %v, want %v", step.free/mib, err, want)
		}
		for role, subject := range roles {
			seq, code := tryPublish(t, conns[role], subject, []byte(`{}`))
			if step.takes {
				stored++
			}
			if step.takes && seq != stored || !step.takes && code != codeNoRoom {
				t.Errorf("%d MiB free: %s is answered with sequence %d, code %d; want sequence %d", step.free/mib, role, seq, code, stored)
			}
		}
		if _, err := js.Publish(testContext(t), "ledger.decisions.c1.accepted.cell", []byte(`{}`)); err != nil {
			t.Errorf("%d MiB free: a decision is not stored: %v", step.free/mib, err)
		}
		decided++
	}
	if arrivals, decisions := l.lengths(t); arrivals != stored || decisions != decided {
		t.Errorf("the streams end at %d and %d, want %d and %d", arrivals, decisions, stored, decided)
	}
}
