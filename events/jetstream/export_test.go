package jetstream

import "time"

// SetAckTimeout makes a publisher impatient, for tests that lose answers.
func (p *Publisher) SetAckTimeout(timeout time.Duration) { p.ackTimeout = timeout }

// Bounds of a flight, for tests at their edges.
const (
	MaxInFlight = maxInFlight
	MaxSilences = maxSilences
)

// NotStored is the table of refusals.
var NotStored = notStored

// SyncOf reads a server's answer about its configuration.
var SyncOf = syncOf

// ReadDelivery reads a delivered message's reply subject.
func ReadDelivery(reply string) (sequence, delivered uint64, nanoseconds int64, ok bool) {
	d, ok := readDelivery(reply)
	return d.sequence, d.delivered, d.stored.UnixNano(), ok
}

// Answers is the most that the answers to full ARRIVALS take, and the room
// that LEDGER has for them.
func (l Limits) Answers() (need, room int64) { return l.share().answers(), l.share().ledgerBytes }

// AnswerRoom is what is reckoned for the answers to so many arrivals of
// together so many bytes.
func AnswerRoom(bytes, arrivals int64) int64 {
	return share{arrivalsBytes: bytes, arrivalsMessages: arrivals}.answers()
}
