package decisions

import (
	"context"
	"iter"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/follow"
)

const (
	// answerTimeout is how long one answer may take: the service's patience and
	// the way there and back.
	answerTimeout = DefaultPatience + 5*time.Second
	// retryDelay is between two questions when the answer came at once: a
	// daemon that restarts, or has too many that wait.
	retryDelay = 200 * time.Millisecond
	// maxAsking is how many questions of one WaitAll are on their way: enough
	// to hide the way, few beside what the service lets wait.
	maxAsking = 64
)

// Decided is a decision with its arrival's sequence, and its record: the bytes
// that LEDGER holds.
type Decided struct {
	Sequence uint64
	Decision *domain.Decision
	Record   []byte
	Epoch    string // of the writer that appended it
}

// Wait gives the decision on the arrival at a sequence, and its record. It
// asks until ctx ends, over restarts of the daemon too. Errors:
// [ErrNotDecided] with the context's cause, [ErrMissing], [ErrAnswer],
// nats.ErrConnectionClosed.
func Wait(ctx context.Context, conn *nats.Conn, sequence uint64) (*domain.Decision, []byte, error) {
	decided, err := wait(ctx, conn, sequence)
	return decided.Decision, decided.Record, err
}

func wait(ctx context.Context, conn *nats.Conn, sequence uint64) (Decided, error) {
	for {
		asked := time.Now()
		decided, why, err := ask(ctx, conn, sequence)
		switch {
		case err != nil || why == nil:
			return decided, err
		case ctx.Err() != nil:
			return Decided{}, notDecided(ctx, sequence, why)
		}
		// Who waited at the service asks again at once; who got a quick answer
		// does not make a loop of it.
		if !follow.Sleep(ctx, retryDelay-time.Since(asked)) {
			return Decided{}, notDecided(ctx, sequence, why)
		}
	}
}

// ask asks once. why says why there is no decision yet; err is final.
func ask(ctx context.Context, conn *nats.Conn, sequence uint64) (decided Decided, why, err error) {
	limited, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	answer, err := conn.RequestWithContext(limited, Subject(sequence), nil)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return Decided{}, errors.New("nobody answers: is ledgerd running?"), nil
	case errors.IsAny(err, nats.ErrConnectionClosed, nats.ErrConnectionDraining, nats.ErrInvalidConnection):
		return Decided{}, nil, errors.Wrapf(err, "decisions: ask for %d", sequence)
	case err != nil:
		return Decided{}, errors.Wrap(err, "no answer came"), nil
	}
	switch code := answer.Header.Get(HeaderCode); code {
	case "":
		decided, err := read(sequence, answer)
		return decided, nil, err
	case CodeNotYet, CodeBusy:
		return Decided{}, errors.Newf("the last answer was %s %s", code, answer.Header.Get(HeaderText)), nil
	case CodeMissing:
		return Decided{}, nil, errors.WithHint(errors.Wrapf(ErrMissing, "decision on arrival %d", sequence),
			"compare with `ledgerd verify`; `ledgerd restore` brings back what is lost")
	default:
		return Decided{}, nil, errors.Wrapf(ErrAnswer, "asked for arrival %d: %s %s", sequence, code, answer.Header.Get(HeaderText))
	}
}

// read makes sure that an answer is the decision that was asked for.
func read(sequence uint64, answer *nats.Msg) (Decided, error) {
	decision, err := events.ReadRecordAt(sequence, answer.Data)
	if err != nil {
		return Decided{}, errors.Wrapf(errors.Mark(err, ErrAnswer), "asked for the decision on arrival %d", sequence)
	}
	return Decided{Sequence: sequence, Decision: decision, Record: answer.Data, Epoch: answer.Header.Get(events.HeaderEpoch)}, nil
}

// notDecided says that the time was up, or what else ended the context.
func notDecided(ctx context.Context, sequence uint64, why error) error {
	cause := context.Cause(ctx)
	err := errors.Mark(errors.Wrapf(cause, "no decision on arrival %d (%v)", sequence, why), ErrNotDecided)
	if errors.Is(cause, context.DeadlineExceeded) {
		err = errors.WithHint(err, "What is stored will be decided. Ask again with `ingest status`, or look at the daemon's log.")
	}
	return err
}

// WaitAll gives the decisions on the arrivals at the sequences, in their
// order, many asked for at once. It ends behind the last one or with the first
// error, which has the sequence in its Decided. Errors: those of [Wait]. A
// sequence that is slow to come holds up decisions before it.
func WaitAll(ctx context.Context, conn *nats.Conn, sequences iter.Seq[uint64]) iter.Seq2[Decided, error] {
	return func(yield func(Decided, error) bool) {
		next, stop := iter.Pull(sequences)
		defer stop()
		ctx, cancel := context.WithCancel(ctx)
		asking := &asking{conn: conn}
		defer asking.end(cancel)
		for {
			for len(asking.queue) < maxAsking {
				sequence, more := next()
				if !more {
					break
				}
				asking.begin(ctx, sequence)
			}
			if len(asking.queue) == 0 {
				return
			}
			decided, err := asking.first()
			if !yield(decided, err) || err != nil {
				return
			}
		}
	}
}

// asking are the questions on their way, in order. It belongs to one goroutine.
type asking struct {
	conn  *nats.Conn
	queue []chan answered
}

type answered struct {
	decided Decided
	err     error
}

func (a *asking) begin(ctx context.Context, sequence uint64) {
	answer := make(chan answered, 1)
	a.queue = append(a.queue, answer)
	go func() {
		decided, err := wait(ctx, a.conn, sequence)
		decided.Sequence = sequence
		answer <- answered{decided, err}
	}()
}

// first waits for the answer to the oldest question.
func (a *asking) first() (Decided, error) {
	answer := <-a.queue[0]
	a.queue = a.queue[1:]
	return answer.decided, answer.err
}

// end waits for the questions that nobody wants answered any more.
func (a *asking) end(cancel context.CancelFunc) {
	cancel()
	for len(a.queue) > 0 {
		_, _ = a.first() // nobody wants it
	}
}
