package audit

import (
	"context"

	"github.com/ledgerd/ledgerd/events"
)

// Pair is what the two streams hold at one sequence.
type Pair struct {
	Seq      uint64
	Arrival  *events.Message // nil: not there, or not asked for
	Decision *events.Message // nil: not there; behind the last decision the arrival waits for one
}

// Selection says what of a ledger is walked.
type Selection struct {
	Arrivals bool   // ARRIVALS too, not LEDGER alone
	Campaign string // only what is under this campaign's subjects; "": everything
}

// Portion is a part of a walk.
type Portion struct {
	Pairs []Pair    // by sequence, rising over the whole walk; a sequence that neither stream holds is left out
	Found []Finding // damage that the source itself sees: what it could not read
}

// Source is a ledger that can be read from its beginning.
type Source interface {
	// Walk begins to read. The end is fixed here: what is appended later is
	// not walked. The caller closes the Walk.
	Walk(ctx context.Context, what Selection) (Walk, error)
}

// Walk reads a ledger once. It belongs to one goroutine.
type Walk interface {
	// Next gives the next portion, io.EOF behind the last one.
	Next(ctx context.Context) (Portion, error)
	// Last is the last sequence that is walked, 0 when nobody knows it yet.
	Last() uint64
	Close() error
}

// Stream is one of the two streams, for sources that keep them apart.
type Stream interface {
	// Open begins to read at sequence 1. A campaign leaves all others out. The
	// caller closes the StreamReader.
	Open(ctx context.Context, campaign string) (StreamReader, error)
}

// StreamReader reads a stream once. It belongs to one goroutine.
type StreamReader interface {
	// Next gives what comes next, by sequence; io.EOF behind the end. What is
	// missing is left out, what cannot be read is a finding.
	Next(ctx context.Context) ([]events.Message, []Finding, error)
	// Last is the last sequence, 0 when nobody knows it yet.
	Last() uint64
	Close() error
}

// Limits of what a StreamReader gives at a time.
const (
	// PortionMessages is about how many messages come together.
	PortionMessages = events.MaxBatchMessages
	// PortionBytes is about how many bytes of them come together: one more
	// message is always given.
	PortionBytes = 4 << 20
)
