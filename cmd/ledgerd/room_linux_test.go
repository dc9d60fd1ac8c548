package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/simci"
)

// openings are arrivals that fill both streams fast: their decisions are as
// large as they are.
func openings(t *testing.T, n int) []events.Outgoing {
	t.Helper()
	scenarios := make([]string, 300)
	for i := range scenarios {
		scenarios[i] = fmt.Sprintf("scenario-%080d", i)
	}
	plan := make([]events.Outgoing, n)
	for i := range plan {
		campaign := fmt.Sprint("campaign-", i)
		out, err := events.NewArrival(campaign, domain.KindCampaign, simci.Opening(campaign, scenarios...), "", "/ci", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		plan[i] = out
	}
	return plan
}

// TestADiskThatFailsUnderTheDaemon lets a write of a stream fail while a
// producer publishes: the next block of its messages is /dev/full, which answers
// with "no space left on device". The daemon goes on by itself, and in the end
// every arrival that was acknowledged has exactly one decision.
func TestADiskThatFailsUnderTheDaemon(t *testing.T) {
	for _, stream := range []string{"ARRIVALS", "LEDGER"} {
		t.Run(stream, func(t *testing.T) {
			dataDir := t.TempDir()
			daemon := startProcess(t, "--data-dir", dataDir).awaitReady(t)
			block := filepath.Join(dataDir, "nats", "jetstream", "LEDGER", "streams", stream, "msgs", "2.blk")
			if err := os.Symlink("/dev/full", block); err != nil {
				t.Fatal(err)
			}
			const blocks = 2 // more than a block of 8 MiB in either stream
			producer := &producer{t: t, dataDir: dataDir, plan: openings(t, 40*blocks), acknowledged: map[int]uint64{}}
			producer.publishUntil(daemon.ended, daemon.readyChan)
			// A question that is asked while the streams are out of use is lost.
			awaitIndex(t, daemon, uint64(len(producer.plan))-1)
			producer.check(daemon)
			if log := daemon.log.String(); !strings.Contains(log, "error=\""+stream+": ") || !strings.Contains(log, "the streams take writes again") {
				t.Errorf("no write of %s failed and was mended: the test tests nothing\n%s", stream, log)
			}
			daemon.stop(t)
		})
	}
}

// awaitIndex waits until the daemon is ready and its views have a ledger index.
func awaitIndex(t *testing.T, daemon *process, index uint64) {
	t.Helper()
	ctx := withPatience(t)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var state struct {
		Ready bool    `json:"ready"`
		AsOf  *uint64 `json:"as_of"`
	}
	for !state.Ready || state.AsOf == nil || *state.AsOf < index {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("the daemon does not get as far as index %d: %+v\n%s", index, state, daemon.log)
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, daemon.http+"/readyz", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		state.Ready, state.AsOf = false, nil
		err = json.NewDecoder(answer.Body).Decode(&state)
		_ = answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
}
