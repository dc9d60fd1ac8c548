package natsserver_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
)

// answerDecisions stands in for the daemon's decision service: it answers every
// question with what could be mistaken for an arrival.
func answerDecisions(t testing.TB, l *ledger) {
	t.Helper()
	conn := l.daemon(t)
	_, err := conn.Subscribe("ledger.decision.*", func(m *nats.Msg) {
		answer := nats.NewMsg(m.Reply)
		answer.Header.Set("ce-specversion", "1.0")
		answer.Header.Set("ce-type", "ledgerd.arrival.seal.v1")
		answer.Data = []byte(`{"actor":"nobody"}`)
		_ = conn.PublishMsg(answer) // a refusal is what some tests want
	})
	if err != nil {
		t.Fatal(err)
	}
	flush(t, conn)
}

// targets are subjects that a reply or a trace must not be able to write to.
var targets = []string{
	"ledger.decisions.c1.accepted.cell",
	"ledger.arrivals.c1.seal",
	"ledger.arrivals.c1.cell",
	"ledger.decision.1",
	"ledger.committed.c1.accepted.cell",
	"$JS.API.STREAM.DELETE.LEDGER",
	"$JS.API.STREAM.DELETE.ARRIVALS",
	"$JS.API.STREAM.PURGE.ARRIVALS",
	"$JS.API.STREAM.INFO.LEDGER",
	"ledger.api.STREAM.INFO.LEDGER",
	"ledger.api.DIRECT.GET.ARRIVALS",
	"$JS.ACK.LEDGER.mine.1.1.1.1.1",
	"$JS.FC.LEDGER.mine.x",
	"$SYS.REQ.SERVER.PING",
	"$KV.ledgerd_lease.writer",
	"_R_.abcdefgh.abcdef",
	"_GR_.x.y.ledger.decisions.c1.accepted.cell",
	"_INBOX_operator.guess",
	"_INBOX_daemon.guess",
	"_INBOX_coordinator.guess",
	"_INBOX_reader.guess",
}

// TestNoReplyInjects: whatever a publisher names as its reply subject, no
// answer is ever stored, obeyed, or heard by another role.
func TestNoReplyInjects(t *testing.T) {
	questions := map[natsdeploy.Role][]string{
		natsdeploy.Operator:    {"ledger.arrivals.c1.cell", "ledger.arrivals.c1.seal", "ledger.decision.1"},
		natsdeploy.Coordinator: {"ledger.arrivals.c1.cell", "ledger.decision.1"},
		natsdeploy.Reader: {"ledger.decision.1",
			"ledger.api.STREAM.INFO.LEDGER", "ledger.api.STREAM.MSG.GET.ARRIVALS",
			"ledger.api.DIRECT.GET.ARRIVALS", "ledger.api.DIRECT.GET.ARRIVALS.ledger.arrivals.c1.campaign"},
	}
	for role, subjects := range questions {
		for _, subject := range subjects {
			t.Run(string(role)+" asks "+subject, func(t *testing.T) {
				l := startLedger(t)
				answerDecisions(t, l)
				// Something to read for those who ask for it.
				publish(t, l.connect(t, natsdeploy.Operator), "ledger.arrivals.c1.campaign", `{}`)
				ears := l.ears(t, role)

				conn := l.connect(t, role)
				for _, target := range targets {
					if err := conn.PublishRequest(subject, target, questionBody(subject)); err != nil {
						t.Fatalf("%s: %v", target, err)
					}
				}
				l.settle(t, conn)

				l.onlyPublished(t, subject)
				for who, heard := range ears {
					if n, _, _ := heard.Pending(); n != 0 {
						t.Errorf("%s heard %d messages", who, n)
					}
				}
			})
		}
	}
}

// questionBody makes subject answer: a last-message read takes no body, the
// others take or ignore a sequence.
func questionBody(subject string) []byte {
	if strings.HasPrefix(subject, "ledger.api.DIRECT.GET.ARRIVALS.") {
		return nil
	}
	return []byte(`{"seq":1}`)
}

// TestPeersOfOneRoleShareAnAccount pins what accounts.conf says of itself: a
// reply subject reaches peers in the same account, which is why each role has
// its own.
func TestPeersOfOneRoleShareAnAccount(t *testing.T) {
	l := startLedger(t)
	peer := l.connect(t, natsdeploy.Coordinator)
	heard, err := peer.SubscribeSync("ledger.committed.>")
	if err != nil {
		t.Fatal(err)
	}
	flush(t, peer)
	conn := l.connect(t, natsdeploy.Coordinator)
	if err := conn.PublishRequest("ledger.arrivals.c1.cell", "ledger.committed.c1.accepted.cell", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := heard.NextMsgWithContext(testContext(t)); err != nil {
		t.Errorf("peers no longer hear each other's answers: tell it in accounts.conf and README.md: %v", err)
	}
}

// ears listens, on connections that ask nothing, where the daemon and roles
// other than the asking one may listen.
func (l *ledger) ears(t testing.TB, asking natsdeploy.Role) map[string]*nats.Subscription {
	t.Helper()
	ears := map[string]*nats.Subscription{}
	listen := func(conn *nats.Conn, role natsdeploy.Role) {
		for _, subject := range []string{role.InboxPrefix() + ".guess", "ledger.committed.>"} {
			sub, err := conn.SubscribeSync(subject)
			if err != nil {
				t.Fatal(err)
			}
			ears[string(role)+" at "+subject] = sub
		}
		flush(t, conn)
	}
	for _, role := range natsdeploy.Outside() {
		if role != asking {
			listen(l.connect(t, role), role)
		}
	}
	listen(l.daemon(t), natsdeploy.Daemon)
	return ears
}

// settle returns when everything conn sent was handled and answered, and the
// answers are where they go: both ARRIVALS and the decision service handle
// their messages in order.
func (l *ledger) settle(t testing.TB, conn *nats.Conn) {
	t.Helper()
	flush(t, conn)
	operator := l.connect(t, natsdeploy.Operator)
	publish(t, operator, "ledger.arrivals.settle.campaign", `{}`)
	if _, err := operator.RequestWithContext(testContext(t), "ledger.decision.1", nil); err != nil {
		t.Fatalf("ask the decision service: %v", err)
	}
	flush(t, conn)
}

// onlyPublished checks that LEDGER is empty, that ARRIVALS holds nothing but
// messages published to subject and the tests' own campaigns, and that both
// streams are as they were made.
func (l *ledger) onlyPublished(t testing.TB, subject string) {
	t.Helper()
	js := l.daemonJetStream(t)
	if n := lastSeq(t, js, "LEDGER"); n != 0 {
		t.Errorf("%d messages were injected into LEDGER", n)
	}
	arrivals, err := js.Stream(testContext(t), "ARRIVALS")
	if err != nil {
		t.Fatal(err)
	}
	state := arrivals.CachedInfo().State
	if state.FirstSeq != 1 || state.Msgs != state.LastSeq {
		t.Errorf("ARRIVALS lost messages: %+v", state)
	}
	for seq := uint64(1); seq <= state.LastSeq; seq++ {
		m, err := arrivals.GetMsg(testContext(t), seq)
		if err != nil {
			t.Fatalf("arrival %d: %v", seq, err)
		}
		own := m.Subject == "ledger.arrivals.c1.campaign" || m.Subject == "ledger.arrivals.settle.campaign"
		if !own && m.Subject != subject {
			t.Errorf("arrival %d was injected at %s: %q", seq, m.Subject, m.Data)
		}
	}
	for _, want := range []jetstream.StreamConfig{arrivalsStream(), ledgerStream()} {
		stream, err := js.Stream(testContext(t), want.Name)
		if err != nil {
			t.Fatal(err)
		}
		got := stream.CachedInfo().Config
		if diff := cmp.Diff(want.Subjects, got.Subjects); diff != "" || got.MaxMsgs != -1 || !got.DenyDelete || !got.DenyPurge {
			t.Errorf("%s was changed: %+v", want.Name, got)
		}
	}
}
