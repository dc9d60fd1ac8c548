package jetstream_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/google/go-cmp/cmp"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest/natstest"
	"github.com/ledgerd/ledgerd/events/jetstream"
)

const gib = 1 << 30

var limits = jetstream.Limits{LedgerID: "ledger-1", Replicas: 1, StoreBytes: gib}

func provision(t testing.TB, js natsjs.JetStream) {
	t.Helper()
	if err := jetstream.Provision(contextFor(t), js, limits); err != nil {
		t.Fatalf("%+v", err)
	}
}

// TestProvision: what is made has no weakness but those of one copy.
func TestProvision(t *testing.T) {
	js := connect(t, natstest.Start(t, natstest.Options{SyncAlways: true, MaxStore: gib}))
	provision(t, js)
	provision(t, js) // again changes nothing
	for sync, want := range map[jetstream.Sync]int{jetstream.SyncAlways: 0, jetstream.SyncUnknown: 2, jetstream.SyncRelaxed: 2} {
		found, err := jetstream.Inspect(contextFor(t), js, sync)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != want {
			t.Errorf("sync %s: %v", sync, found)
		}
		for _, weakness := range found {
			if weakness.Code != jetstream.WeakSync {
				t.Errorf("sync %s: %v", sync, weakness)
			}
		}
	}
	for _, name := range []string{events.ArrivalsStream, events.LedgerStream} {
		if id, err := jetstream.Open(js, name).Identity(contextFor(t)); err != nil || id != "ledger-1" {
			t.Errorf("%s is of ledger %q: %v", name, id, err)
		}
	}
}

// TestProvisionKeepsWhatExists: an existing stream is taken as it is, or not
// at all; it is never changed.
func TestProvisionKeepsWhatExists(t *testing.T) {
	good := natsjs.StreamConfig{Name: events.LedgerStream, Subjects: []string{events.DecisionsFilter}, AllowAtomicPublish: true}
	change := func(change func(*natsjs.StreamConfig)) natsjs.StreamConfig {
		config := good
		change(&config)
		return config
	}
	for _, row := range []struct {
		name   string
		config natsjs.StreamConfig
		want   error
	}{
		{"other limits", change(func(c *natsjs.StreamConfig) { c.MaxMsgs = 7 }), nil},
		{"the same ledger", change(func(c *natsjs.StreamConfig) {
			c.Metadata = map[string]string{jetstream.MetadataLedgerID: "ledger-1"}
		}), nil},
		{"another ledger", change(func(c *natsjs.StreamConfig) {
			c.Metadata = map[string]string{jetstream.MetadataLedgerID: "ledger-2"}
		}), jetstream.ErrUnfit},
		{"no fence", change(func(c *natsjs.StreamConfig) { c.AllowAtomicPublish = false }), jetstream.ErrUnfit},
		{"other subjects", change(func(c *natsjs.StreamConfig) { c.Subjects = []string{"ledger.decisions.a.>"} }), jetstream.ErrUnfit},
	} {
		t.Run(row.name, func(t *testing.T) {
			js := connect(t, natstest.Start(t, natstest.Options{}))
			made, err := js.CreateStream(contextFor(t), row.config)
			if err != nil {
				t.Fatal(err)
			}
			if err := jetstream.Provision(contextFor(t), js, limits); !errors.Is(err, row.want) {
				t.Errorf("%v, want %v", err, row.want)
			}
			after, err := js.Stream(contextFor(t), events.LedgerStream)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(made.CachedInfo().Config, after.CachedInfo().Config); diff != "" {
				t.Errorf("the stream was changed:\n%s", diff)
			}
		})
	}
}

func TestProvisionRefusesTooLittleRoom(t *testing.T) {
	js := connect(t, natstest.Start(t, natstest.Options{}))
	small := limits
	small.StoreBytes = 64<<20 - 1
	if err := jetstream.Provision(contextFor(t), js, small); !errors.Is(err, jetstream.ErrTooLittleRoom) {
		t.Error(err)
	}
	small.StoreBytes++
	if err := jetstream.Provision(contextFor(t), js, small); err != nil {
		t.Error(err)
	}
}

func TestProvisionWithoutTheRoom(t *testing.T) {
	js := connect(t, natstest.Start(t, natstest.Options{MaxStore: gib / 2}))
	if err := jetstream.Provision(contextFor(t), js, limits); !errors.Is(err, events.ErrUnavailable) {
		t.Error(err)
	}
}

// TestRoom: answers to a full ARRIVALS fit LEDGER, for every size of store.
func TestRoom(t *testing.T) {
	for bytes := int64(64 << 20); bytes < 1<<50; bytes = bytes*3/2 + 1 {
		need, room := jetstream.Limits{StoreBytes: bytes}.Answers()
		if need > room || need < room-16<<10 {
			t.Errorf("of %d bytes: answers need %d, LEDGER has %d", bytes, need, room)
		}
	}
}

// TestInspect weakens one thing after the other.
func TestInspect(t *testing.T) {
	sources := []*natsjs.StreamSource{{Name: "other"}}
	for _, row := range []struct {
		name   string
		stream string
		change func(*natsjs.StreamConfig)
		want   jetstream.WeaknessCode
	}{
		{"in memory", "LEDGER", func(c *natsjs.StreamConfig) { c.Storage = natsjs.MemoryStorage }, jetstream.WeakStorage},
		{"asynchronous", "ARRIVALS", func(c *natsjs.StreamConfig) { c.PersistMode = natsjs.AsyncPersistMode }, jetstream.WeakSync},
		{"no acknowledgement", "ARRIVALS", func(c *natsjs.StreamConfig) { c.NoAck = true }, jetstream.WeakAcknowledge},
		{"interest", "ARRIVALS", func(c *natsjs.StreamConfig) { c.Retention = natsjs.InterestPolicy }, jetstream.WeakDropping},
		{"discard old", "ARRIVALS", func(c *natsjs.StreamConfig) { c.Discard = natsjs.DiscardOld }, jetstream.WeakDropping},
		{"age", "LEDGER", func(c *natsjs.StreamConfig) { c.MaxAge = 1 << 50 }, jetstream.WeakDropping},
		{"per subject", "LEDGER", func(c *natsjs.StreamConfig) { c.MaxMsgsPerSubject = 5 }, jetstream.WeakDropping},
		{"delete", "LEDGER", func(c *natsjs.StreamConfig) { c.DenyDelete = false }, jetstream.WeakRemoval},
		{"purge", "LEDGER", func(c *natsjs.StreamConfig) { c.DenyPurge = false }, jetstream.WeakRemoval},
		{"rollup", "ARRIVALS", func(c *natsjs.StreamConfig) { c.DenyPurge, c.AllowRollup = false, true }, jetstream.WeakRemoval},
		{"expiry", "ARRIVALS", func(c *natsjs.StreamConfig) { c.AllowMsgTTL = true }, jetstream.WeakExpiry},
		{"sources", "LEDGER", func(c *natsjs.StreamConfig) { c.Sources = sources }, jetstream.WeakSources},
		{"mirror", "LEDGER", func(c *natsjs.StreamConfig) {
			c.Mirror, c.Subjects, c.AllowAtomicPublish, c.RePublish = sources[0], nil, false, nil
		}, jetstream.WeakSources},
		{"transform", "ARRIVALS", func(c *natsjs.StreamConfig) {
			c.SubjectTransform = &natsjs.SubjectTransformConfig{Source: "ledger.arrivals.a.>", Destination: "ledger.arrivals.b.>"}
		}, jetstream.WeakRewriting},
		{"counter", "ARRIVALS", func(c *natsjs.StreamConfig) {
			c.AllowMsgCounter, c.Discard = true, natsjs.DiscardOld
		}, jetstream.WeakRewriting},
		{"schedules", "ARRIVALS", func(c *natsjs.StreamConfig) {
			c.AllowMsgSchedules, c.Discard = true, natsjs.DiscardOld
		}, jetstream.WeakRewriting},
		{"batches", "ARRIVALS", func(c *natsjs.StreamConfig) { c.AllowAtomicPublish = true }, jetstream.WeakRewriting},
		{"subjects", "ARRIVALS", func(c *natsjs.StreamConfig) { c.Subjects = []string{"ledger.arrivals.*.*"} }, jetstream.WeakSubjects},
		{"no fence", "LEDGER", func(c *natsjs.StreamConfig) { c.AllowAtomicPublish = false }, jetstream.WeakFence},
		{"first sequence", "LEDGER", func(c *natsjs.StreamConfig) { c.FirstSeq = 10 }, jetstream.WeakLoss},
		{"small messages", "ARRIVALS", func(c *natsjs.StreamConfig) { c.MaxMsgSize = 1 << 20 }, jetstream.WeakSize},
		{"unbounded bytes", "ARRIVALS", func(c *natsjs.StreamConfig) { c.MaxBytes = -1 }, jetstream.WeakRoom},
		{"unbounded messages", "ARRIVALS", func(c *natsjs.StreamConfig) { c.MaxMsgs = -1 }, jetstream.WeakRoom},
		{"more than LEDGER answers", "ARRIVALS", func(c *natsjs.StreamConfig) { c.MaxMsgs += 1000 }, jetstream.WeakRoom},
		{"another ledger", "ARRIVALS", func(c *natsjs.StreamConfig) { c.Metadata = nil }, jetstream.WeakForeign},
	} {
		t.Run(row.name, func(t *testing.T) {
			js := connect(t, natstest.Start(t, natstest.Options{}))
			provision(t, js)
			stream, err := js.Stream(contextFor(t), row.stream)
			if err != nil {
				t.Fatal(err)
			}
			config := stream.CachedInfo().Config
			if err := js.DeleteStream(contextFor(t), row.stream); err != nil {
				t.Fatal(err)
			}
			row.change(&config)
			if _, err := js.CreateStream(contextFor(t), config); err != nil {
				t.Fatal(err)
			}
			wantWeakness(t, js, row.stream, row.want)
		})
	}
}

func wantWeakness(t *testing.T, js natsjs.JetStream, stream string, want jetstream.WeaknessCode) {
	t.Helper()
	found, err := jetstream.Inspect(contextFor(t), js, jetstream.SyncAlways)
	if err != nil {
		t.Fatal(err)
	}
	for _, weakness := range found {
		if weakness.Stream == stream && weakness.Code == want && weakness.Detail != "" {
			return
		}
	}
	t.Errorf("%s is not named for %s: %v", want, stream, found)
}

func TestInspectFindsLoss(t *testing.T) {
	js := connect(t, natstest.Start(t, natstest.Options{}))
	wantWeakness(t, js, events.ArrivalsStream, jetstream.WeakMissing)
	stream := breakable(t, js)
	log := jetstream.Open(js, events.LedgerStream)
	if _, err := log.Append(contextFor(t), 0, records(3, 10)); err != nil {
		t.Fatal(err)
	}
	if err := stream.DeleteMsg(contextFor(t), 2); err != nil {
		t.Fatal(err)
	}
	wantWeakness(t, js, events.LedgerStream, jetstream.WeakLoss)
}

// TestFullArrivals: when ARRIVALS is full it refuses, and keeps what it has.
func TestFullArrivals(t *testing.T) {
	js := connect(t, natstest.Start(t, natstest.Options{}))
	small := limits
	small.StoreBytes = 64 << 20
	if err := jetstream.Provision(contextFor(t), js, small); err != nil {
		t.Fatal(err)
	}
	publisher := jetstream.NewPublisher(js.Conn())
	var stored uint64
	for i := 0; ; i++ {
		sequence, err := publisher.Publish(contextFor(t), arrival(t, bytes.Repeat([]byte("x"), 4<<20), fmt.Sprint(i)))
		if errors.Is(err, events.ErrRefused) {
			break
		}
		if err != nil || sequence != stored+1 {
			t.Fatalf("arrival %d: sequence %d: %v", i, sequence, err)
		}
		stored = sequence
	}
	tail, err := jetstream.Open(js, events.ArrivalsStream).Tail(contextFor(t))
	if err != nil || tail.First != 1 || tail.Last != stored || stored == 0 {
		t.Errorf("%+v after %d: %v", tail, stored, err)
	}
}

// TestLargestMessages: a body of full size with full headers is stored and
// read whole in every way.
func TestLargestMessages(t *testing.T) {
	js := connect(t, natstest.Start(t, natstest.Options{}))
	provision(t, js)
	out := arrival(t, bytes.Repeat([]byte("x"), events.MaxArrivalBytes), "1")
	room := events.MaxAppendHeaderBytes - len("NATS/1.0\r\n\r\n") - len("more: \r\n")
	for name, values := range out.Header {
		room -= len(name) + len(values[0]) + len(": \r\n")
	}
	out.Header["more"] = []string{string(bytes.Repeat([]byte("y"), room))}
	publisher := jetstream.NewPublisher(js.Conn())
	if _, err := publisher.Publish(contextFor(t), out); err != nil {
		t.Fatal(err)
	}
	for name, log := range map[string]events.Log{
		"log": jetstream.Open(js, events.ArrivalsStream), "direct": jetstream.OpenDirect(js, events.ArrivalsStream),
	} {
		got, err := log.Get(contextFor(t), 1)
		if err != nil {
			t.Fatal(err)
		}
		for way, m := range map[string]events.Message{"get": *got, "read": read(t, log, 1)[0]} {
			if !bytes.Equal(m.Data, out.Data) || m.Header.Get("more") != out.Header.Get("more") {
				t.Errorf("%s: %s gives %d bytes and headers %d long", name, way, len(m.Data), len(m.Header.Get("more")))
			}
		}
	}
	out.Data = append(out.Data, 'x')
	if _, err := publisher.Publish(contextFor(t), out); !errors.Is(err, events.ErrRefused) {
		t.Errorf("one byte more: %v", err)
	}
}

// TestCommittedDecisions: followers hear of a decision when its batch is
// stored, and of none when it is not.
func TestCommittedDecisions(t *testing.T) {
	js := connect(t, natstest.Start(t, natstest.Options{}))
	provision(t, js)
	heard, err := js.Conn().SubscribeSync(events.CommittedFilter)
	if err != nil {
		t.Fatal(err)
	}
	log := jetstream.Open(js, events.LedgerStream)
	if _, err := log.Append(contextFor(t), 7, records(3, 10)); !errors.Is(err, events.ErrMoved) {
		t.Fatal(err)
	}
	if _, err := log.Append(contextFor(t), 0, records(2, 10)); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		m, err := heard.NextMsgWithContext(contextFor(t))
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("ledger.committed.campaign-%d.accepted.cell", i); m.Subject != want || m.Header.Get("Nats-Sequence") != fmt.Sprint(i+1) {
			t.Errorf("heard %s, sequence %s", m.Subject, m.Header.Get("Nats-Sequence"))
		}
	}
	if n, _, _ := heard.Pending(); n != 0 {
		t.Errorf("heard %d more", n)
	}
}

func arrival(t testing.TB, body []byte, id string) events.Outgoing {
	t.Helper()
	out, err := events.NewArrival("chat-review", domain.KindCell, body, id, "/ci", someTime)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
