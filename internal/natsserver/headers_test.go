package natsserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
)

// Answers to an arrival that carries one of the server's own headers.
const (
	stored  = "stored"  // as an ordinary arrival
	refused = "refused" // by the stream, with an error in the answer
	dropped = "dropped" // before it reached the stream: a permission violation
)

// TestServerHeadersDoNothing: producers may write any header, the server's own
// among them. None stores, changes, removes or delays anything else.
func TestServerHeadersDoNothing(t *testing.T) {
	rows := []struct {
		name    string
		headers map[string]string
		want    string
	}{
		{"trace to a decision", map[string]string{"Nats-Trace-Dest": "ledger.decisions.c1.accepted.cell"}, dropped},
		{"trace to an operator's arrival", map[string]string{"Nats-Trace-Dest": "ledger.arrivals.c1.seal"}, dropped},
		{"trace to the API", map[string]string{"Nats-Trace-Dest": "$JS.API.STREAM.DELETE.LEDGER"}, dropped},
		{"trace to an inbox", map[string]string{"Nats-Trace-Dest": "_INBOX_operator.guess"}, dropped},
		{"trace only", map[string]string{"Nats-Trace-Dest": "ledger.decisions.c1.accepted.cell", "Nats-Trace-Only": "true"}, dropped},
		{"trace over routes", map[string]string{"Nats-Trace-Dest": "ledger.decisions.c1.accepted.cell", "Nats-Trace-Hop": "1"}, dropped},
		{"foreign trace", map[string]string{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}, stored},
		{"another account's client", map[string]string{"Nats-Request-Info": `{"acc":"LEDGER","svc":"SYS"}`}, stored},
		{"roll up the subject", map[string]string{"Nats-Rollup": "sub"}, refused},
		{"roll up everything", map[string]string{"Nats-Rollup": "all"}, refused},
		{"expire", map[string]string{"Nats-TTL": "1s"}, refused},
		{"never expire", map[string]string{"Nats-TTL": "never"}, refused},
		{"schedule", map[string]string{"Nats-Schedule": "@at 2020-01-01T00:00:00Z", "Nats-Schedule-Target": "ledger.arrivals.c1.seal"}, refused},
		{"schedule a decision", map[string]string{"Nats-Schedule": "@every 1s", "Nats-Schedule-Target": "ledger.decisions.c1.accepted.cell"}, refused},
		{"begin a batch", map[string]string{"Nats-Batch-Id": "b", "Nats-Batch-Sequence": "1"}, refused},
		{"commit a batch", map[string]string{"Nats-Batch-Id": "b", "Nats-Batch-Sequence": "1", "Nats-Batch-Commit": "1"}, refused},
		{"count", map[string]string{"Nats-Incr": "+1"}, refused},
		{"expect another sequence", map[string]string{"Nats-Expected-Last-Sequence": "99"}, refused},
		{"expect another subject sequence", map[string]string{"Nats-Expected-Last-Subject-Sequence": "99"}, refused},
		{"expect another stream", map[string]string{"Nats-Expected-Stream": "LEDGER"}, refused},
		{"expect another id", map[string]string{"Nats-Expected-Last-Msg-Id": "x"}, refused},
		{"expect the sequence", map[string]string{"Nats-Expected-Last-Sequence": "1"}, stored},
		{"claim a source", map[string]string{"Nats-Stream-Source": "LEDGER 5"}, refused},
		{"claim a sequence", map[string]string{"Nats-Sequence": "7", "Nats-Stream": "LEDGER", "Nats-Last-Sequence": "6"}, stored},
		{"claim a marker", map[string]string{"Nats-Marker-Reason": "Purge"}, stored},
		{"claim a status", map[string]string{"Status": "503"}, stored},
		{"another server level", map[string]string{"Nats-Required-Api-Level": "9999"}, stored},
		{"claim a lease", map[string]string{"KV-Operation": "PURGE"}, stored},
	}
	const subject = "ledger.arrivals.c1.cell"
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			l := startLedger(t)
			answerDecisions(t, l)
			publish(t, l.connect(t, natsdeploy.Operator), "ledger.arrivals.c1.campaign", `{}`)
			ears := l.ears(t, natsdeploy.Coordinator)

			violations := newRefusals()
			conn := l.connect(t, natsdeploy.Coordinator, violations.option())
			got := sendWithHeaders(t, conn, violations, subject, row.headers)
			if got != row.want {
				t.Errorf("the arrival was %s, want %s", got, row.want)
			}
			l.settle(t, conn)

			l.onlyPublished(t, subject)
			if arrivals, _ := l.lengths(t); got != stored && arrivals != 2 {
				t.Errorf("ARRIVALS has %d messages after a refusal, want 2", arrivals)
			}
			for who, heard := range ears {
				if n, _, _ := heard.Pending(); n != 0 {
					t.Errorf("%s heard %d messages", who, n)
				}
			}
		})
	}
}

// sendWithHeaders publishes one arrival and tells what became of it.
func sendWithHeaders(t *testing.T, conn *nats.Conn, violations *refusals, subject string, headers map[string]string) string {
	t.Helper()
	inbox := conn.NewInbox()
	answers, err := conn.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	m := &nats.Msg{Subject: subject, Reply: inbox, Header: nats.Header{}, Data: []byte(`{}`)}
	for name, value := range headers {
		m.Header[name] = []string{value}
	}
	if err := conn.PublishMsg(m); err != nil {
		t.Fatal(err)
	}
	flush(t, conn)
	if dest := headers["Nats-Trace-Dest"]; dest != "" {
		violations.await(t, dest)
		return dropped
	}
	answer, err := answers.NextMsgWithContext(testContext(t))
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	if strings.Contains(string(answer.Data), `"error"`) {
		return refused
	}
	var ack struct{ Seq uint64 }
	if err := json.Unmarshal(answer.Data, &ack); err != nil || ack.Seq != 2 {
		t.Errorf("answered %q, want sequence 2", answer.Data)
	}
	return stored
}

// TestATraceEndsAtTheBorder: a trace to a subject its sender may publish to is
// let through by the server. It tells of nothing behind the account's border,
// and stores nothing the sender could not have published itself.
func TestATraceEndsAtTheBorder(t *testing.T) {
	l := startLedger(t)
	answerDecisions(t, l)
	conn := l.connect(t, natsdeploy.Coordinator)
	traced := &nats.Msg{Subject: "ledger.arrivals.c1.cell", Header: nats.Header{"Nats-Trace-Dest": {"ledger.arrivals.c1.checkpoint"}}}
	if _, err := conn.RequestMsgWithContext(testContext(t), traced); err != nil {
		t.Fatal(err)
	}
	l.settle(t, conn)

	arrivals, err := l.daemonJetStream(t).Stream(testContext(t), "ARRIVALS")
	if err != nil {
		t.Fatal(err)
	}
	report, err := arrivals.GetLastMsgForSubject(testContext(t), "ledger.arrivals.c1.checkpoint")
	if err != nil {
		t.Fatal(err)
	}
	var trace struct{ Events []struct{ Type string } }
	if err := json.Unmarshal(report.Data, &trace); err != nil {
		t.Fatal(err)
	}
	for _, event := range trace.Events {
		// in: the message came in; si: it left by the service import. What
		// streams and subscriptions LEDGER has would be js and eg.
		if event.Type != "in" && event.Type != "si" {
			t.Errorf("the trace tells of %q behind the border: %s", event.Type, report.Data)
		}
	}
}
