package eventstest_test

import (
	"context"
	"testing"

	"github.com/cockroachdb/errors"
	"go.uber.org/goleak"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLogConforms(t *testing.T) {
	eventstest.Conformance(t, func(*testing.T) eventstest.Stream {
		log := eventstest.NewLedger()
		return eventstest.Stream{Log: log, Remove: log.Remove, Recreate: log.Recreate}
	})
}

func out(text string) events.Outgoing {
	return events.Outgoing{Subject: "ledger.decisions.c.accepted.cell", Data: []byte(text)}
}

// TestFaults: what is stored and what is told are two things.
func TestFaults(t *testing.T) {
	ctx := context.Background()
	for _, row := range []struct {
		name    string
		prepare func(*eventstest.Log)
		want    error
		last    uint64
	}{
		{"healthy", func(*eventstest.Log) {}, nil, 3},
		{"refused", func(l *eventstest.Log) { l.NextAppend(false, events.ErrRefused) }, events.ErrRefused, 2},
		{"lost", func(l *eventstest.Log) { l.NextAppend(false, events.ErrStateUnknown) }, events.ErrStateUnknown, 2},
		{"lost without a word", func(l *eventstest.Log) { l.NextAppend(false, nil) }, events.ErrStateUnknown, 2},
		{"acknowledgement lost", func(l *eventstest.Log) { l.NextAppend(true, events.ErrStateUnknown) }, events.ErrStateUnknown, 3},
		{"foreign append", func(l *eventstest.Log) {
			l.OnAppend(func(uint64, []events.Outgoing) (bool, error) {
				l.OnAppend(nil)
				l.Publish(out("foreign"))
				return true, nil
			})
		}, events.ErrMoved, 3},
		{"tail moved back", func(l *eventstest.Log) { l.Truncate(1) }, events.ErrMoved, 1},
		{"unavailable", func(l *eventstest.Log) { l.SetUnavailable(true) }, events.ErrUnavailable, 2},
		{"foreign subject", nil, events.ErrRefused, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			log := eventstest.NewLedger()
			log.Publish(out("1"), out("2"))
			batch := []events.Outgoing{out("3")}
			if row.prepare == nil {
				batch[0].Subject = "ledger.arrivals.c.cell"
			} else {
				row.prepare(log)
			}
			_, err := log.Append(ctx, 2, batch)
			if !errors.Is(err, row.want) {
				t.Errorf("told %v, want %v", err, row.want)
			}
			log.SetUnavailable(false)
			if tail, err := log.Tail(ctx); err != nil || tail.Last != row.last {
				t.Errorf("the stream ends at %d (%v), want %d", tail.Last, err, row.last)
			}
		})
	}
}

// TestLateAppend: a batch that timed out may still be stored, or meet a tail
// that has moved.
func TestLateAppend(t *testing.T) {
	ctx := context.Background()
	log := eventstest.NewLedger()
	log.NextAppend(false, events.ErrStateUnknown)
	batch := []events.Outgoing{out("1")}
	if _, err := log.Append(ctx, 0, batch); !errors.Is(err, events.ErrStateUnknown) {
		t.Fatal(err)
	}
	if last, err := log.Store(0, batch); err != nil || last != 1 {
		t.Fatalf("stored late: %d, %v", last, err)
	}
	if _, err := log.Store(0, batch); !errors.Is(err, events.ErrMoved) {
		t.Fatalf("stored twice: %v", err)
	}
}

func TestCursorDiesWithTheStream(t *testing.T) {
	log := eventstest.NewLedger()
	cursor, err := log.Read(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer cursor.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := cursor.Next(context.Background())
		ended <- err
	}()
	log.SetUnavailable(true)
	if err := <-ended; !errors.Is(err, events.ErrUnavailable) {
		t.Error(err)
	}
}

func TestReplace(t *testing.T) {
	log := eventstest.NewLedger()
	log.Publish(out("1"))
	log.Replace(1, func(m *events.Message) { m.Data = []byte("2") })
	if m, err := log.Get(context.Background(), 1); err != nil || string(m.Data) != "2" {
		t.Errorf("%v, %v", m, err)
	}
}
