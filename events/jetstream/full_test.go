package jetstream_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest/natstest"
	"github.com/ledgerd/ledgerd/events/jetstream"
)

// TestAFullLedger fills ARRIVALS in bytes and in number. What it takes no more
// says that the ledger is full and what to do; doing it helps.
func TestAFullLedger(t *testing.T) {
	for name, body := range map[string][]byte{"bytes": bytes.Repeat([]byte("x"), 4*mib), "messages": []byte(`{}`)} {
		t.Run(name, func(t *testing.T) {
			js := connect(t, natstest.Start(t, natstest.Options{}))
			if err := jetstream.Provision(contextFor(t), js, limitsOf(64*mib)); err != nil {
				t.Fatal(err)
			}
			publisher := jetstream.NewPublisher(js.Conn())
			const chunk = 200
			var results []jetstream.Result
			var err error
			for n := 0; err == nil; n += chunk {
				batch := make([]events.Outgoing, chunk)
				for i := range batch {
					batch[i] = arrival(t, body, fmt.Sprint(n+i))
				}
				results, err = publisher.PublishAll(contextFor(t), batch)
			}
			if !errors.Is(err, jetstream.ErrFull) || !errors.Is(err, events.ErrRefused) || errors.Is(err, events.ErrUnavailable) {
				t.Errorf("%+v, want %v", err, jetstream.ErrFull)
			}
			if hint := errors.FlattenHints(err); !strings.Contains(hint, "store_limit_bytes") {
				t.Errorf("the hint says %q", hint)
			}
			if !strings.Contains(err.Error(), "maximum "+name+" exceeded") {
				t.Errorf("%v does not say what is full", err)
			}
			var last uint64
			for i, result := range results {
				switch {
				case result.Err == nil:
					last = result.Sequence
				case !errors.Is(result.Err, jetstream.ErrFull) && !errors.Is(result.Err, events.ErrUnavailable):
					t.Errorf("message %d: %v", i, result.Err)
				}
			}
			if _, err := jetstream.Grow(contextFor(t), js, limitsOf(128*mib)); err != nil {
				t.Fatal(err)
			}
			if sequence, err := publisher.Publish(contextFor(t), arrival(t, body, "after")); err != nil || sequence != last+1 {
				t.Errorf("after it grew: sequence %d: %v, want %d", sequence, err, last+1)
			}
		})
	}
}

// TestNoStorage: a ledger that takes nothing for want of disk is asked again for
// a while; then the error names it, and is one of what was not stored.
func TestNoStorage(t *testing.T) {
	const code = 10047
	server := natstest.Start(t, natstest.Options{})
	script(t, server, func(id string, before int) string {
		if id == "id-0" && before >= 2 {
			return ack(1) // there is room again
		}
		return refusal(code)
	})
	publisher := jetstream.NewPublisher(server.Connect(t))
	publisher.SetAckTimeout(time.Second)
	results, err := publisher.PublishAll(contextFor(t), arrivals(t, 2, 10))
	if results[0].Err != nil || results[0].Sequence != 1 {
		t.Errorf("what was taken later: %+v", results[0])
	}
	if !errors.Is(err, jetstream.ErrNoStorage) || !errors.Is(err, events.ErrUnavailable) || errors.IsAny(err, events.ErrStateUnknown, jetstream.ErrFull) {
		t.Errorf("%+v, want %v", err, jetstream.ErrNoStorage)
	}
	if hint := errors.FlattenHints(err); !strings.Contains(hint, "free space") {
		t.Errorf("the hint says %q", hint)
	}
}
