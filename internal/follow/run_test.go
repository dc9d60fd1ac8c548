package follow_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest"
	"github.com/ledgerd/ledgerd/internal/follow"
)

var errTest = errors.New("the test says so")

// counter follows a log and keeps which sequences came in which batch.
type counter struct {
	full    int           // messages
	partial follow.Fill   // of a batch that is not full
	failAt  uint64        // Step fails there; 0: never
	broken  bool          // and has lost the batch then
	lost    bool          //
	block   chan struct{} // Commit waits for it; nil: it does not
	commit  error         // what Commit answers

	current  []uint64
	batches  [][]uint64
	prepared chan uint64 // told of every prepared message; nil: nobody asks
}

func (c *counter) Prepare(m *events.Message) uint64 {
	if c.prepared != nil {
		c.prepared <- m.Seq
	}
	return m.Seq
}

func (c *counter) Step(_ context.Context, seq uint64) error {
	if seq == c.failAt {
		c.lost = c.broken
		return errTest
	}
	c.current = append(c.current, seq)
	return nil
}

func (c *counter) Fill() follow.Fill {
	switch {
	case len(c.current) == 0 || c.lost:
		return follow.Empty
	case len(c.current) == c.full:
		return follow.Full
	}
	return c.partial
}

func (c *counter) Take() []uint64 {
	batch := c.current
	c.current = nil
	return batch
}

func (c *counter) Commit(ctx context.Context, batch []uint64) error {
	if c.block != nil {
		select {
		case <-c.block:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if c.commit != nil {
		return c.commit
	}
	c.batches = append(c.batches, batch)
	return nil
}

// check makes sure that the batches hold the sequences from to to, each once
// and in order, at most full a batch.
func (c *counter) check(t *testing.T, from, to uint64) {
	t.Helper()
	next := from
	for _, batch := range c.batches {
		if len(batch) == 0 || len(batch) > c.full {
			t.Errorf("a batch of %d", len(batch))
		}
		for _, seq := range batch {
			if seq != next {
				t.Fatalf("sequence %d came, want %d", seq, next)
			}
			next++
		}
	}
	if next != to+1 {
		t.Errorf("came to %d, want %d", next-1, to)
	}
}

func logOf(messages, bytes int) *eventstest.Log {
	log := eventstest.NewArrivals()
	for i := range messages {
		log.Publish(events.Outgoing{Subject: fmt.Sprintf("ledger.arrivals.c.%d", i), Data: make([]byte, bytes)})
	}
	return log
}

func reading(log events.Log, from, upTo uint64) follow.Reading {
	return follow.Reading{Log: log, Stream: "TEST", From: from, UpTo: upTo}
}

func TestEverythingIsCommittedOnceInOrder(t *testing.T) {
	log := logOf(3000, 10)
	for _, partial := range []follow.Fill{follow.Held, follow.Some, follow.Ready} {
		for _, span := range [][2]uint64{{1, 3000}, {1, 1}, {7, 2000}, {2999, 3000}, {5, 4}} {
			c := &counter{full: 100, partial: partial}
			if err := follow.Run(t.Context(), reading(log, span[0], span[1]), c); err != nil {
				t.Fatalf("%+v", err)
			}
			c.check(t, span[0], span[1])
			for i, batch := range c.batches {
				if partial == follow.Held && i < len(c.batches)-1 && len(batch) != c.full {
					t.Errorf("batch %d of %d has %d", i, len(c.batches), len(batch))
				}
			}
		}
	}
}

// TestWhatCameBeforeAnErrorIsCommitted: of reading and of stepping; not when
// the follower has lost it.
func TestWhatCameBeforeAnErrorIsCommitted(t *testing.T) {
	for _, partial := range []follow.Fill{follow.Held, follow.Some, follow.Ready} {
		gap := logOf(300, 10)
		gap.Remove(251)
		c := &counter{full: 1000, partial: partial}
		if err := follow.Run(t.Context(), reading(gap, 1, follow.Forever), c); !errors.Is(err, events.ErrGap) {
			t.Errorf("ended by %v", err)
		}
		c.check(t, 1, 250)

		c = &counter{full: 1000, partial: partial, failAt: 200}
		if err := follow.Run(t.Context(), reading(logOf(300, 10), 1, follow.Forever), c); !errors.Is(err, errTest) {
			t.Errorf("ended by %v", err)
		}
		c.check(t, 1, 199)
	}
	c := &counter{full: 1000, partial: follow.Held, failAt: 200, broken: true}
	if err := follow.Run(t.Context(), reading(logOf(300, 10), 1, follow.Forever), c); !errors.Is(err, errTest) || len(c.batches) > 0 {
		t.Errorf("ended by %v with %d batches", err, len(c.batches))
	}
}

func TestAFailedCommitIsTheError(t *testing.T) {
	c := &counter{full: 10, partial: follow.Some, commit: errTest, failAt: 290}
	if err := follow.Run(t.Context(), reading(logOf(300, 10), 1, follow.Forever), c); !errors.Is(err, errTest) {
		t.Errorf("ended by %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := follow.Run(ctx, reading(logOf(3, 1), 1, 3), &counter{full: 10}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended by %v", err)
	}
}

// TestReadingAheadIsBounded: while a commit takes long, no more is prepared
// than the bound and the batches take.
func TestReadingAheadIsBounded(t *testing.T) {
	for _, row := range []struct{ messages, bytes, most int }{
		{2 * follow.MaxAheadMessages, 0, follow.MaxAheadMessages},
		{256, follow.MaxAheadBytes / 128, 128},
		{2, follow.MaxAheadBytes, follow.ChunkMessages}, // too large for the bound: one chunk alone
	} {
		synctest.Test(t, func(t *testing.T) {
			c := &counter{full: 1, block: make(chan struct{}), prepared: make(chan uint64, row.messages)}
			ended := make(chan error, 1)
			go func() {
				ended <- follow.Run(t.Context(), reading(logOf(row.messages, row.bytes), 1, uint64(row.messages)), c)
			}()
			synctest.Wait()
			if got := len(c.prepared); got > row.most || got == 0 {
				t.Errorf("%d messages of %d bytes are prepared ahead, at most %d", got, row.bytes, row.most)
			}
			close(c.block)
			if err := <-ended; err != nil {
				t.Errorf("%+v", err)
			}
			c.check(t, 1, uint64(row.messages))
		})
	}
}

// TestNothingWaitsForMore: what gathered is committed when nothing more is at
// hand.
func TestNothingWaitsForMore(t *testing.T) {
	for _, partial := range []follow.Fill{follow.Some, follow.Ready} {
		synctest.Test(t, func(t *testing.T) {
			log := logOf(5, 1)
			ctx, cancel := context.WithCancel(t.Context())
			c := &counter{full: 1000, partial: partial}
			ended := make(chan error, 1)
			go func() { ended <- follow.Run(ctx, reading(log, 1, follow.Forever), c) }()
			synctest.Wait()
			c.check(t, 1, 5)
			log.Publish(events.Outgoing{Subject: "ledger.arrivals.c.more", Data: []byte("x")})
			synctest.Wait()
			c.check(t, 1, 6)
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("ended by %v", err)
			}
		})
	}
}

func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pauses []time.Duration
		at := uint64(0)
		retry := follow.Retry{
			Delay: time.Second, MaxDelay: 5 * time.Second,
			Final:  func(err error) bool { return errors.Is(err, errTest) },
			At:     func() uint64 { return at },
			Failed: func(_ error, pause time.Duration) { pauses = append(pauses, pause) },
		}
		tries := 0
		err := retry.Do(t.Context(), func(context.Context) error {
			tries++
			switch tries {
			case 6:
				at++
			case 8:
				return errTest
			}
			return events.ErrUnavailable
		})
		want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second, time.Second, 2 * time.Second}
		if !errors.Is(err, errTest) || fmt.Sprint(pauses) != fmt.Sprint(want) {
			t.Errorf("%v after pauses of %v, want %v", err, pauses, want)
		}
	})
}

func TestStatusIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var status follow.Status[int]
		waited := make(chan error, 1)
		wait := func(wanted int) {
			_, err := status.Wait(t.Context(), func(n int) bool { return n >= wanted })
			waited <- err
		}
		go wait(2)
		for range 2 {
			synctest.Wait()
			status.Update(func(n *int) { *n++ })
		}
		if err := <-waited; err != nil {
			t.Error(err)
		}
		go wait(3)
		synctest.Wait()
		status.End(errTest)
		if err := <-waited; !errors.Is(err, errTest) {
			t.Error(err)
		}
		if n, err := status.Wait(t.Context(), func(n int) bool { return n == 2 }); n != 2 || err != nil {
			t.Errorf("what was reached before the end is %d, %v", n, err)
		}
	})
}
