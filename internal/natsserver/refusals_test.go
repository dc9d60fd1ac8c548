package natsserver_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
)

// refusals collects what the server refused on one connection.
type refusals struct {
	mu      sync.Mutex
	seen    []string
	changed chan struct{}
}

func newRefusals() *refusals { return &refusals{changed: make(chan struct{}, 1)} }

func (r *refusals) option() nats.Option {
	return nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		if !errors.Is(err, nats.ErrPermissionViolation) {
			return
		}
		r.mu.Lock()
		r.seen = append(r.seen, err.Error())
		r.mu.Unlock()
		select {
		case r.changed <- struct{}{}:
		default:
		}
	})
}

// take removes a refusal that names the subject.
func (r *refusals) take(subject string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, text := range r.seen {
		if strings.Contains(strings.ToLower(text), strings.ToLower(`"`+subject+`"`)) {
			r.seen = append(r.seen[:i], r.seen[i+1:]...)
			return true
		}
	}
	return false
}

// await waits for a refusal that names the subject.
func (r *refusals) await(t *testing.T, subject string) {
	t.Helper()
	deadline := time.After(patience)
	for !r.take(subject) {
		select {
		case <-r.changed:
		case <-deadline:
			t.Fatalf("no refusal names %q", subject)
		}
	}
}

// subjects that nobody outside may publish to.
var closedToAll = []string{
	"ledger.decisions.c1.accepted.cell",
	"ledger.decisions._.rejected.malformed",
	"ledger.committed.c1.accepted.cell",
	"ledger.arrivals",
	"ledger.arrivals.c1",
	"ledger.arrivals.c1.cell.more",
	"ledger.arrivals.>",
	"ledger.decision",
	"ledger.decision.1.2",
	"_R_.anything.at.all",
	"_INBOX_operator.guess",
	"_INBOX_coordinator.guess",
	"_INBOX_reader.guess",
	"_INBOX_daemon.guess",
	"_INBOX.guess",
	"$KV.ledgerd_lease.writer",
	"$JS.API.INFO",
	"$JS.API.STREAM.NAMES",
	"$JS.API.STREAM.LIST",
	"$JS.API.STREAM.CREATE.ARRIVALS",
	"$JS.API.STREAM.CREATE.MINE",
	"$JS.API.STREAM.UPDATE.ARRIVALS",
	"$JS.API.STREAM.UPDATE.LEDGER",
	"$JS.API.STREAM.PURGE.ARRIVALS",
	"$JS.API.STREAM.PURGE.LEDGER",
	"$JS.API.STREAM.DELETE.ARRIVALS",
	"$JS.API.STREAM.DELETE.LEDGER",
	"$JS.API.STREAM.MSG.DELETE.ARRIVALS",
	"$JS.API.STREAM.MSG.DELETE.LEDGER",
	"$JS.API.STREAM.SNAPSHOT.LEDGER",
	"$JS.API.STREAM.RESTORE.LEDGER",
	"$JS.API.STREAM.LEADER.STEPDOWN.LEDGER",
	"$JS.API.STREAM.PEER.REMOVE.LEDGER",
	"$JS.API.STREAM.INFO.ARRIVALS",
	"$JS.API.STREAM.INFO.LEDGER",
	"$JS.API.STREAM.MSG.GET.LEDGER",
	"$JS.API.DIRECT.GET.ARRIVALS",
	"$JS.API.DIRECT.GET.LEDGER",
	"$JS.API.STREAM.INFO.KV_ledgerd_lease",
	"$JS.API.STREAM.MSG.GET.KV_ledgerd_lease",
	"$JS.API.DIRECT.GET.KV_ledgerd_lease",
	"$JS.API.CONSUMER.CREATE.LEDGER",
	"$JS.API.CONSUMER.CREATE.LEDGER.mine",
	"$JS.API.CONSUMER.CREATE.ARRIVALS.mine.ledger.arrivals.>",
	"$JS.API.CONSUMER.DURABLE.CREATE.LEDGER.mine",
	"$JS.API.CONSUMER.NAMES.LEDGER",
	"$JS.API.CONSUMER.INFO.LEDGER.mine",
	"$JS.API.CONSUMER.DELETE.LEDGER.mine",
	"$JS.API.CONSUMER.MSG.NEXT.LEDGER.mine",
	"$JS.ACK.LEDGER.mine.1.1.1.1.1",
	"$JS.FC.LEDGER.mine.x",
	"$JS.SNAPSHOT.RESTORE.LEDGER.x",
	"ledger.api.INFO",
	"ledger.api.STREAM.NAMES",
	"ledger.api.STREAM.DELETE.LEDGER",
	"ledger.api.STREAM.PURGE.LEDGER",
	"ledger.api.STREAM.UPDATE.LEDGER",
	"ledger.api.STREAM.INFO.KV_ledgerd_lease",
	"ledger.api.CONSUMER.CREATE.LEDGER",
	"ledger.api.CONSUMER.CREATE.LEDGER.mine",
	"ledger.api.DIRECT.GET.KV_ledgerd_lease",
	"$JS.LEDGER.API.STREAM.DELETE.LEDGER",
	"$SYS.REQ.USER.INFO",
	"$SYS.REQ.SERVER.PING",
	"$SYS.REQ.ACCOUNT.PING.CONNZ",
	"$SYS.REQ.ACCOUNT.LEDGER.CONNZ",
	"$SRV.PING",
	"$NRG.anything",
	"anything",
}

// arrival kinds that only the operator may publish.
var operatorsOnly = []string{
	"ledger.arrivals.c1.campaign",
	"ledger.arrivals.c1.void",
	"ledger.arrivals.c1.seal",
	"ledger.arrivals.c1.unheard",
}

var coordinatorsKinds = []string{"ledger.arrivals.c1.cell", "ledger.arrivals.c1.checkpoint"}

var readersSubjects = []string{
	"ledger.api.STREAM.INFO.ARRIVALS",
	"ledger.api.STREAM.INFO.LEDGER",
	"ledger.api.STREAM.MSG.GET.ARRIVALS",
	"ledger.api.STREAM.MSG.GET.LEDGER",
	"ledger.api.DIRECT.GET.ARRIVALS",
	"ledger.api.DIRECT.GET.LEDGER",
	"ledger.api.DIRECT.GET.LEDGER.ledger.decisions.c1.accepted.cell",
}

func concat(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

func TestPublishingElsewhereIsRefused(t *testing.T) {
	for role, subjects := range map[natsdeploy.Role][]string{
		natsdeploy.Operator:    concat(closedToAll, readersSubjects),
		natsdeploy.Coordinator: concat(closedToAll, readersSubjects, operatorsOnly),
		natsdeploy.Reader:      concat(closedToAll, operatorsOnly, coordinatorsKinds),
	} {
		t.Run(string(role), func(t *testing.T) {
			l := startLedger(t)
			before := l.fingerprint(t)
			refused := newRefusals()
			conn := l.connect(t, role, refused.option(), nats.SkipSubjectValidation())
			for _, subject := range subjects {
				reply := conn.NewRespInbox()
				if err := conn.PublishRequest(subject, reply, []byte(`{}`)); err != nil {
					t.Fatalf("%s: %v", subject, err)
				}
				refused.await(t, subject)
			}
			if after := l.fingerprint(t); after != before {
				t.Errorf("streams changed\nfrom %s\nto   %s", before, after)
			}
		})
	}
}

func TestListeningElsewhereIsRefused(t *testing.T) {
	subjects := []string{
		">", "*", "ledger.>", "ledger.*.>",
		"ledger.arrivals.>", "ledger.arrivals.*.cell", "ledger.arrivals.c1.cell",
		"ledger.decisions.>", "ledger.decision.*", "ledger.decision.1",
		"_INBOX.>", "_INBOX_operator.*.>", "_INBOX_coordinator", "_INBOX_reader", "_INBOX_daemon.>", "_INBOX_provisioner.>",
		"_R_.>", "_GR_.>", "$JS.>", "$JS.EVENT.>", "$JS.API.>", "$SYS.>", "$SRV.>", "$KV.>", "$NRG.>",
	}
	foreign := map[natsdeploy.Role][]string{
		natsdeploy.Operator:    {"_INBOX_reader.>"},
		natsdeploy.Coordinator: {"_INBOX_operator.>", "_INBOX_reader.>"},
		natsdeploy.Reader:      {"_INBOX_operator.>", "_INBOX_coordinator.>"},
	}
	l := startLedger(t)
	for _, role := range natsdeploy.Outside() {
		t.Run(string(role), func(t *testing.T) {
			refused := newRefusals()
			conn := l.connect(t, role, refused.option())
			for _, subject := range concat(subjects, foreign[role]) {
				// The operator's own inbox with an inner wildcard is its own.
				if role == natsdeploy.Operator && subject == "_INBOX_operator.*.>" {
					continue
				}
				if _, err := conn.SubscribeSync(subject); err != nil {
					t.Fatalf("%s: %v", subject, err)
				}
				refused.await(t, subject)
				if _, err := conn.QueueSubscribeSync(subject, "workers"); err != nil {
					t.Fatalf("%s: %v", subject, err)
				}
				refused.await(t, subject)
			}
		})
	}
}

// TestAnOperatorsOtherInboxIsItsOwn: the operator may listen to
// _INBOX_coordinator.>, and hears no coordinator there.
func TestAnOperatorsOtherInboxIsItsOwn(t *testing.T) {
	l := startLedger(t)
	operator := l.connect(t, natsdeploy.Operator)
	heard, err := operator.SubscribeSync("_INBOX_coordinator.>")
	if err != nil {
		t.Fatal(err)
	}
	flush(t, operator)
	coordinator := l.connect(t, natsdeploy.Coordinator)
	publish(t, coordinator, "ledger.arrivals.c1.cell", `{}`)
	flush(t, operator)
	if n, _, _ := heard.Pending(); n != 0 {
		t.Errorf("the operator heard %d of the coordinator's answers", n)
	}
	answer, err := operator.RequestMsgWithContext(testContext(t), &nats.Msg{Subject: "ledger.arrivals.c1.seal"})
	if err != nil {
		t.Errorf("the operator's own request: %v", err)
	} else {
		acknowledged(t, answer, 2)
	}
}

// TestTheDaemonCannotRewriteHistory: even the writer's own user has no way to
// change or remove what is stored, or to make up arrivals.
func TestTheDaemonCannotRewriteHistory(t *testing.T) {
	l := startLedger(t)
	js := l.daemonJetStream(t)
	coordinator := l.connect(t, natsdeploy.Coordinator)
	publish(t, coordinator, "ledger.arrivals.c1.cell", `{}`)
	if _, err := js.Publish(testContext(t), "ledger.decisions.c1.accepted.cell", []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	before := l.fingerprint(t)

	refused := newRefusals()
	conn, err := l.InProcess(natsdeploy.Daemon, refused.option())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, subject := range []string{
		"ledger.arrivals.c1.cell",
		"ledger.committed.c1.accepted.cell",
		"$JS.API.STREAM.UPDATE.ARRIVALS",
		"$JS.API.STREAM.UPDATE.LEDGER",
		"$JS.API.STREAM.PURGE.ARRIVALS",
		"$JS.API.STREAM.PURGE.LEDGER",
		"$JS.API.STREAM.DELETE.ARRIVALS",
		"$JS.API.STREAM.DELETE.LEDGER",
		"$JS.API.STREAM.MSG.DELETE.ARRIVALS",
		"$JS.API.STREAM.MSG.DELETE.LEDGER",
		"$JS.API.STREAM.RESTORE.LEDGER",
		"$JS.API.STREAM.SNAPSHOT.LEDGER",
		"$JS.API.STREAM.CREATE.OTHER",
		"$JS.SNAPSHOT.RESTORE.LEDGER.x",
		"$KV.other.key",
		"$SYS.REQ.SERVER.PING",
	} {
		if err := conn.PublishRequest(subject, conn.NewRespInbox(), []byte(`{"seq":1}`)); err != nil {
			t.Fatalf("%s: %v", subject, err)
		}
		refused.await(t, subject)
	}

	shrunk := ledgerStream()
	shrunk.MaxMsgs = 1
	if _, err := newJetStream(t, conn).CreateStream(testContext(t), shrunk); !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		t.Errorf("creating LEDGER again with a limit: %v, want %v", err, jetstream.ErrStreamNameAlreadyInUse)
	}
	// A push consumer delivers with the server's own rights.
	for _, target := range []string{"$JS.API.STREAM.DELETE.LEDGER", "$JS.API.STREAM.PURGE.LEDGER", "_R_.x"} {
		answer, err := conn.RequestWithContext(testContext(t), "$JS.API.CONSUMER.CREATE.LEDGER",
			[]byte(`{"stream_name":"LEDGER","config":{"deliver_policy":"all","ack_policy":"none","deliver_subject":"`+target+`"}}`))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(answer.Data), `"error"`) {
			t.Errorf("a consumer that delivers to %s was made: %s", target, answer.Data)
		}
	}
	if after := l.fingerprint(t); after != before {
		t.Errorf("streams changed\nfrom %s\nto   %s", before, after)
	}
}

func TestTheProvisionerPublishesNothing(t *testing.T) {
	l := startLedger(t)
	refused := newRefusals()
	conn, err := l.InProcess(natsdeploy.Provisioner, refused.option())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, subject := range []string{"ledger.arrivals.c1.cell", "ledger.decisions.c1.accepted.cell", "ledger.decision.1"} {
		if err := conn.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
		refused.await(t, subject)
	}
}
