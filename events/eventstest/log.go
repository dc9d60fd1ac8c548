package eventstest

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
)

// Log is an events.Log in memory. It is safe for concurrent use.
type Log struct {
	subject string // what the stream takes, with wildcards

	mu          sync.Mutex
	messages    []*events.Message // by sequence - 1; nil where one was removed
	generation  int               // how often the stream was made anew
	moved       chan struct{}     // closed and replaced at every change
	unavailable bool
	onAppend    AppendHook
}

// AppendHook is asked before each append what becomes of it: whether the batch
// is stored (if the expected sequence still holds) and what the caller is
// told. Nil stands for the truth. It runs without the log's lock, so it may
// use the log, and may block to delay the append.
type AppendHook func(expectedLast uint64, batch []events.Outgoing) (persist bool, told error)

// NewLog makes an empty stream that takes a subject, wildcards included.
func NewLog(subject string) *Log {
	return &Log{subject: subject, moved: make(chan struct{})}
}

// NewArrivals makes an empty ARRIVALS stream.
func NewArrivals() *Log { return NewLog(events.ArrivalsFilter) }

// NewLedger makes an empty LEDGER stream.
func NewLedger() *Log { return NewLog(events.DecisionsFilter) }

// Identity changes with [Log.Recreate] alone.
func (l *Log) Identity(ctx context.Context) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.reachable(ctx); err != nil {
		return "", err
	}
	return l.subject + "#" + strconv.Itoa(l.generation), nil
}

// Tail is the end of the stream.
func (l *Log) Tail(ctx context.Context) (events.Tail, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.reachable(ctx); err != nil {
		return events.Tail{}, err
	}
	tail := events.Tail{First: 1, Last: l.last()}
	for tail.First <= tail.Last && l.messages[tail.First-1] == nil {
		tail.First++
	}
	if tail.First > tail.Last {
		return tail, nil
	}
	if tail.End = l.messages[tail.Last-1]; tail.End == nil {
		return events.Tail{}, errors.Wrapf(events.ErrGap, "sequence %d, the last one", tail.Last)
	}
	return tail, nil
}

// Get reads one message.
func (l *Log) Get(ctx context.Context, seq uint64) (*events.Message, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.reachable(ctx); err != nil {
		return nil, err
	}
	if seq == 0 || seq > l.last() || l.messages[seq-1] == nil {
		return nil, errors.Wrapf(events.ErrNotFound, "sequence %d", seq)
	}
	return l.messages[seq-1], nil
}

// Last reads the last message whose subject matches.
func (l *Log) Last(ctx context.Context, filter string) (*events.Message, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.reachable(ctx); err != nil {
		return nil, err
	}
	for i := len(l.messages) - 1; i >= 0; i-- {
		if m := l.messages[i]; m != nil && events.SubjectMatches(filter, m.Subject) {
			return m, nil
		}
	}
	return nil, errors.Wrapf(events.ErrNotFound, "subject %s", filter)
}

// Append stores a batch behind the expected sequence, unless a hook says
// otherwise.
func (l *Log) Append(ctx context.Context, expectedLast uint64, batch []events.Outgoing) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := l.refuse(batch); err != nil {
		return 0, err
	}
	persist, told := true, error(nil)
	if hook := l.hook(); hook != nil {
		persist, told = hook(expectedLast, batch)
	}
	last, err := uint64(0), events.ErrStateUnknown
	if persist {
		last, err = l.Store(expectedLast, batch)
	}
	if told != nil {
		return 0, told
	}
	return last, err
}

// refuse checks what the server would refuse a batch for.
func (l *Log) refuse(batch []events.Outgoing) error {
	if err := events.CheckBatch(batch); err != nil {
		return err
	}
	for i := range batch {
		if !events.SubjectMatches(l.subject, batch[i].Subject) {
			return errors.Wrapf(events.ErrRefused, "subject %s is not the stream's", batch[i].Subject)
		}
	}
	return nil
}

// reachable is asked with the lock held.
func (l *Log) reachable(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.unavailable {
		return errors.Wrap(events.ErrUnavailable, "the test says so")
	}
	return nil
}

func (l *Log) last() uint64 { return uint64(len(l.messages)) }

func (l *Log) hook() AppendHook {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.onAppend
}

// changed wakes every cursor; the lock is held.
func (l *Log) changed() {
	close(l.moved)
	l.moved = make(chan struct{})
}

// push stores messages; the lock is held.
func (l *Log) push(batch []events.Outgoing) uint64 {
	for i := range batch {
		seq := l.last() + 1
		l.messages = append(l.messages, &events.Message{
			Seq: seq, Time: TimeOf(seq), Subject: batch[i].Subject, Header: batch[i].Header, Data: batch[i].Data,
		})
	}
	l.changed()
	return l.last()
}

// TimeOf is when a [Log] says that it stored a sequence.
func TimeOf(seq uint64) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(seq) * time.Second)
}
