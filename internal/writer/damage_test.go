package writer_test

import (
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/follow"
)

// TestDamageStopsTheWriter alters the streams between two runs. The writer
// must not write over it.
func TestDamageStopsTheWriter(t *testing.T) {
	for _, test := range []struct {
		name   string
		damage func(t *testing.T, s *streams) []follow.Memory
		want   error
	}{
		{"the ledger lost its end, a memory knows", func(t *testing.T, s *streams) []follow.Memory {
			m := remember(t, s, 20)
			s.ledger.Truncate(18)
			return m
		}, follow.ErrDamaged},
		{"the ledger lost everything", func(t *testing.T, s *streams) []follow.Memory {
			m := remember(t, s, 20)
			s.ledger.Truncate(0)
			return m
		}, follow.ErrDamaged},
		{"the ledger was made anew", func(t *testing.T, s *streams) []follow.Memory {
			m := remember(t, s, 20)
			s.ledger.Recreate()
			return m
		}, follow.ErrDamaged},
		{"a remembered record was replaced", func(t *testing.T, s *streams) []follow.Memory {
			return []follow.Memory{memory{seq: 10, hash: events.GenesisHash}}
		}, follow.ErrDamaged},
		{"a remembered record is gone", func(t *testing.T, s *streams) []follow.Memory {
			m := remember(t, s, 10)
			s.ledger.Remove(10)
			return m
		}, follow.ErrDamaged},
		{"the last record was edited", func(t *testing.T, s *streams) []follow.Memory {
			s.ledger.Replace(20, func(m *events.Message) { m.Data = append([]byte(" "), m.Data...) })
			return nil
		}, follow.ErrDamaged},
		{"the record before the last was edited", func(t *testing.T, s *streams) []follow.Memory {
			s.ledger.Replace(19, func(m *events.Message) { m.Data = append([]byte(" "), m.Data...) })
			return nil
		}, follow.ErrDamaged},
		{"the record before the last is gone", func(t *testing.T, s *streams) []follow.Memory {
			s.ledger.Remove(19)
			return nil
		}, follow.ErrDamaged},
		{"the last record is gone", func(t *testing.T, s *streams) []follow.Memory {
			s.ledger.Remove(20)
			return nil
		}, follow.ErrDamaged},
		{"the first records are gone", func(t *testing.T, s *streams) []follow.Memory {
			s.ledger.Remove(1)
			return nil
		}, follow.ErrDamaged},
		{"the arrivals lost their end", func(t *testing.T, s *streams) []follow.Memory {
			s.arrivals.Truncate(19)
			return nil
		}, follow.ErrDamaged},
		{"the last decided arrival was edited", func(t *testing.T, s *streams) []follow.Memory {
			s.arrivals.Replace(20, func(m *events.Message) { m.Data = []byte("{}") })
			return nil
		}, follow.ErrDamaged},
		{"the last decided arrival is gone", func(t *testing.T, s *streams) []follow.Memory {
			trouble(t, s.arrivals, 1, 7)
			s.arrivals.Remove(20)
			return nil
		}, follow.ErrDamaged},
		{"an undecided arrival is gone", func(t *testing.T, s *streams) []follow.Memory {
			trouble(t, s.arrivals, 3, 7)
			s.arrivals.Remove(22)
			return nil
		}, follow.ErrDamaged},
		{"an accepted decision is gone", func(t *testing.T, s *streams) []follow.Memory {
			s.ledger.Remove(2)
			s.arrivals.Publish(outgoing(t, "steady", domain.KindSeal, `{"actor":"ana"}`))
			return nil
		}, domain.ErrLedgerContradicts},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := decided(t)
			memories := test.damage(t, s)
			before := lastOf(t, s.ledger)
			config := s.config("b")
			config.Memories = memories
			err := start(t, config).wait(t)
			if !errors.Is(err, test.want) {
				t.Fatalf("ended by %v, want %v", err, test.want)
			}
			if test.want == follow.ErrDamaged && errors.FlattenHints(err) == "" {
				t.Errorf("no hint what to do: %v", err)
			}
			// What was whole before the damage may have been decided; nothing
			// behind it.
			if after := lastOf(t, s.ledger); after > before+1 {
				t.Errorf("the ledger went on from %d to %d", before, after)
			}
		})
	}
}

// decided is a ledger with 20 decisions; the second opened a campaign.
func decided(t *testing.T) *streams {
	s := newStreams()
	trouble(t, s.arrivals, 1, 1)
	s.arrivals.Publish(outgoing(t, "steady", domain.KindCampaign, openingBody(1)))
	trouble(t, s.arrivals, 17, 1)
	s.arrivals.Publish(outgoing(t, "steady", domain.KindVoid, `{"importKey":"1/1/x","actor":"ana","reason":"why not"}`))
	w := start(t, s.config("a"))
	reaches(t, s.ledger, 20)
	w.stop()
	if err := w.wait(t); err != nil {
		t.Fatal(err)
	}
	return s
}

func remember(t *testing.T, s *streams, seq uint64) []follow.Memory {
	message, err := s.ledger.Get(withPatience(t), seq)
	if err != nil {
		t.Fatal(err)
	}
	return []follow.Memory{memory{seq: seq, hash: events.RecordHash(message.Data)}}
}

// lastOf counts what is stored; a ledger whose end is missing has no tail.
func lastOf(t *testing.T, ledger events.Log) uint64 {
	tail, err := ledger.Tail(withPatience(t))
	if errors.Is(err, events.ErrGap) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return tail.Last
}

func TestMemoriesThatAgreeLetTheWriterGoOn(t *testing.T) {
	s := decided(t)
	config := s.config("b")
	config.Memories = append(remember(t, s, 20), memory{})
	start(t, config)
	trouble(t, s.arrivals, 5, 9)
	reaches(t, s.ledger, 25)
	wantLedger(t, s.arrivals, s.ledger)
}

// TestATailThatMovesBackUnderTheWriter loses the ledger's end while the writer
// runs: its own memory of what it appended notices.
func TestATailThatMovesBackUnderTheWriter(t *testing.T) {
	s := newStreams()
	trouble(t, s.arrivals, 10, 1)
	w := start(t, s.config("a"))
	reaches(t, s.ledger, 10)
	s.ledger.Truncate(8)
	trouble(t, s.arrivals, 5, 2)
	if err := w.wait(t); !errors.Is(err, follow.ErrDamaged) {
		t.Errorf("ended by %v", err)
	}
}

// TestAForeignAppendThatBreaksTheChain is no second writer: nobody who decides
// by the rules wrote it.
func TestAForeignAppendThatBreaksTheChain(t *testing.T) {
	s := newStreams()
	trouble(t, s.arrivals, 10, 1)
	w := start(t, s.config("a"))
	reaches(t, s.ledger, 10)
	tenth, err := s.ledger.Get(withPatience(t), 10)
	if err != nil {
		t.Fatal(err)
	}
	s.ledger.Publish(events.Outgoing{Subject: tenth.Subject, Data: tenth.Data})
	trouble(t, s.arrivals, 5, 2)
	if err := w.wait(t); !errors.Is(err, follow.ErrDamaged) {
		t.Errorf("ended by %v", err)
	}
}
