package jetstream

import (
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"
)

// SetAckTimeout makes a publisher impatient, for tests that lose answers.
func (p *Publisher) SetAckTimeout(timeout time.Duration) { p.ackTimeout = timeout }

// MaxInFlight is the bound of a flight.
const MaxInFlight = maxInFlight

// Classify marks an API error of an append.
func Classify(code natsjs.ErrorCode) error { return classify(&natsjs.APIError{ErrorCode: code}) }

// SyncOf reads a server's answer about its configuration.
var SyncOf = syncOf

// Answers is the most that the answers to full ARRIVALS take, and the room
// that LEDGER has for them.
func (l Limits) Answers() (need, room int64) { return l.share().answers(), l.share().ledgerBytes }

// AnswerRoom is what is reckoned for the answers to so many arrivals of
// together so many bytes.
func AnswerRoom(bytes, arrivals int64) int64 {
	return share{arrivalsBytes: bytes, arrivalsMessages: arrivals}.answers()
}
