package observer_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/cmd/ingest/internal/observer"
	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/checkpoint"
)

// script answers reads in turn.
type script []answer

type answer struct {
	reading observer.Reading
	err     error
}

func (s *script) Read(context.Context, checkpoint.Publication) (observer.Reading, error) {
	next := (*s)[0]
	*s = (*s)[1:]
	return next.reading, next.err
}

func reading(outcome checkpoint.Outcome) answer {
	return answer{reading: observer.Reading{Result: checkpoint.Result{Outcome: outcome, Message: "because"}, Read: &domain.CheckpointRead{}}}
}

var (
	nothing     = answer{reading: observer.Reading{Result: checkpoint.Result{Outcome: checkpoint.Pending, Message: "no checkpoint"}}}
	unavailable = answer{err: observer.ErrUnavailable}
	slow        = answer{err: observer.ErrSlow}
	notOwned    = answer{err: observer.ErrNotOwned}
)

func TestPoll(t *testing.T) {
	for _, test := range []struct {
		name      string
		answers   script
		waits     int // until time is up
		published []checkpoint.Outcome
		retried   int
		want      error
	}{
		{"bound at once", script{reading(checkpoint.Bound)}, 0, []checkpoint.Outcome{checkpoint.Bound}, 0, nil},
		{"rejected at once", script{reading(checkpoint.Rejected)}, 0, []checkpoint.Outcome{checkpoint.Rejected}, 0, nil},
		{"pending is published once", script{nothing, reading(checkpoint.Pending), reading(checkpoint.Pending), reading(checkpoint.Bound)}, 3,
			[]checkpoint.Outcome{checkpoint.Pending, checkpoint.Bound}, 0, nil},
		{"no checkpoint is not published", script{nothing, nothing}, 1, nil, 0, observer.ErrDeadline},
		{"pending until time is up", script{reading(checkpoint.Pending), reading(checkpoint.Pending)}, 1,
			[]checkpoint.Outcome{checkpoint.Pending}, 0, observer.ErrDeadline},
		{"trouble that passes", script{unavailable, slow, reading(checkpoint.Bound)}, 2, []checkpoint.Outcome{checkpoint.Bound}, 2, nil},
		{"trouble until time is up", script{unavailable, unavailable}, 1, nil, 2, observer.ErrDeadline},
		{"not owned ends it", script{reading(checkpoint.Pending), notOwned}, 1, []checkpoint.Outcome{checkpoint.Pending}, 0, observer.ErrNotOwned},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, end := context.WithCancelCause(t.Context())
			defer end(nil)
			timed := &deadline{Context: ctx}
			var published []checkpoint.Outcome
			retried, waits := 0, 0
			_, err := observer.Poll(timed, &test.answers, checkpoint.Publication{}, observer.Polling{
				Publish: func(_ context.Context, r observer.Reading) error {
					published = append(published, r.Result.Outcome)
					return nil
				},
				Retrying: func(error) { retried++ },
				Wait: func(_ context.Context, interval time.Duration) error {
					if interval != observer.DefaultInterval {
						t.Errorf("waits for %s", interval)
					}
					if waits == test.waits {
						timed.passed = true
						return context.DeadlineExceeded
					}
					waits++
					return nil
				},
			})
			if !errors.Is(err, test.want) || (test.want == nil) != (err == nil) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if diff := cmp.Diff(test.published, published); diff != "" || retried != test.retried || waits != test.waits || len(test.answers) != 0 {
				t.Errorf("published %v, retried %d, waited %d times, %d answers left", published, retried, waits, len(test.answers))
			}
		})
	}
}

// deadline is a context whose deadline a test lets pass.
type deadline struct {
	context.Context
	passed bool
}

func (d *deadline) Err() error {
	if d.passed {
		return context.DeadlineExceeded
	}
	return d.Context.Err()
}

func TestPollStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	answers := script{reading(checkpoint.Pending)}
	_, err := observer.Poll(ctx, &answers, checkpoint.Publication{}, observer.Polling{
		Interval: time.Hour,
		Publish:  func(context.Context, observer.Reading) error { cancel(); return nil },
	})
	if !errors.Is(err, context.Canceled) || errors.Is(err, observer.ErrDeadline) {
		t.Errorf("got %v", err)
	}
}

func TestPollEndsWhenPublishingFails(t *testing.T) {
	failed := errors.New("failed")
	answers := script{reading(checkpoint.Pending)}
	_, err := observer.Poll(t.Context(), &answers, checkpoint.Publication{}, observer.Polling{
		Publish: func(context.Context, observer.Reading) error { return failed },
	})
	if !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
}

// A read that time cuts off does not hide what failed before it.
func TestDeadlineDuringARead(t *testing.T) {
	timed := &deadline{Context: t.Context()}
	answers := script{unavailable, {err: context.DeadlineExceeded}}
	_, err := observer.Poll(timed, &answers, checkpoint.Publication{}, observer.Polling{
		Wait: func(context.Context, time.Duration) error { timed.passed = true; return nil },
	})
	if !errors.Is(err, observer.ErrDeadline) || !strings.Contains(err.Error(), observer.ErrUnavailable.Error()) {
		t.Errorf("got %v", err)
	}
}

// The runner goes on while the claim is polled.
func TestPollUntilBound(t *testing.T) {
	r := newRunner(t)
	last := r.cp.Records[7]
	r.Exec(t, "DELETE FROM native_runner_checkpoint_records WHERE record_key = $1", last.Key)
	var published []checkpoint.Outcome
	got, err := observer.Poll(t.Context(), r.open(t, r.config()), r.Publication, observer.Polling{
		Publish: func(_ context.Context, r observer.Reading) error {
			published = append(published, r.Result.Outcome)
			return nil
		},
		Wait: func(context.Context, time.Duration) error {
			r.AddRecord(t, r.Run, len(r.cp.Records)+1, last)
			return nil
		},
	})
	if err != nil || got.Result.Outcome != checkpoint.Bound {
		t.Errorf("%+v, %v", got.Result, err)
	}
	if diff := cmp.Diff([]checkpoint.Outcome{checkpoint.Pending, checkpoint.Bound}, published); diff != "" {
		t.Error(diff)
	}
}
