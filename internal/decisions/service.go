package decisions

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"

	"github.com/ledgerd/ledgerd/events"
)

// Config is what a service needs. Conn and Ledger are required.
type Config struct {
	Conn     *nats.Conn // of the daemon
	Ledger   events.Log
	Patience time.Duration // zero: DefaultPatience
	Logger   *slog.Logger  // nil: nothing is logged
}

// queue lets one of several daemons answer.
const queue = "ledgerd"

// Service answers requests for decisions.
type Service struct {
	Config
	board *board
	slots chan struct{}         // one for each request that may wait
	waits func(sequence uint64) // told of each request that begins to wait; for tests

	mu       sync.Mutex
	running  bool           // guards requests: nothing is added while it is awaited
	requests sync.WaitGroup // of the goroutines that answer
}

// New gives a service that has not started.
func New(config Config) (*Service, error) {
	if config.Conn == nil || config.Ledger == nil {
		return nil, errors.AssertionFailedf("decisions: connection and ledger are required")
	}
	if config.Patience == 0 {
		config.Patience = DefaultPatience
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	return &Service{Config: config, board: newBoard(), slots: make(chan struct{}, maxWaiting), waits: func(uint64) {}}, nil
}

// Run answers until ctx ends (nil) or the connection is closed for good. When
// it returns, nothing of it runs, and every request it took is answered.
func (s *Service) Run(ctx context.Context) error {
	closed := s.Conn.StatusChanged(nats.CLOSED)
	defer s.Conn.RemoveStatusListener(closed)
	ctx, cancel := context.WithCancel(ctx)
	s.open()
	defer s.close()
	defer cancel() // those that wait answer that there is nothing yet

	committed, err := s.Conn.Subscribe(events.CommittedFilter, s.hear)
	if err != nil {
		return errors.Wrap(err, "decisions: follow the ledger")
	}
	defer s.end(committed)
	requests, err := s.Conn.QueueSubscribe(subjectRoot+"*", queue, func(m *nats.Msg) { s.take(ctx, m) })
	if err != nil {
		return errors.Wrap(err, "decisions: take requests")
	}
	defer s.end(requests)
	select {
	case <-ctx.Done():
		return nil
	case <-closed:
		return errors.Wrap(nats.ErrConnectionClosed, "decisions: the daemon's connection")
	}
}

// end takes no more from a subscription and waits for what was taken.
func (s *Service) end(subscription *nats.Subscription) {
	if s.Conn.IsClosed() {
		return
	}
	drained := subscription.StatusChanged(nats.SubscriptionClosed)
	if err := subscription.Drain(); err != nil {
		return // only a closed one fails, which has nothing left
	}
	timer := time.NewTimer(drainPatience)
	defer timer.Stop()
	select {
	case <-drained:
	case <-timer.C:
		s.Logger.Warn("decisions: a subscription did not end", "subject", subscription.Subject)
	}
}

const (
	// drainPatience bounds the wait for a subscription's last messages.
	drainPatience = 2 * time.Second
	// lastLook bounds the reading of a decision when the time is up already.
	lastLook = time.Second
)

// hear takes a decision that was stored just now.
func (s *Service) hear(m *nats.Msg) {
	if message, ok := committedMessage(m); ok {
		s.board.post(message)
	}
}

// take lets a request wait, if there is room.
func (s *Service) take(ctx context.Context, m *nats.Msg) {
	sequence, ok := parseSubject(m.Subject)
	switch {
	case m.Reply == "":
		return // nobody wants to know
	case !ok:
		s.refuse(m, CodeNotASequence, "a decision is asked for by its arrival's sequence")
		return
	}
	select {
	case s.slots <- struct{}{}:
	default:
		s.refuse(m, CodeBusy, "too many requests wait")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running {
		<-s.slots
		return
	}
	s.requests.Go(func() {
		defer func() { <-s.slots }()
		s.answer(ctx, m, sequence)
	})
}

func (s *Service) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = true
}

// close waits for the requests that were taken, and takes no more.
func (s *Service) close() {
	s.mu.Lock()
	s.running = false
	s.mu.Unlock()
	s.requests.Wait()
}

// answer gives the decision as soon as there is one.
func (s *Service) answer(ctx context.Context, m *nats.Msg, sequence uint64) {
	ctx, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	// Listening comes before looking, so that nothing falls between them.
	posted, stop := s.board.wait(sequence)
	defer stop()
	for {
		message, err := s.Ledger.Get(ctx, sequence)
		if err != nil {
			if !errors.Is(err, events.ErrNotFound) {
				s.Logger.Debug("decisions: read the ledger", "sequence", sequence, "error", err)
			}
			s.waits(sequence)
			select {
			case <-ctx.Done():
				s.answerLate(m, sequence)
				return
			case message = <-posted:
			}
		}
		if message != nil {
			s.give(m, message)
			return
		}
		// Later ones were heard of and this one was not: it is stored.
	}
}

// answerLate answers when the time is up. Only now is a decision said to be
// missing that was heard of, or ones behind it: a stream that changes its
// leader may lack its end for a moment.
func (s *Service) answerLate(m *nats.Msg, sequence uint64) {
	if sequence > s.board.highest() {
		s.refuse(m, CodeNotYet, "nothing is decided there yet")
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastLook)
	defer cancel()
	message, err := s.Ledger.Get(ctx, sequence)
	switch {
	case err == nil:
		s.give(m, message)
	case errors.Is(err, events.ErrNotFound):
		s.Logger.Error("decisions: the ledger lacks a decision that was stored", "sequence", sequence)
		s.refuse(m, CodeMissing, "the ledger lacks this decision, which was stored")
	default:
		s.refuse(m, CodeNotYet, "the ledger cannot be read just now")
	}
}

// give answers with a record and its own headers.
func (s *Service) give(m *nats.Msg, message *events.Message) {
	answer := nats.NewMsg(m.Reply)
	answer.Data = message.Data
	for name, values := range message.Header {
		if !strings.HasPrefix(name, serverHeaders) {
			answer.Header[name] = values
		}
	}
	s.respond(m, answer)
}

func (s *Service) refuse(m *nats.Msg, code, text string) {
	answer := nats.NewMsg(m.Reply)
	answer.Header.Set(HeaderCode, code)
	answer.Header.Set(HeaderText, text)
	s.respond(m, answer)
}

// respond sends an answer. One that is lost is asked for again.
func (s *Service) respond(m *nats.Msg, answer *nats.Msg) {
	if err := m.RespondMsg(answer); err != nil {
		s.Logger.Debug("decisions: an answer was not sent", "subject", m.Subject, "error", err)
	}
}
