package follow

import (
	"context"
	"sync"
	"time"
)

const (
	// DefaultRetryDelay is short beside a restart of the other side.
	DefaultRetryDelay = 100 * time.Millisecond
	// MaxRetryDelay bounds how long a follower stays behind after the other
	// side is back.
	MaxRetryDelay = 5 * time.Second
)

// Retry does something again that failed.
type Retry struct {
	Delay, MaxDelay time.Duration                        // before the first retry; each further one waits twice as long, at most MaxDelay
	Final           func(error) bool                     // tells what is not tried again
	At              func() uint64                        // how far the work has come: Delay starts anew when it moved; nil: nobody knows
	Failed          func(err error, pause time.Duration) // told of each retry
}

// Do does it until it succeeds or ctx ends (both nil), or it fails for good.
func (r Retry) Do(ctx context.Context, do func(context.Context) error) error {
	at := r.At
	if at == nil {
		at = func() uint64 { return 0 }
	}
	delay := r.Delay
	for {
		before := at()
		err := do(ctx)
		switch {
		case err == nil || ctx.Err() != nil:
			return nil
		case r.Final(err):
			return err
		}
		if at() != before {
			delay = r.Delay
		}
		r.Failed(err, delay)
		if !Sleep(ctx, delay) {
			return nil
		}
		delay = min(2*delay, max(r.Delay, r.MaxDelay))
	}
}

// Sleep waits, and reports false when ctx ended first.
func Sleep(ctx context.Context, delay time.Duration) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Status is how far a follower is, for those who wait for it. It is safe for
// concurrent use; its zero value is a follower that has not ended.
type Status[T any] struct {
	mu      sync.Mutex
	value   T
	ended   error
	changed chan struct{} // closed and replaced at each change; nil when nobody waits
}

// Update changes the value.
func (s *Status[T]) Update(change func(*T)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.value)
	s.wake()
}

// End says why the follower ended; nil: it goes on.
func (s *Status[T]) End(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = why
	s.wake()
}

func (s *Status[T]) wake() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// Get gives the value.
func (s *Status[T]) Get() T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value
}

// Wait waits until the value is as wanted, and gives it. When ctx ends first,
// or the follower has ended, it gives the last value and why.
func (s *Status[T]) Wait(ctx context.Context, wanted func(T) bool) (T, error) {
	for {
		value, changed, ended := s.watch()
		switch {
		case wanted(value):
			return value, nil
		case ended != nil:
			return value, ended
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return value, ctx.Err()
		}
	}
}

// watch gives the value, what is closed at its next change, and why the
// follower ended.
func (s *Status[T]) watch() (value T, changed <-chan struct{}, ended error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.value, s.changed, s.ended
}
