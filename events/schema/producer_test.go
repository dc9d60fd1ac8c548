package schema_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	"github.com/ledgerd/ledgerd/internal/natsserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests.
const patience = 30 * time.Second

func contextFor(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// shown is the event that the README shows: the first block of text in it.
func shown(t *testing.T) *nats.Msg {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```text\n")
	block, _, found := strings.Cut(block, "\n```\n")
	parts := strings.Split(block, "\n\n")
	if !found || len(parts) != 3 {
		t.Fatalf("the README shows no event: %q", block)
	}
	m := nats.NewMsg(parts[0])
	for line := range strings.SplitSeq(parts[1], "\n") {
		name, value, ok := strings.Cut(line, ": ")
		if !ok {
			t.Fatalf("no header: %q", line)
		}
		m.Header[name] = []string{value}
	}
	m.Data = []byte(parts[2])
	return m
}

// alike is the shown event with another kind, id and body.
func alike(t *testing.T, kind domain.Kind, id string, body []byte) *nats.Msg {
	t.Helper()
	m := shown(t)
	old := m.Header.Get("ce-id")
	m.Subject = strings.TrimSuffix(m.Subject, "seal") + string(kind)
	for name, values := range m.Header {
		m.Header[name] = []string{strings.ReplaceAll(strings.ReplaceAll(values[0], ".seal.", "."+string(kind)+"."), old, id)}
	}
	m.Data = body
	return m
}

// station is a server as ledgerd runs it, with a key for each role outside.
type station struct {
	*natsserver.Server
	keys map[natsdeploy.Role]nkeys.KeyPair
}

func startStation(t *testing.T) *station {
	t.Helper()
	s := &station{keys: map[natsdeploy.Role]nkeys.KeyPair{}}
	public := map[natsdeploy.Role]string{}
	for _, role := range natsdeploy.Outside() {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		if public[role], err = pair.PublicKey(); err != nil {
			t.Fatal(err)
		}
		s.keys[role] = pair
	}
	const storeBytes = 1 << 30
	server, err := natsserver.Start(contextFor(t), natsserver.Config{
		StoreDir: filepath.Join(t.TempDir(), "nats"), LedgerID: "test", Listen: "127.0.0.1:0", MaxStoreBytes: storeBytes, RelaxedSync: true,
		Operator: public[natsdeploy.Operator], Coordinator: public[natsdeploy.Coordinator], Reader: public[natsdeploy.Reader],
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	s.Server = server
	provisioner := s.inside(t, natsdeploy.Provisioner)
	if err := jetstream.Provision(contextFor(t), provisioner, jetstream.Limits{LedgerID: "test", Replicas: 1, StoreBytes: storeBytes}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *station) inside(t *testing.T, role natsdeploy.Role) natsjs.JetStream {
	t.Helper()
	conn, err := s.InProcess(role)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := natsjs.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// connect is what the README tells: the role's seed, the role's inbox prefix.
func (s *station) connect(t *testing.T, role string) *nats.Conn {
	t.Helper()
	seed, err := s.keys[natsdeploy.Role(role)].Seed()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), role+".nk")
	if err := os.WriteFile(file, seed, 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := nats.NkeyOptionFromSeed(file)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(s.ClientURL(), key, nats.CustomInboxPrefix("_INBOX_"+role))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// receipt is what the server answers a publication.
type receipt struct {
	Stream    string `json:"stream"`
	Seq       uint64 `json:"seq"`
	Duplicate bool   `json:"duplicate"`
	Error     any    `json:"error"`
}

func request(t *testing.T, conn *nats.Conn, m *nats.Msg) receipt {
	t.Helper()
	answer, err := conn.RequestMsgWithContext(contextFor(t), m)
	if err != nil {
		t.Fatal(err)
	}
	var got receipt
	if err := json.Unmarshal(answer.Data, &got); err != nil {
		t.Fatalf("%v: %s", err, answer.Data)
	}
	return got
}

// TestPlainClient publishes with nothing but what the README says: exactly the
// shown event, then every valid example in its form.
func TestPlainClient(t *testing.T) {
	s := startStation(t)
	operator, coordinator := s.connect(t, "operator"), s.connect(t, "coordinator")
	sent := []*nats.Msg{shown(t)}
	for _, e := range examples(t, valid) {
		sent = append(sent, alike(t, e.kind, "id-"+strconv.Itoa(len(sent)), e.body))
	}
	for i, m := range sent {
		conn := operator
		if strings.HasSuffix(m.Subject, ".cell") || strings.HasSuffix(m.Subject, ".checkpoint") {
			conn = coordinator
		}
		if got := request(t, conn, m); got != (receipt{Stream: "ARRIVALS", Seq: uint64(i + 1)}) {
			t.Fatalf("%s is answered %+v", m.Subject, got)
		}
	}
	if again := request(t, operator, shown(t)); again != (receipt{Stream: "ARRIVALS", Seq: 1, Duplicate: true}) {
		t.Errorf("sent again it is answered %+v", again)
	}
	arrivals := jetstream.Open(s.inside(t, natsdeploy.Daemon), events.ArrivalsStream)
	for i, m := range sent {
		stored, err := arrivals.Get(contextFor(t), uint64(i+1))
		if err != nil {
			t.Fatal(err)
		}
		arrival := events.DecodeArrival(stored)
		if arrival.Malformed != nil || string(stored.Data) != string(m.Data) || arrival.ID != m.Header.Get("ce-id") || arrival.Campaign != campaignID {
			t.Errorf("%s is read as %+v of campaign %q: %+v", m.Subject, arrival.Kind, arrival.Campaign, arrival.Malformed)
		}
	}
	if tail, err := arrivals.Tail(contextFor(t)); err != nil || tail.Last != uint64(len(sent)) {
		t.Errorf("%d of %d events are stored: %v", tail.Last, len(sent), err)
	}
}

// TestNoHeaderIsTooMany: without any one of the shown headers, or with its name
// in other letters, the event is malformed.
func TestNoHeaderIsTooMany(t *testing.T) {
	whole := shown(t)
	read := func(header nats.Header) *domain.Refusal {
		return events.DecodeArrival(&events.Message{Seq: 1, Time: storedAt, Subject: whole.Subject, Header: events.Header(header), Data: whole.Data}).Malformed
	}
	if refusal := read(whole.Header); refusal != nil {
		t.Fatalf("%+v", refusal)
	}
	for _, name := range slices.Sorted(maps.Keys(whole.Header)) {
		less := maps.Clone(whole.Header)
		delete(less, name)
		if refusal := read(less); refusal == nil || refusal.Field != name {
			t.Errorf("without %s: %+v", name, refusal)
		}
		less[strings.ToUpper(name)] = whole.Header[name]
		if refusal := read(less); refusal == nil || refusal.Field != name {
			t.Errorf("with %s: %+v", strings.ToUpper(name), refusal)
		}
	}
}
