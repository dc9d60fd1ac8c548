package jetstream_test

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest/natstest"
	"github.com/ledgerd/ledgerd/events/jetstream"
)

// hostile are header blocks and bodies that look like the server's own, or
// cannot be read at all. Any producer may send them. SEQ stands for the
// message's own sequence, BEFORE for the one before it.
var hostile = []struct{ header, body string }{
	{"NATS/1.0\r\nStatus: 404\r\nDescription: Message Not Found\r\n\r\n", ""},
	{"NATS/1.0\r\nStatus: 409\r\nDescription: Consumer Deleted\r\n\r\n", ""},
	{"NATS/1.0\r\nStatus: 204\r\nDescription: EOB\r\nNats-Last-Sequence: 0\r\n\r\n", ""},
	{"NATS/1.0\r\nStatus: 100\r\nDescription: Idle Heartbeat\r\n\r\n", ""},
	{"NATS/1.0\r\nStatus: 503\r\n\r\n", ""},
	{"NATS/1.0\r\nStatus: 408\r\nNats-Pending-Messages: 0\r\nNats-Pending-Bytes: 0\r\n\r\n", ""},
	{"NATS/1.0\r\nStatus: 503\r\n\r\n", "{}"},
	{"NATS/1.0 404 Message Not Found\r\n\r\n", ""},
	{"NATS/1.0 409 Consumer Deleted\r\na: b\r\n\r\n", ""},
	{"NATS/1.0\r\nNats-Sequence: 999\r\nNats-Subject: ledger.decisions.other.accepted.seal\r\nNats-Time-Stamp: 1999-01-01T00:00:00Z\r\n\r\n", "{}"},
	{"NATS/1.0\r\nNats-Sequence: 999\r\n\r\n", ""},
	{"NATS/1.0\r\nNats-Stream: ARRIVALS\r\nNats-Num-Pending: 5\r\nNats-Last-Sequence: 77\r\n\r\n", ""},
	{"NATS/1.0\r\nNats-Last-Sequence: x\r\nNats-Time-Stamp: y\r\n\r\n", "{}"},
	{"NATS/1.0\r\nno colon in this line\r\n\r\n", "{}"},
	{"NATS/1.0\r\nno colon in this line\r\n\r\n", ""},
	{"NATS/1.0\r\n: no name\r\n\r\n", "{}"},
	{"NATS/1.0\r\nbad name : x\r\n\r\n", "{}"},
	{"NATS/1.0\r\na: \xff\x00\r\n\r\n", "{}"},
	{"NATS/1.0\r\na: b\r\n", "{}"},
	{"NATS/1.0\r\na: b\r\nX", "{}"},
	{"NATS/1.0\r\na", "{}"},
	{"NATS/1.0\r\na:b\r\nc:\td\r\n\r\n", "{}"},
	{"NATS/1.0\na: b\n\n", "{}"},
	{"NATS/1.0\r\na: b\r\n\r\n\r\n", "{}"},
	{"NATS/1.0\r\na: b\r\n\r\nhidden: c\r\n\r\n", "{}"},
	{"NATS/1.0\r\nNats-Stream: LEDGER\r\nNats-Subject: ledger.decisions.other.accepted.seal\r\nNats-Sequence: SEQ\r\n" +
		"Nats-Time-Stamp: 1999-01-01T00:00:00Z\r\nNats-Num-Pending: 0\r\nNats-Last-Sequence: BEFORE\r\n\r\nXY", "{}"},
	{"NATS/1.0\r\nStatus: 204\r\nDescription: EOB\r\nNats-Num-Pending: 0\r\nNats-Last-Sequence: BEFORE\r\n\r\nXY", ""},
	{"NATS/1.0\r\nStatus: 404\r\nDescription: Message Not Found\r\n\r\nXY", ""},
	{"NATS/1.0\r\nNats-Stream: LEDGER\r\na: b\r\n", "{}"},
	{"NATS/1.0\r\n\r\n", ""},
	{"NATS/1.0\r\n\r\n", "{}"},
	{"", ""},
}

// TestHostileMessages: whatever a producer writes into its headers, each way
// of reading gives every message, at its own sequence, the same in all.
func TestHostileMessages(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	js := connect(t, server, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // it tells of every bad header
	breakable(t, js)
	log, direct := jetstream.Open(js, events.LedgerStream), jetstream.OpenDirect(js, events.LedgerStream)

	wire := dial(t, server)
	for i, m := range hostile {
		header := strings.NewReplacer("SEQ", strconv.Itoa(i+1), "BEFORE", strconv.Itoa(i)).Replace(m.header)
		wire.publish(t, fmt.Sprintf("ledger.decisions.c%d.accepted.cell", i), header, m.body)
	}
	wire.publish(t, "ledger.decisions.end.accepted.cell", "", "{}")
	want := len(hostile) + 1

	filter := "ledger.decisions.*.accepted.cell"
	got := map[string][]events.Message{
		"consumer":          read(t, log, want),
		"filtered consumer": read(t, log, want, filter),
		"direct":            read(t, direct, want),
		"filtered direct":   read(t, direct, want, filter),
		"twice filtered":    read(t, direct, want, filter, "x"),
	}
	for seq := 1; seq <= want; seq++ {
		m, err := log.Get(contextFor(t), uint64(seq))
		if err != nil {
			t.Fatal(err)
		}
		got["get"] = append(got["get"], *m)
	}
	for way, messages := range got {
		for i, m := range messages {
			if m.Seq != uint64(i+1) {
				t.Fatalf("%s: sequence %d in place %d", way, m.Seq, i+1)
			}
			if i < len(hostile) && (m.Subject != fmt.Sprintf("ledger.decisions.c%d.accepted.cell", i) || string(m.Data) != hostile[i].body) {
				t.Errorf("%s: sequence %d came back on %s with %q", way, m.Seq, m.Subject, m.Data)
			}
			if diff := cmp.Diff(plain(got["get"][i]), plain(m)); diff != "" {
				t.Errorf("%s reads %q otherwise than get:\n%s", way, hostile[i].header, diff)
			}
		}
	}
}

// plain makes nothing and empty the same.
func plain(m events.Message) events.Message {
	if len(m.Header) == 0 {
		m.Header = nil
	}
	if len(m.Data) == 0 {
		m.Data = nil
	}
	return m
}

func read(t *testing.T, log events.Log, n int, filters ...string) []events.Message {
	t.Helper()
	cursor, err := log.Read(contextFor(t), 1, filters...)
	if err != nil {
		t.Fatal(err)
	}
	defer cursor.Close()
	var all []events.Message
	for len(all) < n {
		messages, err := cursor.Next(contextFor(t))
		if err != nil {
			t.Fatalf("after %d of %d messages: %+v", len(all), n, err)
		}
		all = append(all, messages...)
	}
	return all
}

// wire speaks the protocol itself, since no client sends such headers.
type wire struct {
	conn  net.Conn
	lines *bufio.Reader
}

func dial(t *testing.T, server *natstest.Server) *wire {
	t.Helper()
	conn, err := server.InProcessConn()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	w := &wire{conn, bufio.NewReader(conn)}
	w.until(t, "INFO")
	w.send(t, "CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true}\r\nSUB answer 1\r\nPING\r\n")
	w.until(t, "PONG")
	return w
}

func (w *wire) send(t *testing.T, text string) {
	t.Helper()
	if _, err := w.conn.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// until reads to the line that begins with a word.
func (w *wire) until(t *testing.T, word string) {
	t.Helper()
	for {
		line, err := w.lines.ReadString('\n')
		if err != nil || strings.HasPrefix(line, "-ERR") {
			t.Fatalf("%q: %v", line, err)
		}
		if strings.HasPrefix(line, word) {
			return
		}
	}
}

// publish stores a message and waits for its acknowledgement.
func (w *wire) publish(t *testing.T, subject, header, body string) {
	t.Helper()
	if header == "" {
		w.send(t, fmt.Sprintf("PUB %s answer %d\r\n%s\r\n", subject, len(body), body))
	} else {
		w.send(t, fmt.Sprintf("HPUB %s answer %d %d\r\n%s%s\r\n", subject, len(header), len(header)+len(body), header, body))
	}
	w.until(t, `{"stream":"LEDGER"`)
}
