package follow

import (
	"context"
	"io"
	"runtime"
	"sync/atomic"

	"github.com/cockroachdb/errors"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
)

const (
	// ChunkMessages is how many messages one worker prepares at a time: enough
	// to make hand-over cheap, few enough to spread a burst over all workers.
	ChunkMessages = 64
	// MaxAheadMessages and MaxAheadBytes bound what has been read and has not
	// come to the last stage. A single chunk that is larger passes alone.
	MaxAheadMessages = 64 * ChunkMessages
	MaxAheadBytes    = 64 << 20
	// chunksAhead is how many chunks wait between two stages.
	chunksAhead = MaxAheadMessages / ChunkMessages
)

// Size is how much of the bound a chunk takes.
type Size struct{ Messages, Bytes int64 }

// Pipeline runs stages. Each goroutine is owned by it and has ended when Wait
// returns; the first stage that fails ends all.
type Pipeline struct {
	group    *errgroup.Group
	ctx      context.Context
	messages *semaphore.Weighted
	bytes    *semaphore.Weighted
	workers  *semaphore.Weighted
	ahead    atomic.Int64 // messages that have not come to the last stage
}

// NewPipeline gives a pipeline without stages, which ends with ctx.
func NewPipeline(ctx context.Context) *Pipeline {
	group, ctx := errgroup.WithContext(ctx)
	return &Pipeline{
		group: group, ctx: ctx,
		messages: semaphore.NewWeighted(MaxAheadMessages),
		bytes:    semaphore.NewWeighted(MaxAheadBytes),
		workers:  semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))),
	}
}

// Wait ends when all stages have ended, and gives the first error.
func (p *Pipeline) Wait() error { return p.group.Wait() }

// Stage is what one stage hands to the next, in order.
type Stage[T any] <-chan chunk[T]

// chunk is a value on its way through the stages, or the error that ends them.
type chunk[T any] struct {
	size  Size
	value chan T // buffered, filled once
	err   error
}

func (p *Pipeline) acquire(size Size) error {
	if err := p.messages.Acquire(p.ctx, min(size.Messages, MaxAheadMessages)); err != nil {
		return err
	}
	p.ahead.Add(size.Messages)
	return p.bytes.Acquire(p.ctx, min(size.Bytes, MaxAheadBytes))
}

func (p *Pipeline) release(size Size) {
	p.messages.Release(min(size.Messages, MaxAheadMessages))
	p.bytes.Release(min(size.Bytes, MaxAheadBytes))
	p.ahead.Add(-size.Messages)
}

// take gives a chunk's value when it is there.
func take[T any](ctx context.Context, c chunk[T]) (value T, err error) {
	if c.err != nil {
		return value, c.err
	}
	select {
	case value = <-c.value:
		return value, nil
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

func send[T any](ctx context.Context, to chan<- T, value T) error {
	select {
	case to <- value:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Read is the first stage: it hands on what next gives until io.EOF. Another
// error goes the way of the values, so that what came before it is not lost.
func Read[T any](p *Pipeline, next func(ctx context.Context) (T, error), size func(T) Size) Stage[T] {
	out := make(chan chunk[T], chunksAhead)
	p.group.Go(func() error {
		defer close(out)
		for {
			value, err := next(p.ctx)
			switch {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return send(p.ctx, out, chunk[T]{err: err})
			}
			c := chunk[T]{size: size(value), value: make(chan T, 1)}
			c.value <- value
			if err := p.acquire(c.size); err != nil {
				return err
			}
			if err := send(p.ctx, out, c); err != nil {
				return err
			}
		}
	})
	return out
}

// Parallel runs do on everything that comes, on all processors, and hands on
// what it answers in the order of what came.
func Parallel[In, Out any](p *Pipeline, in Stage[In], do func(In) Out) Stage[Out] {
	return pass(p, in, func(value In, answer chan<- Out) error {
		if err := p.workers.Acquire(p.ctx, 1); err != nil {
			return err
		}
		p.group.Go(func() error {
			defer p.workers.Release(1)
			answer <- do(value)
			return nil
		})
		return nil
	})
}

// InOrder runs do on one thing after the other.
func InOrder[In, Out any](p *Pipeline, in Stage[In], do func(In) Out) Stage[Out] {
	return pass(p, in, func(value In, answer chan<- Out) error {
		answer <- do(value)
		return nil
	})
}

// pass hands chunks on in order, each with the answer that start sees to.
func pass[In, Out any](p *Pipeline, in Stage[In], start func(value In, answer chan<- Out) error) Stage[Out] {
	out := make(chan chunk[Out], chunksAhead)
	p.group.Go(func() error {
		defer close(out)
		for c := range in {
			passed := chunk[Out]{size: c.size, err: c.err}
			if c.err == nil {
				value, err := take(p.ctx, c)
				if err != nil {
					return err
				}
				passed.value = make(chan Out, 1)
				if err := start(value, passed.value); err != nil {
					return err
				}
			}
			if err := send(p.ctx, out, passed); err != nil {
				return err
			}
		}
		return nil
	})
	return out
}

// Collect is the last stage: it runs do on everything that comes, in order, and
// ends the pipeline when do fails.
func Collect[In any](p *Pipeline, in Stage[In], do func(In) error) {
	p.group.Go(func() error {
		for c := range in {
			value, err := take(p.ctx, c)
			if err != nil {
				return err
			}
			if err := do(value); err != nil {
				return err
			}
			p.release(c.size)
		}
		return p.ctx.Err()
	})
}
