package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/errors"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/datadir"
	"github.com/ledgerd/ledgerd/internal/natsclient"
)

// setStoreLimit writes a ledger's limit by hand, as an operator does.
func setStoreLimit(t *testing.T, dataDir string, limit int64) {
	t.Helper()
	file := filepath.Join(dataDir, "ledger.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	members["store_limit_bytes"] = limit
	if text, err = json.Marshal(members); err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// smallLedger makes a data directory whose ledger may keep little.
func smallLedger(t *testing.T, limit int64) string {
	t.Helper()
	dataDir := t.TempDir()
	dir, err := datadir.Open(dataDir)
	if err == nil {
		err = dir.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	setStoreLimit(t, dataDir, limit)
	return dataDir
}

// publishCells publishes cells of a size until one is not acknowledged or there
// are enough, and gives the last sequence.
func publishCells(t *testing.T, dataDir string, size, most int) (last uint64, err error) {
	t.Helper()
	conn, _, err := natsclient.Connect(withPatience(t), natsclient.Config{DataDir: dataDir, Role: natsdeploy.Operator, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	publisher := jetstream.NewPublisher(conn)
	for range most {
		out, err := events.NewArrival("c", domain.KindCell, bytes.Repeat([]byte("x"), size), "", "/ci", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		sequence, err := publisher.Publish(withPatience(t), out)
		if err != nil {
			return last, err
		}
		last = sequence
	}
	return last, nil
}

// awaitDecision waits until an arrival is decided.
func awaitDecision(t *testing.T, dataDir string, seq uint64) {
	t.Helper()
	_, ledger := readerOf(t, dataDir)
	if n := len(readUpTo(t, ledger, seq)); uint64(n) < seq {
		t.Errorf("%d decisions, want %d", n, seq)
	}
}

// TestALedgersLimit fills a ledger, raises its limit and goes on, lowers it and
// is refused.
func TestALedgersLimit(t *testing.T) {
	const small, large = 256 << 20, 512 << 20
	dataDir := smallLedger(t, small)
	daemon := startProcess(t, "--data-dir", dataDir).awaitReady(t)
	const cell, most = 7 << 20, 60
	full, err := publishCells(t, dataDir, cell, most)
	if !errors.Is(err, jetstream.ErrFull) || full == 0 {
		t.Fatalf("%d arrivals were taken, and then: %v, want %v", full, err, jetstream.ErrFull)
	}
	awaitDecision(t, dataDir, full) // LEDGER answers all that ARRIVALS took
	daemon.stop(t)

	setStoreLimit(t, dataDir, large)
	daemon = startProcess(t, "--data-dir", dataDir).awaitReady(t)
	if log := daemon.log.String(); strings.Count(log, "a stream may keep more") != 2 {
		t.Errorf("the log does not say that both streams grew:\n%s", log)
	}
	more, err := publishCells(t, dataDir, cell, most)
	if !errors.Is(err, jetstream.ErrFull) || more <= full {
		t.Errorf("after the limit was raised arrivals were taken up to %d, before up to %d: %v", more, full, err)
	}
	awaitDecision(t, dataDir, more)
	daemon.stop(t)

	setStoreLimit(t, dataDir, small)
	_, stderr, code := runBinary(t, "", "ledgerd", "serve", "--data-dir", dataDir, "--listen", "127.0.0.1:0", "--nats-listen", "127.0.0.1:0")
	if code != 1 || !strings.Contains(stderr, "store_limit_bytes") || !strings.Contains(stderr, fmt.Sprint(large)) {
		t.Errorf("a lowered limit: exit code %d, want 1 and how to go on:\n%s", code, stderr)
	}
	setStoreLimit(t, dataDir, large)
	startProcess(t, "--data-dir", dataDir).awaitReady(t).stop(t)
}

// TestOddSubjects: arrivals at subjects that no permission can leave out are
// decided like all that is malformed, before and after a restart.
func TestOddSubjects(t *testing.T) {
	dataDir := t.TempDir()
	var last uint64
	for range 2 {
		daemon := startProcess(t, "--data-dir", dataDir).awaitReady(t)
		conn, _, err := natsclient.Connect(withPatience(t), natsclient.Config{DataDir: dataDir, Role: natsdeploy.Coordinator, Name: "test"})
		if err != nil {
			t.Fatal(err)
		}
		for _, subject := range []string{"ledger.arrivals.\xff.cell", "ledger.arrivals.a\x00b.cell", "ledger.arrivals.>.cell"} {
			answer, err := conn.RequestWithContext(withPatience(t), subject, []byte(`{}`))
			if err != nil {
				t.Fatalf("%q: %v", subject, err)
			}
			if last++; !strings.Contains(string(answer.Data), fmt.Sprintf(`"seq":%d`, last)) {
				t.Errorf("%q is answered with %s, want sequence %d", subject, answer.Data, last)
			}
		}
		conn.Close()
		_, ledger := readerOf(t, dataDir)
		for _, m := range readUpTo(t, ledger, last) {
			if d, err := events.DecodeRecord(m.Data); err != nil || d.Reason != domain.ReasonArrivalMalformed {
				t.Errorf("record %d: %+v, %v", m.Seq, d, err)
			}
		}
		daemon.stop(t)
	}
	if out, stderr, code := runBinary(t, "", "ledgerd", "verify", "--data-dir", dataDir); code != 0 {
		t.Errorf("verify: exit code %d: %s%s", code, out, stderr)
	}
}
