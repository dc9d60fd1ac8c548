package audit

import (
	"context"
	"io"
	"runtime"

	"github.com/cockroachdb/errors"
	"golang.org/x/sync/errgroup"
)

const (
	// chunkPairs is how many pairs one worker takes at a time: enough to make
	// hand-over cheap, few enough to keep every worker busy.
	chunkPairs = 64
	// maxChunksAhead bounds what waits in order between two stages.
	maxChunksAhead = 32
)

// errEnough ends a pipeline whose result is known.
var errEnough = errors.New("audit: enough is known")

// pipeline runs stages over a walk. Each stage is owned by the group; the first
// that fails ends all.
type pipeline struct {
	group *errgroup.Group
	ctx   context.Context
}

func newPipeline(ctx context.Context) *pipeline {
	group, ctx := errgroup.WithContext(ctx)
	return &pipeline{group: group, ctx: ctx}
}

// wait ends when all stages have ended. A result that was known early is no
// error.
func (p *pipeline) wait() error {
	if err := p.group.Wait(); !errors.Is(err, errEnough) {
		return err
	}
	return nil
}

// portions reads a walk and cuts it into chunks. Findings come with the pairs
// that follow them.
func (p *pipeline) portions(walk Walk) <-chan Portion {
	out := make(chan Portion, maxChunksAhead)
	p.group.Go(func() error {
		defer close(out)
		for {
			next, err := walk.Next(p.ctx)
			ended := errors.Is(err, io.EOF)
			if err != nil && !ended {
				return err
			}
			for len(next.Pairs) > 0 || len(next.Found) > 0 {
				n := min(len(next.Pairs), chunkPairs)
				if err := send(p.ctx, out, Portion{Pairs: next.Pairs[:n], Found: next.Found}); err != nil {
					return err
				}
				next = Portion{Pairs: next.Pairs[n:]}
			}
			if ended {
				return nil
			}
		}
	})
	return out
}

// parallel runs do on everything that comes, on all processors, and gives what
// it answers in the order of what came.
func parallel[In, Out any](p *pipeline, in <-chan In, do func(In) Out) <-chan Out {
	type job struct {
		in   In
		done chan Out // buffered, filled once
	}
	work := make(chan job)
	ordered := make(chan job, maxChunksAhead)
	out := make(chan Out)
	p.group.Go(func() error {
		defer close(work)
		defer close(ordered)
		for next := range in {
			j := job{next, make(chan Out, 1)}
			// In order first: what a worker holds always has its place.
			for _, to := range []chan<- job{ordered, work} {
				if err := send(p.ctx, to, j); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for range runtime.GOMAXPROCS(0) {
		p.group.Go(func() error {
			for j := range work {
				j.done <- do(j.in)
			}
			return nil
		})
	}
	p.group.Go(func() error {
		defer close(out)
		for j := range ordered {
			select {
			case answer := <-j.done:
				if err := send(p.ctx, out, answer); err != nil {
					return err
				}
			case <-p.ctx.Done():
				return p.ctx.Err()
			}
		}
		return nil
	})
	return out
}

// inOrder runs do on one thing after the other.
func inOrder[In, Out any](p *pipeline, in <-chan In, do func(In) (Out, error)) <-chan Out {
	out := make(chan Out, maxChunksAhead)
	p.group.Go(func() error {
		defer close(out)
		for next := range in {
			answer, err := do(next)
			if err != nil {
				return err
			}
			if err := send(p.ctx, out, answer); err != nil {
				return err
			}
		}
		return nil
	})
	return out
}

// collect runs do on everything that comes, in order, and ends the pipeline
// when do fails.
func collect[In any](p *pipeline, in <-chan In, do func(In) error) {
	p.group.Go(func() error {
		for next := range in {
			if err := do(next); err != nil {
				return err
			}
		}
		return nil
	})
}

func send[T any](ctx context.Context, to chan<- T, value T) error {
	select {
	case to <- value:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
