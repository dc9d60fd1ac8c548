// Package decisions tells whoever waits what was decided on an arrival, given
// nothing but the arrival's sequence.
//
// Model: [Service] answers a request on ledger.decision.<sequence> with the
// record at that sequence of LEDGER, its headers kept, as soon as it is
// stored. A request that comes early waits, for a bounded time; it is woken by
// the decisions that the stream republishes when they are stored, and nothing
// is polled. [Wait] and [WaitAll] ask, and ask again while nothing is decided.
//
// Authority: none, it only reads. What it answers is what LEDGER holds.
//
// Failure: an answer without a record has a code ([CodeNotYet] and others) and
// is asked for again, except for what cannot change. A republished message
// that gets lost delays its waiters until they ask again, and loses nothing.
package decisions

import (
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/errors"
)

// subjectRoot begins the subjects of requests; the arrival's sequence follows.
const subjectRoot = "ledger.decision."

// Subject is where the decision on an arrival is asked for.
func Subject(sequence uint64) string { return subjectRoot + strconv.FormatUint(sequence, 10) }

// parseSubject reads the sequence, as Subject writes it.
func parseSubject(subject string) (uint64, bool) {
	text := strings.TrimPrefix(subject, subjectRoot)
	sequence, err := strconv.ParseUint(text, 10, 64)
	return sequence, err == nil && sequence > 0 && Subject(sequence) == subject
}

// Headers of an answer without a record, as NATS services have them. An answer
// with one has the record's own headers.
const (
	HeaderCode = "Nats-Service-Error-Code"
	HeaderText = "Nats-Service-Error"
)

// The codes, after HTTP's.
const (
	CodeNotASequence = "400" // the subject's last token is no sequence
	CodeNotYet       = "425" // nothing is decided there yet: ask again
	CodeBusy         = "429" // too many requests wait already: ask again in a moment
	CodeMissing      = "500" // it was decided, and the ledger does not have it
)

const (
	// DefaultPatience is how long a request waits for its decision: shorter
	// than what a client allows one answer, longer than the writer takes on an
	// ordinary day.
	DefaultPatience = 5 * time.Second

	// maxWaiting bounds the requests that wait at once. Each is a goroutine and
	// an entry in a map, some kilobytes.
	maxWaiting = 4096
)

// Errors of Wait.
var (
	// ErrNotDecided: the time was up before the decision was there.
	ErrNotDecided = errors.New("decisions: not decided in time")
	// ErrMissing: the ledger no longer has what it decided. It is damaged.
	ErrMissing = errors.New("decisions: the ledger lacks a decision that it made")
	// ErrAnswer: what answers is not the decision that was asked for.
	ErrAnswer = errors.New("decisions: wrong answer")
)
