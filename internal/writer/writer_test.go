package writer_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/writer"
)

func TestEveryArrivalGetsItsDecision(t *testing.T) {
	s := newStreams()
	trouble(t, s.arrivals, 3000, 1) // more than a batch takes
	w := start(t, s.config("a"))
	reaches(t, s.ledger, 3000)
	trouble(t, s.arrivals, 50, 2) // and what comes while it runs
	reaches(t, s.ledger, 3050)
	w.stop()
	if err := w.wait(t); err != nil {
		t.Fatal(err)
	}
	wantLedger(t, s.arrivals, s.ledger)
	if w.Committed() != 3050 {
		t.Errorf("committed %d", w.Committed())
	}
}

func TestCampaignsOutOfMemoryAreHydrated(t *testing.T) {
	s := newStreams()
	trouble(t, s.arrivals, 2000, 3)
	config := s.config("a")
	config.CacheBytes = 1
	start(t, config)
	reaches(t, s.ledger, 2000)
	wantLedger(t, s.arrivals, s.ledger)
}

// TestFailedAppends makes every kind of append fail at random, many times. The
// ledger must come out as if nothing had happened.
func TestFailedAppends(t *testing.T) {
	for seed := range uint64(8) {
		s := newStreams()
		random := rand.New(rand.NewPCG(seed, 0)) // asked by one append at a time
		var faults atomic.Int32
		s.ledger.OnAppend(func(expected uint64, batch []events.Outgoing) (bool, error) {
			if faults.Load() > 200 || random.IntN(3) > 0 {
				return true, nil
			}
			faults.Add(1)
			switch random.IntN(5) {
			case 0:
				return false, errors.Wrap(events.ErrRefused, "fault")
			case 1:
				return false, errors.Wrap(events.ErrStateUnknown, "fault: lost on the way")
			case 2:
				return true, errors.Wrap(events.ErrStateUnknown, "fault: lost acknowledgement")
			case 3:
				return false, errors.Wrap(events.ErrUnavailable, "fault")
			default:
				return true, errors.New("fault: an error nobody knows")
			}
		})
		w := start(t, s.config("a"))
		for i := range uint64(20) { // in pieces, so that there are many batches
			trouble(t, s.arrivals, 40, seed<<8+i)
			reaches(t, s.ledger, (i+1)*40)
		}
		w.stop()
		if err := w.wait(t); err != nil {
			t.Fatal(err)
		}
		wantLedger(t, s.arrivals, s.ledger)
		if faults.Load() == 0 {
			t.Error("no append failed: the test tests nothing")
		}
	}
}

// TestALateAppend stores a batch only after the writer has given it up, read
// the tail and decided again: it must take the late batch for its own.
func TestALateAppend(t *testing.T) {
	s := newStreams()
	trouble(t, s.arrivals, 10, 1)
	var calls atomic.Int32
	s.ledger.OnAppend(func(expected uint64, batch []events.Outgoing) (bool, error) {
		switch calls.Add(1) {
		case 1:
			return false, errors.Wrap(events.ErrStateUnknown, "fault: on its way")
		case 2: // the first batch lands now, before this one
			if _, err := s.ledger.Store(expected, batch); err != nil {
				t.Error(err)
			}
			return true, nil // refused by the fence: the ledger has moved
		}
		return true, nil
	})
	start(t, s.config("a"))
	reaches(t, s.ledger, 10)
	trouble(t, s.arrivals, 5, 2)
	reaches(t, s.ledger, 15)
	wantLedger(t, s.arrivals, s.ledger)
}

func TestStopAndStartAtAnyMoment(t *testing.T) {
	s := newStreams()
	trouble(t, s.arrivals, 1500, 5)
	for i := range 30 {
		w := start(t, s.config(string(rune('a'+i))))
		reaches(t, s.ledger, uint64(i*50+1))
		w.stop()
		if err := w.wait(t); err != nil {
			t.Fatal(err)
		}
	}
	start(t, s.config("last"))
	reaches(t, s.ledger, 1500)
	wantLedger(t, s.arrivals, s.ledger)
}

func TestTwoWritersNeverInterleave(t *testing.T) {
	for seed := range uint64(5) {
		s := newStreams()
		first, second := start(t, s.config("first")), start(t, s.config("second"))
		trouble(t, s.arrivals, 2000, seed)
		reaches(t, s.ledger, 2000)
		trouble(t, s.arrivals, 1, 99)
		reaches(t, s.ledger, 2001)
		first.stop()
		second.stop()
		for _, end := range []error{first.wait(t), second.wait(t)} {
			if end != nil && !errors.Is(end, writer.ErrStoodAside) {
				t.Errorf("ended by %v", end)
			}
		}
		wantLedger(t, s.arrivals, s.ledger)
	}
}

func TestTheLoserNamesTheOther(t *testing.T) {
	s := newStreams()
	trouble(t, s.arrivals, 5, 1)
	loser := start(t, s.config("loser"))
	reaches(t, s.ledger, 5)
	winner := start(t, s.config("winner"))
	<-winner.Ready()
	s.ledger.OnAppend(func(_ uint64, batch []events.Outgoing) (bool, error) {
		if batch[0].Header.Get(events.HeaderEpoch) == "loser" {
			reaches(t, s.ledger, 6) // the winner comes first
		}
		return true, nil
	})
	trouble(t, s.arrivals, 1, 2)
	err := loser.wait(t)
	if !errors.Is(err, writer.ErrStoodAside) {
		t.Fatalf("ended by %v", err)
	}
	if hints := errors.FlattenHints(err); hints == "" {
		t.Error("no hint what to do")
	}
	if text := err.Error(); !strings.Contains(text, "winner") || !strings.Contains(text, "loser") {
		t.Errorf("the epochs are not named: %s", text)
	}
	wantLedger(t, s.arrivals, s.ledger)
}

func TestStreamsThatComeBack(t *testing.T) {
	s := newStreams()
	trouble(t, s.arrivals, 20, 1)
	s.ledger.SetUnavailable(true)
	w := start(t, s.config("a"))
	select {
	case <-w.Ready():
		t.Fatal("ready without a ledger")
	default:
	}
	s.ledger.SetUnavailable(false)
	reaches(t, s.ledger, 20)
	s.arrivals.SetUnavailable(true)
	s.arrivals.SetUnavailable(false)
	trouble(t, s.arrivals, 20, 2)
	reaches(t, s.ledger, 40)
	wantLedger(t, s.arrivals, s.ledger)
}

func TestRulesOfTheFutureStopTheWriter(t *testing.T) {
	s := newStreams()
	trouble(t, s.arrivals, 3, 1)
	w := start(t, s.config("a"))
	reaches(t, s.ledger, 3)
	w.stop()
	w.wait(t)
	s.ledger.Replace(3, func(m *events.Message) {
		d, err := events.DecodeRecord(m.Data)
		if err != nil {
			t.Fatal(err)
		}
		d.V = domain.RuleVersion + 1
		if m.Data, err = events.EncodeRecord(d); err != nil {
			t.Fatal(err)
		}
	})
	if err := start(t, s.config("b")).wait(t); !errors.Is(err, domain.ErrUnknownRules) {
		t.Errorf("ended by %v", err)
	}
}

// memory remembers what a test says.
type memory struct {
	seq  uint64
	hash string
}

func (m memory) Name() string { return "the test's memory" }
func (m memory) Remembered(context.Context) (uint64, string, error) {
	return m.seq, m.hash, nil
}
