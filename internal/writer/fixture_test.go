package writer_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest"
	"github.com/ledgerd/ledgerd/internal/writer"
)

// patience is how long a test waits for what takes milliseconds. It is only
// ever reached by a failing test.
const patience = 30 * time.Second

func withPatience(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// streams are the two streams of one test.
type streams struct {
	arrivals *eventstest.Log
	ledger   *eventstest.Log
}

func newStreams() *streams {
	return &streams{arrivals: eventstest.NewArrivals(), ledger: eventstest.NewLedger()}
}

func outgoing(t testing.TB, campaign string, kind domain.Kind, body string) events.Outgoing {
	t.Helper()
	out, err := events.NewArrival(campaign, kind, []byte(body), "", "https://example.org/ci", time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const revision = "431c72fa01eac861c0da8c8101375b849495e13e"

func openingBody(scenarios int) string {
	var list, selected bytes.Buffer
	for i := range scenarios {
		if i > 0 {
			list.WriteByte(',')
			selected.WriteByte(',')
		}
		fmt.Fprintf(&list, `{"id":"s%d"}`, i)
		fmt.Fprintf(&selected, `{"scenarioId":"s%d","executionId":"e%d","remoteOrdinal":1}`, i, i)
	}
	return fmt.Sprintf(`{"sourceRevision":"%s","policyPreset":"paperclip-chat","scenarios":[%s],"selected":[%s]}`, revision, &list, &selected)
}

// trouble publishes n arrivals of all kinds for some campaigns, many of them
// refused: what the writer must survive, in an order that the seed fixes.
func trouble(t testing.TB, log *eventstest.Log, n int, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	for range n {
		campaign := fmt.Sprintf("campaign-%d", random.IntN(7))
		switch random.IntN(6) {
		case 0:
			log.Publish(outgoing(t, campaign, domain.KindCampaign, openingBody(1+random.IntN(2))))
		case 1:
			log.Publish(outgoing(t, campaign, domain.KindVoid, `{"importKey":"1/1/x","actor":"ana","reason":"why not"}`))
		case 2:
			if random.IntN(8) == 0 {
				log.Publish(outgoing(t, campaign, domain.KindSeal, `{"actor":"ana"}`))
				continue
			}
			log.Publish(outgoing(t, campaign, domain.KindCell, `{"provenance":{},"result":{"bytes":"{}"},"host":{"base64":"e30="},"definition":{"bytes":""}}`))
		case 3:
			log.Publish(outgoing(t, campaign, domain.KindCell, "\xff not JSON"))
		case 4:
			log.Publish(events.Outgoing{Subject: "ledger.arrivals.odd.subject.here", Data: []byte("{}")})
		default:
			log.Publish(events.Outgoing{Subject: events.ArrivalSubject(campaign, domain.KindSeal), Data: []byte(`{"actor":"no header"}`)})
		}
	}
}

// decideAll is what the ledger must hold: every arrival decided by the pure
// rules, one after the other.
func decideAll(t testing.TB, arrivals events.Log) [][]byte {
	t.Helper()
	ctx := withPatience(t)
	tail, err := arrivals.Tail(ctx)
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]*domain.Campaign{}
	var records [][]byte
	prev := events.GenesisHash
	for seq := uint64(1); seq <= tail.Last; seq++ {
		message, err := arrivals.Get(ctx, seq)
		if err != nil {
			t.Fatal(err)
		}
		arrival := events.DecodeArrival(message)
		decision, err := domain.Decide(domain.RuleVersion, states[arrival.Campaign], arrival)
		if err != nil {
			t.Fatal(err)
		}
		decision.Prev = prev
		record, err := events.EncodeRecord(decision)
		if err != nil {
			t.Fatal(err)
		}
		if arrival.Campaign != "" {
			if states[arrival.Campaign], err = domain.Fold(states[arrival.Campaign], decision, events.RecordHash(record)); err != nil {
				t.Fatal(err)
			}
		}
		prev = events.RecordHash(record)
		records = append(records, record)
	}
	return records
}

// wantLedger compares the stream with what it must hold.
func wantLedger(t testing.TB, arrivals, ledger events.Log) {
	t.Helper()
	ctx := withPatience(t)
	want := decideAll(t, arrivals)
	tail, err := ledger.Tail(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if tail.Last != uint64(len(want)) {
		t.Fatalf("LEDGER ends at %d, want %d", tail.Last, len(want))
	}
	for i, record := range want {
		message, err := ledger.Get(ctx, uint64(i)+1)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(message.Data, record) {
			t.Fatalf("record %d is\n%s\nwant\n%s", i, message.Data, record)
		}
		decision, err := events.DecodeRecord(record)
		if err != nil || message.Subject != events.DecisionSubject(decision) {
			t.Fatalf("record %d on subject %s: %v", i, message.Subject, err)
		}
	}
}

// running is a writer that runs in the background.
type running struct {
	*writer.Writer
	stop context.CancelFunc
	done chan error
}

func start(t testing.TB, config writer.Config) *running {
	t.Helper()
	return startWith(t, config, (*writer.Writer).Run)
}

func startWith(t testing.TB, config writer.Config, run func(*writer.Writer, context.Context) error) *running {
	t.Helper()
	config.RetryDelay = time.Millisecond
	w, err := writer.New(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Writer: w, stop: cancel, done: make(chan error, 1)}
	go func() { r.done <- run(w, ctx) }()
	t.Cleanup(func() {
		cancel()
		r.wait(t)
	})
	return r
}

// wait gives why the writer ended. It may be called again.
func (r *running) wait(t testing.TB) error {
	t.Helper()
	select {
	case err := <-r.done:
		r.done <- err
		return err
	case <-time.After(patience):
		t.Fatal("the writer does not end")
		return nil
	}
}

// reaches waits until the ledger has as many decisions.
func reaches(t testing.TB, ledger events.Log, seq uint64) {
	t.Helper()
	ctx := withPatience(t)
	cursor, err := ledger.Read(ctx, seq)
	if err != nil {
		t.Fatal(err)
	}
	defer cursor.Close()
	if _, err := cursor.Next(ctx); err != nil {
		t.Fatalf("the ledger does not reach sequence %d: %v", seq, err)
	}
}

func (s *streams) config(epoch string) writer.Config {
	return writer.Config{Arrivals: s.arrivals, Ledger: s.ledger, Epoch: epoch, Host: "test"}
}
