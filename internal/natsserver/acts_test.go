package natsserver_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
)

// flush returns when the server has handled everything conn sent.
func flush(t testing.TB, conn *nats.Conn) {
	t.Helper()
	if err := conn.FlushWithContext(testContext(t)); err != nil {
		t.Fatalf("flush: %v", err)
	}
}

// publish sends an arrival as a producer does and gives its acknowledgement.
func publish(t testing.TB, conn *nats.Conn, subject, body string) jetstream.PubAck {
	t.Helper()
	answer, err := conn.RequestWithContext(testContext(t), subject, []byte(body))
	if err != nil {
		t.Fatalf("publish %s: %v", subject, err)
	}
	var ack jetstream.PubAck
	if err := json.Unmarshal(answer.Data, &ack); err != nil || ack.Sequence == 0 {
		t.Fatalf("publish %s answered %q", subject, answer.Data)
	}
	return ack
}

// acknowledged checks that answer says an arrival was stored at seq.
func acknowledged(t testing.TB, answer *nats.Msg, seq uint64) {
	t.Helper()
	var ack jetstream.PubAck
	if err := json.Unmarshal(answer.Data, &ack); err != nil || ack.Stream != "ARRIVALS" || ack.Sequence != seq {
		t.Errorf("answered %q, want ARRIVALS at %d", answer.Data, seq)
	}
}

// fingerprint is all that must not change by a refused act: names,
// configuration and bounds of every stream, and its consumers.
func (l *ledger) fingerprint(t testing.TB) string {
	t.Helper()
	conn, err := l.InProcess(natsdeploy.Provisioner)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js := newJetStream(t, conn)
	var text string
	list := js.ListStreams(testContext(t))
	for info := range list.Info() {
		cfg, err := json.Marshal(info.Config)
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("%s %d-%d consumers=%d %s\n", info.Config.Name, info.State.FirstSeq, info.State.LastSeq, info.State.Consumers, cfg)
	}
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return text
}
