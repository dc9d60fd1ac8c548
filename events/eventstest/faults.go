package eventstest

import (
	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
)

// OnAppend sets the hook that is asked before each append; nil takes it away.
func (l *Log) OnAppend(hook AppendHook) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.onAppend = hook
}

// NextAppend sets a hook for the next append alone. It answers for instance
//
//	false, events.ErrRefused       refused, not stored
//	false, events.ErrStateUnknown  lost on the way
//	true, events.ErrStateUnknown   stored, the acknowledgement was lost
func (l *Log) NextAppend(persist bool, told error) {
	l.OnAppend(func(uint64, []events.Outgoing) (bool, error) {
		l.OnAppend(nil)
		return persist, told
	})
}

// Store appends behind the expected sequence without asking the hook: an
// append that arrives late.
func (l *Log) Store(expectedLast uint64, batch []events.Outgoing) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.unavailable:
		return 0, errors.Wrap(events.ErrUnavailable, "the test says so")
	case expectedLast != l.last():
		return 0, errors.Wrapf(events.ErrMoved, "expected %d, the last sequence is %d", expectedLast, l.last())
	}
	return l.push(batch), nil
}

// Publish appends without a fence, as a producer does, or a foreign hand.
func (l *Log) Publish(batch ...events.Outgoing) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.push(batch)
}

// Remove makes a gap.
func (l *Log) Remove(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages[seq-1] = nil
	l.changed()
}

// Replace changes a stored message in place.
func (l *Log) Replace(seq uint64, change func(*events.Message)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	replaced := *l.messages[seq-1]
	change(&replaced)
	l.messages[seq-1] = &replaced
	l.changed()
}

// Truncate moves the tail back to a sequence.
func (l *Log) Truncate(last uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages = l.messages[:last:last]
	l.changed()
}

// Recreate deletes the stream and makes it anew: empty, another identity.
// Cursors die.
func (l *Log) Recreate() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages = nil
	l.generation++
	l.changed()
}

// SetUnavailable takes the stream away or gives it back. Cursors die when it
// goes.
func (l *Log) SetUnavailable(unavailable bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unavailable = unavailable
	l.changed()
}
