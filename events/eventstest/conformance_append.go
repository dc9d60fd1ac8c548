package eventstest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
)

func testAppend(t *testing.T, s Stream) {
	mustAppend(t, s.Log, 0, messages(1, 1))
	mustAppend(t, s.Log, 1, messages(2, 11))
	mustAppend(t, s.Log, 11, messages(12, 12))
	for n := 1; n <= 12; n++ {
		got, err := s.Log.Get(contextFor(t), uint64(n))
		if err != nil {
			t.Fatal(err)
		}
		check(t, *got, n, message(n))
	}
}

// testAppendConflicts: a wrong expectation stores nothing of any batch.
func testAppendConflicts(t *testing.T, s Stream) {
	fill(t, s.Log, 5)
	for _, expected := range []uint64{0, 4, 6, 1 << 40} {
		for _, size := range []int{1, 2, 300} {
			_, err := s.Log.Append(contextFor(t), expected, messages(1, size))
			if !errors.Is(err, events.ErrMoved) {
				t.Errorf("%d messages behind %d: %v, want ErrMoved", size, expected, err)
			}
			if errors.IsAny(err, events.ErrStateUnknown, events.ErrRefused, events.ErrUnavailable) {
				t.Errorf("ErrMoved is marked as something else too: %v", err)
			}
		}
	}
	wantLast(t, s.Log, 5)
	mustAppend(t, s.Log, 5, messages(6, 7))
}

func testAppendLimits(t *testing.T, s Stream) {
	wide := func(size int) events.Outgoing {
		return events.Outgoing{Subject: "ledger.decisions.c.accepted.cell", Data: bytes.Repeat([]byte("x"), size)}
	}
	for _, row := range []struct {
		name  string
		batch []events.Outgoing
		fits  bool
	}{
		{"no message", nil, false},
		{"most messages", messages(1, events.MaxBatchMessages), true},
		{"one message more", messages(1, events.MaxBatchMessages+1), false},
		{"one of most bytes", []events.Outgoing{wide(events.MaxBatchBytes)}, true},
		{"one byte more", []events.Outgoing{wide(events.MaxBatchBytes + 1)}, false},
		{"most bytes together", []events.Outgoing{wide(1), wide(events.MaxBatchBytes - 2), wide(1)}, true},
		{"one byte more together", []events.Outgoing{wide(1), wide(events.MaxBatchBytes - 1), wide(1)}, false},
	} {
		before := tail(t, s.Log).Last
		last, err := s.Log.Append(contextFor(t), before, row.batch)
		switch {
		case row.fits && (err != nil || last != before+uint64(len(row.batch))):
			t.Errorf("%s: last sequence %d: %v", row.name, last, err)
		case !row.fits && !errors.Is(err, events.ErrRefused):
			t.Errorf("%s: %v, want ErrRefused", row.name, err)
		case !row.fits:
			wantLast(t, s.Log, before)
		}
	}
}

func testAppendHeaders(t *testing.T, s Stream) {
	sized := func(size int) events.Header {
		// The line and the end of the headers take as many bytes as wrongHeader counts.
		return events.Header{"h": {strings.Repeat("x", size-len("NATS/1.0\r\n\r\n")-len("h: \r\n"))}}
	}
	for _, row := range []struct {
		name   string
		header events.Header
		fits   bool
	}{
		{"none", nil, true},
		{"message id", events.Header{events.HeaderMsgID: {"1"}}, true},
		{"most bytes", sized(events.MaxAppendHeaderBytes), true},
		{"one byte more", sized(events.MaxAppendHeaderBytes + 1), false},
		{"expectation", events.Header{"Nats-Expected-Last-Sequence": {"0"}}, false},
		{"batch", events.Header{"Nats-Batch-Commit": {"1"}}, false},
		{"rollup", events.Header{"Nats-Rollup": {"all"}}, false},
		{"line break in a value", events.Header{"h": {"a\r\nNats-Rollup: all"}}, false},
		{"line break in a name", events.Header{"h: a\r\nNats-Rollup": {"all"}}, false},
	} {
		before := tail(t, s.Log).Last
		m := events.Outgoing{Subject: "ledger.decisions.c.accepted.cell", Header: row.header, Data: []byte("{}")}
		// The second message is the one with the header: it is checked too.
		_, err := s.Log.Append(contextFor(t), before, []events.Outgoing{message(1), m})
		switch {
		case row.fits && err != nil:
			t.Errorf("%s: %v", row.name, err)
		case !row.fits && !errors.Is(err, events.ErrRefused):
			t.Errorf("%s: %v, want ErrRefused", row.name, err)
		case !row.fits:
			wantLast(t, s.Log, before)
		}
	}
}

func testAppendCancelled(t *testing.T, s Stream) {
	ctx, cancel := context.WithCancel(contextFor(t))
	cancel()
	if _, err := s.Log.Append(ctx, 0, messages(1, 3)); !errors.Is(err, context.Canceled) {
		t.Errorf("append with an ended context: %v", err)
	}
	wantLast(t, s.Log, 0)
}

// testAppenders lets several writers append batches as fast as they can, each
// behind the tail it read. Whatever is stored is whole batches in a row.
func testAppenders(t *testing.T, s Stream) {
	const writers, each, size = 4, 10, 5
	ctx := contextFor(t)
	var group sync.WaitGroup
	for writer := range writers {
		group.Go(func() {
			for stored := 0; stored < each; {
				at, err := s.Log.Tail(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				_, err = s.Log.Append(ctx, at.Last, tagged(writer, stored, size))
				switch {
				case err == nil:
					stored++
				case !errors.Is(err, events.ErrMoved):
					t.Errorf("writer %d: %v", writer, err)
					return
				}
			}
		})
	}
	group.Wait()
	wantLast(t, s.Log, writers*each*size)
	for seq := uint64(1); seq <= writers*each*size; seq += size {
		first := get(t, s.Log, seq)
		for i := range uint64(size) {
			if m := get(t, s.Log, seq+i); m.Header.Get("writer") != first.Header.Get("writer") || m.Header.Get("place") != fmt.Sprint(i) {
				t.Fatalf("sequence %d is %v within the batch of %v", seq+i, m.Header, first.Header)
			}
		}
	}
}

// tagged is a batch that says whose it is.
func tagged(writer, number, size int) []events.Outgoing {
	batch := messages(1, size)
	for i := range batch {
		batch[i].Header = events.Header{"writer": {fmt.Sprint(writer, "/", number)}, "place": {fmt.Sprint(i)}}
	}
	return batch
}

func tail(t *testing.T, log events.Log) events.Tail {
	t.Helper()
	got, err := log.Tail(contextFor(t))
	if err != nil {
		t.Fatalf("tail: %+v", err)
	}
	return got
}

func get(t *testing.T, log events.Log, seq uint64) *events.Message {
	t.Helper()
	got, err := log.Get(contextFor(t), seq)
	if err != nil {
		t.Fatalf("get %d: %+v", seq, err)
	}
	return got
}

func wantLast(t *testing.T, log events.Log, want uint64) {
	t.Helper()
	if got := tail(t, log).Last; got != want {
		t.Fatalf("the stream ends at %d, want %d", got, want)
	}
}
