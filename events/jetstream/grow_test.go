package jetstream_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/google/go-cmp/cmp"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest/natstest"
	"github.com/ledgerd/ledgerd/events/jetstream"
)

const mib = 1 << 20

func limitsOf(bytes int64) jetstream.Limits {
	return jetstream.Limits{LedgerID: "ledger-1", Replicas: 1, StoreBytes: bytes}
}

// configs are the two streams' configurations.
func configs(t *testing.T, js natsjs.JetStream) (arrivals, ledger natsjs.StreamConfig) {
	t.Helper()
	for name, into := range map[string]*natsjs.StreamConfig{events.ArrivalsStream: &arrivals, events.LedgerStream: &ledger} {
		stream, err := js.Stream(contextFor(t), name)
		if err != nil {
			t.Fatal(err)
		}
		*into = stream.CachedInfo().Config
	}
	return arrivals, ledger
}

// TestGrow: what grows is as if it had been made with the larger limit, holds
// what it held, and is not touched again.
func TestGrow(t *testing.T) {
	js := connect(t, natstest.Start(t, natstest.Options{MaxStore: gib}))
	provision := func(js natsjs.JetStream, l jetstream.Limits) {
		t.Helper()
		if err := jetstream.Provision(contextFor(t), js, l); err != nil {
			t.Fatal(err)
		}
	}
	provision(js, limitsOf(256*mib))
	publisher := jetstream.NewPublisher(js.Conn())
	if _, err := publisher.Publish(contextFor(t), arrival(t, []byte(`{}`), "1")); err != nil {
		t.Fatal(err)
	}
	grown, err := jetstream.Grow(contextFor(t), js, limitsOf(512*mib))
	if err != nil {
		t.Fatal(err)
	}
	if len(grown) != 2 || grown[0].Stream != events.LedgerStream || grown[1].Stream != events.ArrivalsStream {
		t.Fatalf("grew %+v, want LEDGER and then ARRIVALS", grown)
	}
	fresh := connect(t, natstest.Start(t, natstest.Options{MaxStore: gib}))
	provision(fresh, limitsOf(512*mib))
	arrivals, ledger := configs(t, js)
	wantArrivals, wantLedger := configs(t, fresh)
	if diff := cmp.Diff(wantArrivals, arrivals) + cmp.Diff(wantLedger, ledger); diff != "" {
		t.Errorf("not as if made with that limit:\n%s", diff)
	}
	if g := grown[1]; g.ToBytes != arrivals.MaxBytes || g.ToMessages != arrivals.MaxMsgs || g.FromBytes >= g.ToBytes || g.FromMessages >= g.ToMessages {
		t.Errorf("says %+v of %d bytes and %d messages", g, arrivals.MaxBytes, arrivals.MaxMsgs)
	}
	if again, err := jetstream.Grow(contextFor(t), js, limitsOf(512*mib)); err != nil || len(again) != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	if sequence, err := publisher.Publish(contextFor(t), arrival(t, []byte(`{}`), "2")); err != nil || sequence != 2 {
		t.Errorf("afterwards: sequence %d: %v", sequence, err)
	}
	found, err := jetstream.Inspect(contextFor(t), js, jetstream.SyncAlways)
	if err != nil || len(found) != 0 {
		t.Errorf("weak afterwards: %v, %v", found, err)
	}
}

// TestGrowNeverShrinks: a smaller limit is refused with the least that would
// do, which does.
func TestGrowNeverShrinks(t *testing.T) {
	for _, made := range []int64{64 * mib, 256 * mib, gib, gib + 3*mib} {
		js := connect(t, natstest.Start(t, natstest.Options{}))
		if err := jetstream.Provision(contextFor(t), js, limitsOf(made)); err != nil {
			t.Fatal(err)
		}
		arrivals, ledger := configs(t, js)
		small := limitsOf(max(made-mib, 64*mib))
		if _, err := jetstream.Grow(contextFor(t), js, small); made > 64*mib && !errors.Is(err, jetstream.ErrShrunk) {
			t.Errorf("made with %d bytes, given %d: %v", made, small.StoreBytes, err)
		} else if hint := errors.FlattenHints(err); err != nil && !bytes.Contains([]byte(hint), fmt.Append(nil, made)) {
			t.Errorf("made with %d bytes, the hint says %q", made, hint)
		}
		if grown, err := jetstream.Grow(contextFor(t), js, limitsOf(made)); err != nil || len(grown) != 0 {
			t.Errorf("the same %d bytes: %+v, %v", made, grown, err)
		}
		if a, l := configs(t, js); cmp.Diff(arrivals, a)+cmp.Diff(ledger, l) != "" {
			t.Errorf("made with %d bytes: the streams were changed", made)
		}
	}
}

// TestGrowKeepsAnswers: whatever a limit grows to, what ARRIVALS may take can be
// answered, and all fits.
func TestGrowKeepsAnswers(t *testing.T) {
	js := connect(t, natstest.Start(t, natstest.Options{MaxStore: 1 << 41}))
	if err := jetstream.Provision(contextFor(t), js, limitsOf(64*mib)); err != nil {
		t.Fatal(err)
	}
	for size := int64(64 * mib); size < 1<<40; size = size*2 + 4097 {
		if _, err := jetstream.Grow(contextFor(t), js, limitsOf(size)); err != nil {
			t.Fatal(err)
		}
		found, err := jetstream.Inspect(contextFor(t), js, jetstream.SyncAlways)
		if err != nil || len(found) != 0 {
			t.Errorf("%d bytes: %v, %v", size, found, err)
		}
		if arrivals, ledger := configs(t, js); arrivals.MaxBytes+ledger.MaxBytes > size {
			t.Errorf("%d bytes: the streams keep %d and %d", size, arrivals.MaxBytes, ledger.MaxBytes)
		}
	}
}

// TestGrowLeavesOthersAlone: streams that were bounded in another way, or not at
// all, stay as they are.
func TestGrowLeavesOthersAlone(t *testing.T) {
	for name, change := range map[string]func(arrivals, ledger *natsjs.StreamConfig){
		"unbounded bytes":    func(a, _ *natsjs.StreamConfig) { a.MaxBytes = -1 },
		"unbounded messages": func(a, _ *natsjs.StreamConfig) { a.MaxMsgs = -1 },
		"unbounded ledger":   func(_, l *natsjs.StreamConfig) { l.MaxBytes = -1 },
		"more messages":      func(a, _ *natsjs.StreamConfig) { a.MaxMsgs *= 100 },
	} {
		t.Run(name, func(t *testing.T) {
			js := connect(t, natstest.Start(t, natstest.Options{}))
			provision(t, js)
			arrivals, ledger := configs(t, js)
			change(&arrivals, &ledger)
			for _, config := range []natsjs.StreamConfig{arrivals, ledger} {
				if _, err := js.UpdateStream(contextFor(t), config); err != nil {
					t.Fatal(err)
				}
			}
			arrivals, ledger = configs(t, js)
			if grown, err := jetstream.Grow(contextFor(t), js, limitsOf(2*gib)); err != nil || len(grown) != 0 {
				t.Errorf("%+v, %v", grown, err)
			}
			if a, l := configs(t, js); cmp.Diff(arrivals, a)+cmp.Diff(ledger, l) != "" {
				t.Error("the streams were changed")
			}
		})
	}
}

func TestGrowNeedsStreams(t *testing.T) {
	js := connect(t, natstest.Start(t, natstest.Options{}))
	if _, err := jetstream.Grow(contextFor(t), js, limits); !errors.Is(err, events.ErrUnavailable) {
		t.Error(err)
	}
	if _, err := jetstream.Grow(contextFor(t), js, limitsOf(64*mib-1)); !errors.Is(err, jetstream.ErrTooLittleRoom) {
		t.Error(err)
	}
}
