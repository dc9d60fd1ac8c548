package events

import (
	"context"
	"time"

	"github.com/cockroachdb/errors"
)

// Errors of a Log. Test with errors.Is; each names what the caller may do.
var (
	// ErrMoved: the stream's last sequence is not the expected one. Nothing of
	// the batch was stored.
	ErrMoved = errors.New("events: stream moved past the expected sequence")
	// ErrStateUnknown: the batch may or may not have been stored, for instance
	// because the acknowledgement was lost. Read the tail to find out.
	ErrStateUnknown = errors.New("events: it is unknown whether the batch was stored")
	// ErrRefused: the server refused the batch for what it is (size, limits,
	// permission, full disk). Nothing of it was stored.
	ErrRefused = errors.New("events: the stream refused the batch")
	// ErrGap: a sequence that must exist does not. The stream is damaged.
	ErrGap = errors.New("events: the stream has a gap")
	// ErrNotFound: no message at that sequence, or none with that subject.
	ErrNotFound = errors.New("events: no such message")
	// ErrUnavailable: the stream cannot be reached just now; try again.
	ErrUnavailable = errors.New("events: the stream is unavailable")
)

// Header holds a message's headers. Names are matched as they are written.
type Header map[string][]string

// Get gives the first value of a header, "" when there is none.
func (h Header) Get(name string) string {
	if values := h[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// Message is a stored message. Whoever receives one must not change its Data
// or Header.
type Message struct {
	Seq     uint64    // from 1, without holes
	Time    time.Time // when the stream stored it, UTC
	Subject string
	Header  Header
	Data    []byte
}

// Outgoing is a message to be appended.
type Outgoing struct {
	Subject string
	Header  Header
	Data    []byte
}

// Tail is the end of a stream, as its leader knows it.
type Tail struct {
	First uint64   // sequence of the first message; 1 in a healthy stream, also when it is empty
	Last  uint64   // sequence of the last message, 0 when the stream is empty
	End   *Message // the last message, nil when the stream is empty
}

// Log is one stream of contiguous messages. Implementations: the JetStream one
// in events/jetstream, and the in-memory one with fault hooks in
// events/eventstest; both pass eventstest.Conformance. A Log is safe for
// concurrent use.
type Log interface {
	// Identity names the stream for as long as it holds the same history. A
	// stream that was deleted and made again has another identity.
	Identity(ctx context.Context) (string, error)

	// Tail reads the end of the stream from its leader. Errors: ErrUnavailable,
	// ErrGap when the last message itself cannot be read.
	Tail(ctx context.Context) (Tail, error)

	// Get reads the message at seq from the leader. Errors: ErrNotFound,
	// ErrUnavailable.
	Get(ctx context.Context, seq uint64) (*Message, error)

	// Last reads the last message whose subject matches filter (NATS
	// wildcards), from the leader. Errors: ErrNotFound, ErrUnavailable.
	Last(ctx context.Context, filter string) (*Message, error)

	// Read starts reading at from (≥ 1) and goes on with what is appended
	// later. Without filters every sequence is delivered, in order, and a
	// missing one is ErrGap. With filters only messages whose subject matches
	// one of them are delivered, in order; holes are then no error.
	// The caller closes the Cursor.
	Read(ctx context.Context, from uint64, filters ...string) (Cursor, error)

	// Append stores the whole batch after expectedLast, or nothing of it, and
	// gives the sequence of its last message. 1 to MaxBatchMessages messages
	// of together at most MaxBatchBytes ([CheckBatch]). Errors: ErrMoved,
	// ErrStateUnknown, ErrRefused, and ErrUnavailable when the batch certainly
	// was not stored but may be tried again; after any of them the caller
	// reads the tail.
	Append(ctx context.Context, expectedLast uint64, batch []Outgoing) (uint64, error)
}

// Cursor walks a stream. It belongs to one goroutine.
type Cursor interface {
	// Next waits for at least one message and gives what is at hand, in order,
	// at most MaxBatchMessages. Errors: ErrGap (final), ErrUnavailable (the
	// cursor is dead; start another one after the last sequence it gave), the
	// context's own.
	Next(ctx context.Context) ([]Message, error)
	Close()
}
