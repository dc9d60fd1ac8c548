package decisions

import (
	"strconv"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/ledgerd/ledgerd/events"
)

// serverHeaders begins the names of headers that the server adds to a
// republished message.
const serverHeaders = "Nats-"

// headerSequence is a republished message's sequence.
const headerSequence = "Nats-Sequence"

// committedMessage reads a republished decision, but for its subject and time.
func committedMessage(m *nats.Msg) (*events.Message, bool) {
	sequence, err := strconv.ParseUint(m.Header.Get(headerSequence), 10, 64)
	if err != nil || sequence == 0 {
		return nil, false
	}
	return &events.Message{Seq: sequence, Header: events.Header(m.Header), Data: m.Data}, true
}

// board is where those who wait for a sequence hear of it.
type board struct {
	mu      sync.Mutex
	waiting map[uint64]map[chan *events.Message]struct{}
	last    uint64 // highest sequence that was posted
}

func newBoard() *board { return &board{waiting: map[uint64]map[chan *events.Message]struct{}{}} }

// wait gives a channel that gets the message at a sequence when it is posted,
// or nil when a later one was and it was not. stop must be called.
func (b *board) wait(sequence uint64) (posted <-chan *events.Message, stop func()) {
	channel := make(chan *events.Message, 1) // who has been handed something is on the board no more
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting[sequence] == nil {
		b.waiting[sequence] = map[chan *events.Message]struct{}{}
	}
	b.waiting[sequence][channel] = struct{}{}
	return channel, func() { b.leave(sequence, channel) }
}

func (b *board) leave(sequence uint64, channel chan *events.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waiting[sequence], channel)
	if len(b.waiting[sequence]) == 0 {
		delete(b.waiting, sequence)
	}
}

// highest is the highest sequence that was posted. All up to it are stored.
func (b *board) highest() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// post hands a stored message to those who wait for it.
func (b *board) post(message *events.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hand(message.Seq, message)
	if message.Seq > b.last+1 {
		// Those between were lost on their way here, or were stored before we
		// listened.
		for sequence := range b.waiting {
			if sequence > b.last && sequence < message.Seq {
				b.hand(sequence, nil)
			}
		}
	}
	b.last = max(b.last, message.Seq)
}

// hand gives a message, once: who has it waits no more.
func (b *board) hand(sequence uint64, message *events.Message) {
	for channel := range b.waiting[sequence] {
		channel <- message
	}
	delete(b.waiting, sequence)
}
