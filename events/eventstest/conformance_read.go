package eventstest

import (
	"bytes"
	"context"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
)

func testEmptyStream(t *testing.T, s Stream) {
	if got := tail(t, s.reader()); got != (events.Tail{First: 1}) {
		t.Errorf("tail %+v, want first 1, last 0", got)
	}
	for _, seq := range []uint64{0, 1, 7} {
		if m, err := s.reader().Get(contextFor(t), seq); !errors.Is(err, events.ErrNotFound) {
			t.Errorf("get %d: %v, %v", seq, m, err)
		}
	}
	if m, err := s.reader().Last(contextFor(t), "ledger.decisions.>"); !errors.Is(err, events.ErrNotFound) {
		t.Errorf("last: %v, %v", m, err)
	}
}

func testGetAndTail(t *testing.T, s Stream) {
	fill(t, s.Log, 3)
	for n := 1; n <= 3; n++ {
		check(t, *get(t, s.reader(), uint64(n)), n, message(n))
	}
	got := tail(t, s.reader())
	if got.First != 1 || got.Last != 3 || got.End == nil {
		t.Fatalf("tail %+v", got)
	}
	check(t, *got.End, 3, message(3))
	if _, err := s.reader().Get(contextFor(t), 4); !errors.Is(err, events.ErrNotFound) {
		t.Errorf("get behind the end: %v", err)
	}
}

func testLast(t *testing.T, s Stream) {
	fill(t, s.Log, 10) // campaigns c1 c2 c0 c1 …
	mustAppend(t, s.Log, 10, []events.Outgoing{{Subject: "ledger.decisions.c1.rejected.void", Data: []byte("{}")}})
	for filter, want := range map[string]uint64{
		"ledger.decisions.>":                11,
		"ledger.decisions.c0.>":             9,
		"ledger.decisions.c1.>":             11,
		"ledger.decisions.c1.accepted.>":    10,
		"ledger.decisions.*.accepted.*":     10,
		"ledger.decisions.c2.accepted.cell": 8,
		"ledger.decisions.*.rejected.>":     11,
		"ledger.decisions.c.>":              0,
		"ledger.decisions.*":                0,
	} {
		m, err := s.reader().Last(contextFor(t), filter)
		switch {
		case want == 0 && !errors.Is(err, events.ErrNotFound):
			t.Errorf("%s: %v, want ErrNotFound", filter, err)
		case want > 0 && (err != nil || m.Seq != want):
			t.Errorf("%s: %+v, %v, want sequence %d", filter, m, err, want)
		}
	}
}

// testWholeMessages sends every kind of body and header around.
func testWholeMessages(t *testing.T, s Stream) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	sent := []events.Outgoing{
		{Subject: "ledger.decisions.c.accepted.cell"},
		{Subject: "ledger.decisions.c.accepted.cell", Header: events.Header{"only": {"headers"}}},
		{Subject: "ledger.decisions.c.accepted.cell", Data: every},
		{Subject: "ledger.decisions.c.accepted.cell", Data: []byte("{}"), Header: events.Header{
			"ce-id": {"a"}, "Ce-Id": {"another case"}, "twice": {"1", "2"}, "empty": {""}, "text": {"é \" : ,"},
			events.HeaderMsgID: {"a"},
		}},
		{Subject: "ledger.decisions._.rejected.malformed", Data: []byte("x")},
		// Headers and bodies as the server's own answers have them.
		{Subject: "ledger.decisions.c.accepted.cell", Header: events.Header{"Status": {"404"}, "Description": {"Message Not Found"}}},
		{Subject: "ledger.decisions.c.accepted.cell", Header: events.Header{"Status": {"409"}, "Description": {"Consumer Deleted"}}},
		{Subject: "ledger.decisions.c.accepted.cell", Header: events.Header{"Status": {"204"}, "Description": {"EOB"}}},
		{Subject: "ledger.decisions.c.accepted.cell", Header: events.Header{"Status": {"503"}}},
		{Subject: "ledger.decisions.c.accepted.cell", Header: events.Header{"Status": {"100"}}},
	}
	mustAppend(t, s.Log, 0, sent)
	read := readAll(t, s.reader(), 1, len(sent))
	for i, want := range sent {
		check(t, read[i], i+1, want)
		check(t, *get(t, s.reader(), uint64(i+1)), i+1, want)
	}
	if last := get(t, s.reader(), 1); !read[0].Time.Equal(last.Time) {
		t.Errorf("sequence 1 was stored at %v and at %v", read[0].Time, last.Time)
	}
}

func testReadFrom(t *testing.T, s Stream) {
	fill(t, s.Log, 30)
	for _, from := range []int{1, 2, 17, 30} {
		for i, m := range readAll(t, s.reader(), uint64(from), 30-from+1) {
			check(t, m, from+i, message(from+i))
		}
	}
}

// testReadFollows: what is appended later is delivered, also to a cursor that
// starts behind the end.
func testReadFollows(t *testing.T, s Stream) {
	fill(t, s.Log, 2)
	beginning, ahead := read(t, s.reader(), 1), read(t, s.reader(), 5)
	wantNext(t, beginning, 1, 2)
	mustAppend(t, s.Log, 2, messages(3, 3))
	wantNext(t, beginning, 3, 3)
	mustAppend(t, s.Log, 3, messages(4, 6))
	wantNext(t, beginning, 4, 6)
	wantNext(t, ahead, 5, 6)
	mustAppend(t, s.Log, 6, messages(7, 7))
	wantNext(t, beginning, 7, 7)
	wantNext(t, ahead, 7, 7)
}

// testReadPortions: no portion is larger than a batch, and together they are
// everything.
func testReadPortions(t *testing.T, s Stream) {
	const n = 2*events.MaxBatchMessages + 500
	fill(t, s.Log, n)
	for i, m := range readAll(t, s.reader(), 1, n) {
		check(t, m, i+1, message(i+1))
	}
}

// testReadLarge: messages of full size get through, several in a row.
func testReadLarge(t *testing.T, s Stream) {
	for i := range 5 {
		large := message(i + 1)
		large.Data = bytes.Repeat([]byte{byte('a' + i)}, events.MaxBatchBytes)
		mustAppend(t, s.Log, i, []events.Outgoing{large})
	}
	for i, m := range readAll(t, s.reader(), 1, 5) {
		if len(m.Data) != events.MaxBatchBytes || m.Data[0] != byte('a'+i) {
			t.Errorf("sequence %d came back with %d bytes of %q", m.Seq, len(m.Data), m.Data[:1])
		}
	}
	if m := get(t, s.reader(), 5); len(m.Data) != events.MaxBatchBytes {
		t.Errorf("sequence 5 came back with %d bytes", len(m.Data))
	}
}

func testReadFilters(t *testing.T, s Stream) {
	fill(t, s.Log, 20)
	mustAppend(t, s.Log, 20, []events.Outgoing{{Subject: "ledger.decisions.c1.rejected.void", Data: []byte("{}")}})
	mustAppend(t, s.Log, 21, messages(22, 22))
	for _, row := range []struct {
		from    uint64
		filters []string
		want    []uint64
	}{
		{1, []string{"ledger.decisions.c1.>"}, []uint64{1, 4, 7, 10, 13, 16, 19, 21, 22}},
		{8, []string{"ledger.decisions.c1.accepted.>"}, []uint64{10, 13, 16, 19, 22}},
		{15, []string{"ledger.decisions.c1.>", "ledger.decisions.c0.accepted.cell"}, []uint64{15, 16, 18, 19, 21, 22}},
		{1, []string{"ledger.decisions.*.rejected.*"}, []uint64{21}},
	} {
		cursor := read(t, s.reader(), row.from, row.filters...)
		got := collect(t, cursor, len(row.want))
		for i, want := range row.want {
			if got[i].Seq != want {
				t.Errorf("%v from %d: got sequence %d, want %d", row.filters, row.from, got[i].Seq, want)
			}
		}
	}
}

// testGap: a cursor gives what is before a gap, then says so for good. With
// filters holes are no error.
func testGap(t *testing.T, s Stream) {
	fill(t, s.Log, 9)
	s.Remove(4)
	cursor := read(t, s.reader(), 1)
	collect(t, cursor, 3)
	for range 2 {
		if got, err := cursor.Next(contextFor(t)); !errors.Is(err, events.ErrGap) {
			t.Fatalf("next over a gap: %d messages, %v", len(got), err)
		}
	}
	if _, err := s.reader().Get(contextFor(t), 4); !errors.Is(err, events.ErrNotFound) {
		t.Errorf("get in the gap: %v", err)
	}
	for i, m := range readAll(t, s.reader(), 5, 5) {
		check(t, m, 5+i, message(5+i))
	}
	got := collect(t, read(t, s.reader(), 1, "ledger.decisions.>"), 8)
	if got[2].Seq != 3 || got[3].Seq != 5 {
		t.Errorf("with a filter: %d, %d", got[2].Seq, got[3].Seq)
	}
}

func testGapAtStart(t *testing.T, s Stream) {
	fill(t, s.Log, 3)
	s.Remove(1)
	if got := tail(t, s.reader()); got.First != 2 || got.Last != 3 {
		t.Errorf("tail %+v", got)
	}
	cursor := read(t, s.reader(), 1)
	if _, err := cursor.Next(contextFor(t)); !errors.Is(err, events.ErrGap) {
		t.Errorf("read from a removed beginning: %v", err)
	}
}

func testGapAtEnd(t *testing.T, s Stream) {
	fill(t, s.Log, 3)
	s.Remove(3)
	if got, err := s.reader().Tail(contextFor(t)); !errors.Is(err, events.ErrGap) {
		t.Errorf("tail without its last message: %+v, %v", got, err)
	}
}

// testCancelRead: a cursor outlives the context of a call.
func testCancelRead(t *testing.T, s Stream) {
	fill(t, s.Log, 2)
	cursor := read(t, s.reader(), 1)
	collect(t, cursor, 2)
	ctx, cancel := context.WithCancel(contextFor(t))
	ended := make(chan error, 1)
	go func() {
		_, err := cursor.Next(ctx)
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("next with a cancelled context: %v", err)
	}
	mustAppend(t, s.Log, 2, messages(3, 3))
	wantNext(t, cursor, 3, 3)
	if _, err := s.reader().Read(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("read with a cancelled context: %v", err)
	}
}

func testCloseCursor(t *testing.T, s Stream) {
	fill(t, s.Log, 2)
	cursor := read(t, s.reader(), 1)
	wantNext(t, cursor, 1, 2)
	cursor.Close()
	if got, err := cursor.Next(contextFor(t)); !errors.Is(err, events.ErrUnavailable) {
		t.Errorf("next after close: %d messages, %v", len(got), err)
	}
	cursor.Close() // again is no mistake
}

// testIdentity: a stream keeps its identity while it lives; one that was
// deleted and made anew has another, and cursors of the old one die.
func testIdentity(t *testing.T, s Stream) {
	identity := func() string {
		t.Helper()
		got, err := s.reader().Identity(contextFor(t))
		if err != nil || got == "" {
			t.Fatalf("identity %q: %v", got, err)
		}
		return got
	}
	before := identity()
	fill(t, s.Log, 3)
	if after := identity(); after != before {
		t.Errorf("the identity changed from %q to %q by appending", before, after)
	}
	cursor := read(t, s.reader(), 1)
	collect(t, cursor, 3)
	s.Recreate()
	if after := identity(); after == before {
		t.Errorf("a stream made anew has the same identity %q", after)
	}
	wantLast(t, s.reader(), 0)
	if got, err := cursor.Next(contextFor(t)); !errors.IsAny(err, events.ErrUnavailable, events.ErrGap) {
		t.Errorf("a cursor of the old stream goes on: %v, %v", got, err)
	}
}

func read(t *testing.T, log events.Log, from uint64, filters ...string) events.Cursor {
	t.Helper()
	cursor, err := log.Read(contextFor(t), from, filters...)
	if err != nil {
		t.Fatalf("read from %d: %+v", from, err)
	}
	t.Cleanup(cursor.Close)
	return cursor
}

// collect reads n messages, no more and no fewer.
func collect(t *testing.T, cursor events.Cursor, n int) []events.Message {
	t.Helper()
	var all []events.Message
	for len(all) < n {
		portion, err := cursor.Next(contextFor(t))
		if err != nil {
			t.Fatalf("next after %d of %d messages: %+v", len(all), n, err)
		}
		if len(portion) == 0 || len(portion) > events.MaxBatchMessages {
			t.Fatalf("a portion of %d messages", len(portion))
		}
		all = append(all, portion...)
	}
	if len(all) > n {
		t.Fatalf("%d messages, want %d", len(all), n)
	}
	return all
}

func readAll(t *testing.T, log events.Log, from uint64, n int) []events.Message {
	t.Helper()
	cursor := read(t, log, from)
	defer cursor.Close()
	return collect(t, cursor, n)
}

// wantNext reads the messages from to to.
func wantNext(t *testing.T, cursor events.Cursor, from, to int) {
	t.Helper()
	for i, m := range collect(t, cursor, to-from+1) {
		check(t, m, from+i, message(from+i))
	}
}
