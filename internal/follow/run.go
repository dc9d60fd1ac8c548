package follow

import (
	"context"
	"io"
	"math"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
)

// Forever follows a log beyond every end.
const Forever = math.MaxUint64

// Fill says when the batch that has gathered is committed.
type Fill int

// How full a batch is.
const (
	Empty Fill = iota
	Held       // when nothing more will be read, and not before
	Some       // when nothing more is at hand and nothing is being committed
	Ready      // as soon as nothing is being committed
	Full       // before the next step
)

// Follower is what is done with the messages of a log. P is a prepared message,
// B a batch.
type Follower[P, B any] interface {
	// Prepare does what needs no order. It is called from many goroutines.
	Prepare(m *events.Message) P
	// Step takes the next message into the batch. After an error the batch is
	// as it was before, or Fill gives Empty.
	Step(ctx context.Context, prepared P) error
	// Fill and Take are called from Step's goroutine. Take gives the batch and
	// starts the next one.
	Fill() Fill
	Take() B
	// Commit keeps a batch. It is called from Run's goroutine, while Step goes
	// on with the next batch.
	Commit(ctx context.Context, batch B) error
}

// Reading says what of a log is followed.
type Reading struct {
	Log     events.Log
	Stream  string             // the log's name, for people
	From    uint64             // first sequence, from 1
	UpTo    uint64             // last sequence, or Forever
	Waiting func(messages int) // told how many were read and not stepped yet; nil: nobody asks
}

// Run follows a log until UpTo is committed (nil), ctx ends, or something
// fails. What was stepped before an error is committed before Run returns it;
// when that fails too, it is the error. After an error the follower must be
// dropped: it may be ahead of what was committed.
func Run[P, B any](ctx context.Context, reading Reading, follower Follower[P, B]) error {
	if reading.From > reading.UpTo {
		return nil
	}
	stagesCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := NewPipeline(stagesCtx)
	reader := &reader{Reading: reading}
	s := &stepper[P, B]{
		Follower: follower,
		pipeline: p,
		waiting:  reading.Waiting,
		free:     make(chan struct{}, 1),
		batches:  make(chan B, 1),
	}
	s.prepared = Parallel(p, Read(p, reader.next, sizeOf), func(messages []events.Message) []P {
		prepared := make([]P, len(messages))
		for i := range messages {
			prepared[i] = follower.Prepare(&messages[i])
		}
		return prepared
	})
	p.group.Go(func() error {
		defer close(s.batches)
		return s.run(p.ctx)
	})
	err := s.commit(ctx)
	if err != nil {
		cancel()
		_ = p.Wait() // of the cancellation
	} else {
		err = p.Wait()
	}
	reader.close()
	return err
}

// stepper steps through what was prepared. All but commit belongs to one
// goroutine.
type stepper[P, B any] struct {
	Follower[P, B]
	pipeline *Pipeline
	waiting  func(int)
	prepared Stage[[]P]
	free     chan struct{} // filled while nothing is being committed
	batches  chan B        // filled by whoever emptied free
}

// commit keeps what is handed over, one batch after the other.
func (s *stepper[P, B]) commit(ctx context.Context) error {
	s.free <- struct{}{}
	for batch := range s.batches {
		if err := s.Commit(ctx, batch); err != nil {
			return err
		}
		s.free <- struct{}{}
	}
	return nil
}

func (s *stepper[P, B]) run(ctx context.Context) error {
	for {
		next, open, err := s.next(ctx)
		if err == nil && open {
			err = s.steps(ctx, next)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && open:
			continue
		}
		for s.Fill() != Empty {
			if err := s.handOver(ctx); err != nil {
				return err
			}
		}
		return err
	}
}

// next waits for what was prepared next, and hands the batch over meanwhile.
func (s *stepper[P, B]) next(ctx context.Context) (next chunk[[]P], open bool, err error) {
	for {
		var free <-chan struct{}
		switch fill := s.Fill(); {
		case fill == Ready:
			select { // before anything else
			case <-s.free:
				s.batches <- s.Take()
				continue
			default:
				free = s.free
			}
		case fill == Full, fill == Some && len(s.prepared) == 0:
			free = s.free
		}
		select {
		case <-free:
			s.batches <- s.Take()
		case next, open = <-s.prepared:
			return next, open, nil
		case <-ctx.Done():
			return next, false, ctx.Err()
		}
	}
}

// steps takes up a chunk, which may take more than one batch.
func (s *stepper[P, B]) steps(ctx context.Context, next chunk[[]P]) error {
	prepared, err := take(ctx, next)
	if err != nil {
		return err
	}
	defer s.pipeline.release(next.size)
	if s.waiting != nil {
		s.waiting(int(s.pipeline.ahead.Load()))
	}
	for _, one := range prepared {
		if s.Fill() == Full {
			if err := s.handOver(ctx); err != nil {
				return err
			}
		}
		if err := s.Step(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// handOver waits until nothing is being committed, and hands the batch over.
func (s *stepper[P, B]) handOver(ctx context.Context) error {
	select {
	case <-s.free:
		s.batches <- s.Take()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reader reads a log in chunks. It belongs to one goroutine.
type reader struct {
	Reading
	cursor events.Cursor // nil until it is needed
	rest   []events.Message
}

func (r *reader) next(ctx context.Context) (chunk []events.Message, err error) {
	if r.From > r.UpTo {
		return nil, io.EOF
	}
	if r.cursor == nil {
		if r.cursor, err = r.Log.Read(ctx, r.From); err != nil {
			return nil, errors.Wrapf(err, "follow: read %s from sequence %d", r.Stream, r.From)
		}
	}
	if len(r.rest) == 0 {
		if r.rest, err = r.cursor.Next(ctx); err != nil {
			return nil, errors.Wrapf(err, "follow: read %s from sequence %d", r.Stream, r.From)
		}
	}
	n := min(uint64(len(r.rest)), ChunkMessages, r.UpTo-r.From+1)
	chunk, r.rest = r.rest[:n], r.rest[n:]
	r.From += n
	return chunk, nil
}

func (r *reader) close() {
	if r.cursor != nil {
		r.cursor.Close()
	}
}

func sizeOf(messages []events.Message) Size {
	size := Size{Messages: int64(len(messages))}
	for i := range messages {
		size.Bytes += int64(len(messages[i].Data))
	}
	return size
}
