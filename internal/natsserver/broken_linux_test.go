package natsserver_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/synadia-io/orbit.go/jetstreamext"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/internal/natsserver"
)

// fullBlock makes the next block of a stream's messages a file that takes
// nothing: /dev/full answers every write with "no space left on device".
func (l *ledger) fullBlock(t *testing.T, stream string) (path string) {
	t.Helper()
	path = filepath.Join(l.cfg.StoreDir, "jetstream", "LEDGER", "streams", stream, "msgs", "2.blk")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	return path
}

// publishUntilSilence publishes until an arrival is not acknowledged, and gives
// the last sequence that was.
func (l *ledger) publishUntilSilence(t *testing.T, conn *nats.Conn, publish func(ctx context.Context, n uint64) error) uint64 {
	t.Helper()
	const most = 64 // a block holds 8 MiB
	for n := uint64(1); n <= most; n++ {
		ctx, cancel := context.WithTimeout(testContext(t), 2*time.Second)
		err := publish(ctx, n)
		cancel()
		if err != nil {
			return n - 1
		}
	}
	t.Fatal("everything was acknowledged although the disk was full")
	return 0
}

// TestADiskThatEndsUnderArrivals: a write of ARRIVALS that fails is noticed, and
// the server goes on by itself when there is room, with all it acknowledged.
func TestADiskThatEndsUnderArrivals(t *testing.T) {
	for _, relaxed := range []bool{true, false} {
		t.Run(fmt.Sprintf("relaxed=%v", relaxed), func(t *testing.T) {
			l, room := startInRoom(t, func(c *natsserver.Config) { c.RelaxedSync = relaxed })
			conn := l.connect(t, natsdeploy.Coordinator, nats.ReconnectWait(time.Millisecond))
			daemon := l.daemonJetStream(t)
			block := l.fullBlock(t, "ARRIVALS")
			room.set(t, enough-1) // what is left is not enough to start
			body := make([]byte, 1<<20)
			acknowledged := l.publishUntilSilence(t, conn, func(ctx context.Context, n uint64) error {
				answer, err := conn.RequestWithContext(ctx, "ledger.arrivals.c1.cell", body)
				if err == nil && strings.Contains(string(answer.Data), `"error"`) {
					return errors.Newf("%s", answer.Data)
				}
				return err
			})
			l.awaitHealth(t, natsserver.ErrNoWrites)
			if acknowledged == 0 {
				t.Fatal("nothing was acknowledged before: the test tests nothing")
			}
			if _, code := tryPublish(t, conn, "ledger.arrivals.c1.cell", body); code != codeNoRoom {
				t.Errorf("an arrival is answered with code %d, want %d", code, codeNoRoom)
			}
			if !strings.Contains(l.logs.String(), "TAKE NO MORE WRITES") {
				t.Errorf("the log does not say so:\n%s", l.logs)
			}
			if err := os.Remove(block); err != nil {
				t.Fatal(err)
			}
			room.set(t, enough)
			l.awaitHealth(t, nil)
			for n := range uint64(3) {
				seq := l.publishAgain(t, conn, body)
				if seq != acknowledged+n+1 {
					t.Errorf("after it was mended an arrival is stored at %d, want %d", seq, acknowledged+n+1)
				}
			}
			if last := lastSeq(t, daemon, "ARRIVALS"); last != acknowledged+3 {
				t.Errorf("ARRIVALS ends at %d, want %d", last, acknowledged+3)
			}
		})
	}
}

// publishAgain publishes on a connection that may just be made again.
func (l *ledger) publishAgain(t *testing.T, conn *nats.Conn, body []byte) uint64 {
	t.Helper()
	ctx := testContext(t)
	for {
		if err := conn.FlushWithContext(ctx); err == nil {
			seq, code := tryPublish(t, conn, "ledger.arrivals.c1.cell", body)
			if code != 0 {
				t.Fatalf("an arrival is answered with code %d", code)
			}
			return seq
		}
		if ctx.Err() != nil {
			t.Fatal("the connection is not made again")
		}
	}
}

// TestADiskThatEndsUnderDecisions: the same for an append to LEDGER, which is a
// batch: it is stored whole in the end or not at all.
func TestADiskThatEndsUnderDecisions(t *testing.T) {
	l, room := startInRoom(t, func(c *natsserver.Config) { c.RelaxedSync = false })
	js := l.daemonJetStream(t)
	block := l.fullBlock(t, "LEDGER")
	room.set(t, enough-1)
	const each = 4
	body := make([]byte, 256<<10)
	batch := func(ctx context.Context) error {
		b, err := jetstreamext.NewBatchPublisher(js)
		if err != nil {
			return err
		}
		for i := range each - 1 {
			if err := b.Add(fmt.Sprintf("ledger.decisions.c1.accepted.cell%d", i), body); err != nil {
				return err
			}
		}
		_, err = b.Commit(ctx, "ledger.decisions.c1.accepted.last", body)
		return err
	}
	acknowledged := l.publishUntilSilence(t, nil, func(ctx context.Context, n uint64) error { return batch(ctx) })
	l.awaitHealth(t, natsserver.ErrNoWrites)
	if acknowledged == 0 {
		t.Fatal("nothing was acknowledged before: the test tests nothing")
	}
	coordinator := l.connect(t, natsdeploy.Coordinator)
	if _, code := tryPublish(t, coordinator, "ledger.arrivals.c1.cell", []byte(`{}`)); code != codeNoRoom {
		t.Errorf("an arrival is answered with code %d, want %d", code, codeNoRoom)
	}
	if err := os.Remove(block); err != nil {
		t.Fatal(err)
	}
	room.set(t, enough)
	l.awaitHealth(t, nil)
	last := lastSeqAgain(t, js, "LEDGER")
	if last%each != 0 || last < acknowledged*each || last > (acknowledged+1)*each {
		t.Errorf("LEDGER ends at %d after %d batches of %d were acknowledged", last, acknowledged, each)
	}
	if err := batch(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if next := lastSeq(t, js, "LEDGER"); next != last+each {
		t.Errorf("LEDGER ends at %d, want %d", next, last+each)
	}
}

// lastSeqAgain asks on a connection that may just be made again.
func lastSeqAgain(t *testing.T, js jetstream.JetStream, name string) uint64 {
	t.Helper()
	ctx := testContext(t)
	for {
		if err := js.Conn().FlushWithContext(ctx); err == nil {
			return lastSeq(t, js, name)
		}
		if ctx.Err() != nil {
			t.Fatal("the connection is not made again")
		}
	}
}
