package eventstest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ledgerd/ledgerd/events"
)

// Stream is an empty stream that takes ledger.decisions.>, for one test.
type Stream struct {
	Log events.Log
	// Reader reads the same stream, when reading is what is tested; nil: Log.
	Reader events.Log
	// Remove makes a gap.
	Remove func(seq uint64)
	// Recreate deletes the stream and makes it anew, empty.
	Recreate func()
}

// reader is the log whose reads are tested.
func (s Stream) reader() events.Log {
	if s.Reader != nil {
		return s.Reader
	}
	return s.Log
}

// patience is how long a step of the suite may take. It is only ever waited
// for by a test that fails.
const patience = 20 * time.Second

// Conformance holds a log to everything that [events.Log] says. open makes a
// new empty stream and ends it with the test.
func Conformance(t *testing.T, open func(t *testing.T) Stream) {
	ReadConformance(t, open)
	for _, test := range []struct {
		name string
		run  func(*testing.T, Stream)
	}{
		{"append", testAppend},
		{"append conflicts", testAppendConflicts},
		{"append limits", testAppendLimits},
		{"append headers", testAppendHeaders},
		{"append cancelled", testAppendCancelled},
		{"appenders never interleave", testAppenders},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

// ReadConformance holds a log to the reading half of the contract.
func ReadConformance(t *testing.T, open func(t *testing.T) Stream) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, Stream)
	}{
		{"empty stream", testEmptyStream},
		{"get and tail", testGetAndTail},
		{"last", testLast},
		{"messages come back whole", testWholeMessages},
		{"read from any sequence", testReadFrom},
		{"read follows the tail", testReadFollows},
		{"read in portions", testReadPortions},
		{"read large messages", testReadLarge},
		{"read with filters", testReadFilters},
		{"gap in the middle", testGap},
		{"gap at the start", testGapAtStart},
		{"gap at the end", testGapAtEnd},
		{"cancel a read", testCancelRead},
		{"close a cursor", testCloseCursor},
		{"identity", testIdentity},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

func contextFor(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// message is the nth message of a test.
func message(n int) events.Outgoing {
	return events.Outgoing{
		Subject: fmt.Sprintf("ledger.decisions.c%d.accepted.cell", n%3),
		Header:  events.Header{"ce-id": {fmt.Sprint(n)}},
		Data:    fmt.Appendf(nil, `{"index":%d}`, n-1),
	}
}

// messages are the messages from to to, both included.
func messages(from, to int) []events.Outgoing {
	var batch []events.Outgoing
	for n := from; n <= to; n++ {
		batch = append(batch, message(n))
	}
	return batch
}

// fill appends the messages 1 to n.
func fill(t *testing.T, log events.Log, n int) {
	t.Helper()
	for last := 0; last < n; {
		next := min(last+events.MaxBatchMessages, n)
		mustAppend(t, log, last, messages(last+1, next))
		last = next
	}
}

func mustAppend(t *testing.T, log events.Log, expectedLast int, batch []events.Outgoing) {
	t.Helper()
	last, err := log.Append(contextFor(t), uint64(expectedLast), batch)
	if err != nil {
		t.Fatalf("append %d messages behind %d: %+v", len(batch), expectedLast, err)
	}
	if want := uint64(expectedLast + len(batch)); last != want {
		t.Fatalf("append says the last sequence is %d, want %d", last, want)
	}
}

// check compares a stored message with the one that was appended.
func check(t *testing.T, got events.Message, seq int, want events.Outgoing) {
	t.Helper()
	if got.Seq != uint64(seq) || got.Subject != want.Subject || string(got.Data) != string(want.Data) {
		t.Fatalf("got sequence %d on %s with %d bytes, want %d on %s with %d bytes",
			got.Seq, got.Subject, len(got.Data), seq, want.Subject, len(want.Data))
	}
	if len(got.Header) != len(want.Header) {
		t.Fatalf("sequence %d has headers %v, want %v", seq, got.Header, want.Header)
	}
	for name, values := range want.Header {
		if fmt.Sprint(got.Header[name]) != fmt.Sprint(values) {
			t.Fatalf("sequence %d has header %s %q, want %q", seq, name, got.Header[name], values)
		}
	}
	if got.Time.IsZero() || got.Time.Location() != time.UTC {
		t.Fatalf("sequence %d was stored at %v, want a time in UTC", seq, got.Time)
	}
}
