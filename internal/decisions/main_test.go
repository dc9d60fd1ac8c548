package decisions_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
	"go.uber.org/goleak"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/decisions"
	"github.com/ledgerd/ledgerd/internal/natsserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds waits that are over at once when all is well.
const patience = 20 * time.Second

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

var someTime = time.Date(2026, 10, 1, 10, 0, 0, 0, time.UTC)

const epoch = "01999999-aaaa-7bbb-8ccc-dddddddddddd"

// ledger is the embedded server with both streams, and its daemon's
// connection.
type ledger struct {
	server *natsserver.Server
	keys   map[natsdeploy.Role]nkeys.KeyPair
	daemon *nats.Conn
	log    *jetstream.Log
	last   uint64 // appended by this test
	prev   string
}

func startLedger(t testing.TB) *ledger {
	t.Helper()
	l := &ledger{keys: map[natsdeploy.Role]nkeys.KeyPair{}, prev: events.GenesisHash}
	config := natsserver.Config{
		StoreDir: t.TempDir(), LedgerID: "test", Listen: "127.0.0.1:0", MaxStoreBytes: 1 << 30, RelaxedSync: true,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	for role, public := range map[natsdeploy.Role]*string{
		natsdeploy.Operator: &config.Operator, natsdeploy.Coordinator: &config.Coordinator, natsdeploy.Reader: &config.Reader,
	} {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		if *public, err = pair.PublicKey(); err != nil {
			t.Fatal(err)
		}
		l.keys[role] = pair
	}
	var err error
	if l.server, err = natsserver.Start(testContext(t), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.server.Stop)
	if err := jetstream.Provision(testContext(t), newJetStream(t, l.inProcess(t, natsdeploy.Provisioner)),
		jetstream.Limits{LedgerID: "test", Replicas: 1, StoreBytes: 512 << 20}); err != nil {
		t.Fatal(err)
	}
	l.daemon = l.inProcess(t, natsdeploy.Daemon)
	l.log = jetstream.Open(newJetStream(t, l.daemon), events.LedgerStream)
	return l
}

func newJetStream(t testing.TB, conn *nats.Conn) natsjs.JetStream {
	t.Helper()
	js, err := natsjs.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func (l *ledger) inProcess(t testing.TB, role natsdeploy.Role) *nats.Conn {
	t.Helper()
	conn, err := l.server.InProcess(role, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		t.Errorf("%s: %v", role, err)
	}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// outside joins over the network.
func (l *ledger) outside(t testing.TB, role natsdeploy.Role) *nats.Conn {
	t.Helper()
	public, err := l.keys[role].PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(l.server.ClientURL(), nats.Nkey(public, l.keys[role].Sign), nats.CustomInboxPrefix(role.InboxPrefix()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// append stores n more decisions, in one batch.
func (l *ledger) append(t testing.TB, n int) {
	t.Helper()
	var batch []events.Outgoing
	for i := range n {
		record := l.record(t, l.last+uint64(i)+1)
		l.prev = events.RecordHash(record)
		decision, err := events.DecodeRecord(record)
		if err != nil {
			t.Fatal(err)
		}
		batch = append(batch, events.NewDecisionMessage(decision, record, epoch, "host"))
	}
	last, err := l.log.Append(testContext(t), l.last, batch)
	if err != nil {
		t.Fatal(err)
	}
	l.last = last
}

// record refuses the arrival at a sequence.
func (l *ledger) record(t testing.TB, sequence uint64) []byte {
	t.Helper()
	decision, err := domain.Decide(domain.RuleVersion, nil, &domain.Arrival{
		Seq: sequence, ID: fmt.Sprint("id-", sequence), SHA256: strings.Repeat("a", 64), Time: someTime,
		Campaign: "c", Kind: domain.KindSeal, Seal: &domain.SealRequest{},
	})
	if err != nil {
		t.Fatal(err)
	}
	decision.Prev = l.prev
	record, err := events.EncodeRecord(decision)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// serve runs the service until the test ends. waiting hears of each request
// that begins to wait.
func (l *ledger) serve(t testing.TB, config decisions.Config) (waiting <-chan uint64, stop func()) {
	t.Helper()
	if config.Conn == nil {
		config.Conn = l.daemon
	}
	if config.Ledger == nil {
		config.Ledger = l.log
	}
	service, err := decisions.New(config)
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan uint64, decisions.MaxWaiting)
	service.OnWait(func(sequence uint64) { told <- sequence })
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx) }()
	l.listening(t, ended)
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the service ends with %v", err)
		}
	}
	t.Cleanup(stop)
	return told, stop
}

// listening returns when the service answers: what it cannot read, at once.
func (l *ledger) listening(t testing.TB, ended <-chan error) {
	t.Helper()
	conn := l.outside(t, natsdeploy.Reader)
	ctx := testContext(t)
	for {
		answer, err := conn.RequestWithContext(ctx, "ledger.decision.zero", nil)
		switch {
		case err == nil && answer.Header.Get(decisions.HeaderCode) == decisions.CodeNotASequence:
			return
		case ctx.Err() != nil:
			t.Fatalf("the service does not listen: %v", err)
		case len(ended) > 0:
			t.Fatalf("the service ended: %v", <-ended)
		}
	}
}
