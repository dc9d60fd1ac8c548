package writer_test

import (
	"context"
	"fmt"
	"runtime/debug"
	"testing"
	"time"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest/natstest"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/simci"
	"github.com/ledgerd/ledgerd/internal/writer"
)

// payload is a kind of arrivals that is measured.
type payload struct {
	name string
	n    int
	make func(b *testing.B, n int) []events.Outgoing
}

var payloads = []payload{
	{"cells of 6 kB", 8_000, cells},
	{"300 B", 30_000, voids},
}

// scenariosEach is how many cells' scenarios a campaign of the benchmark has.
const scenariosEach = 100

// cells are openings and the cells that fill them, of about 6 kB each.
func cells(b *testing.B, n int) []events.Outgoing {
	var batch []events.Outgoing
	for c := 0; len(batch) < n; c++ {
		campaign := fmt.Sprintf("bench-%d", c)
		var scenarios []string
		for s := range scenariosEach {
			scenarios = append(scenarios, fmt.Sprintf("scenario-%d", s))
		}
		batch = append(batch, outgoing(b, campaign, domain.KindCampaign, string(simci.Opening(campaign, scenarios...))))
		for _, scenario := range scenarios {
			for ordinal := range int64(2) {
				body := simci.Cell(campaign, scenario, ordinal+1, simci.Transcript(cellTranscript)).Body()
				batch = append(batch, outgoing(b, campaign, domain.KindCell, string(body)))
			}
		}
	}
	return batch[:n]
}

// cellTranscript makes a cell's body about 6 kB.
const cellTranscript = 2900

// voids are small arrivals on one open campaign.
func voids(b *testing.B, n int) []events.Outgoing {
	batch := []events.Outgoing{outgoing(b, "bench", domain.KindCampaign, openingBody(2))}
	for i := range n - 1 {
		body := fmt.Sprintf(`{"importKey":"%d/1/e","actor":"ana","reason":"%0220d"}`, i, i)
		batch = append(batch, outgoing(b, "bench", domain.KindVoid, body))
	}
	return batch
}

// BenchmarkWriter decides the same arrivals that a bare loop reads and appends
// as they are, on the same server, in the same run. of_floor is what counts:
// the writer's rate in parts of the loop's.
func BenchmarkWriter(b *testing.B) {
	// As in the daemon, and for the bare loop as well.
	const collectPercent = 400
	defer debug.SetGCPercent(debug.SetGCPercent(collectPercent))
	for _, sync := range []bool{false, true} {
		for _, p := range payloads {
			b.Run(fmt.Sprintf("sync_always=%v/%s", sync, p.name), func(b *testing.B) {
				server := natstest.Start(b, natstest.Options{SyncAlways: sync})
				js := provision(b, server)
				arrivals := jetstream.Open(js, events.ArrivalsStream)
				batch := p.make(b, p.n)
				if _, err := jetstream.NewPublisher(server.Connect(b)).PublishAll(context.Background(), batch); err != nil {
					b.Fatal(err)
				}
				size := 0
				for i := range batch {
					size += len(batch[i].Data)
				}
				var floor, decided time.Duration
				runs := 0
				for b.Loop() { // each run begins with an empty ledger, on the same server
					floor += floorRun(b, server, arrivals, uint64(p.n))
					decided += writerRun(b, server, arrivals, uint64(p.n))
					runs++
				}
				total := float64(p.n * runs)
				b.ReportMetric(total/decided.Seconds(), "decisions/s")
				b.ReportMetric(total/floor.Seconds(), "floor/s")
				b.ReportMetric(floor.Seconds()/decided.Seconds(), "of_floor")
				b.ReportMetric(float64(size)/float64(p.n), "B/arrival")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// emptyLedger makes the LEDGER stream anew.
func emptyLedger(b *testing.B, server *natstest.Server) events.Log {
	b.Helper()
	js := connection(b, server)
	ctx := withPatience(b)
	_ = js.DeleteStream(ctx, events.LedgerStream) // there may be none
	if err := jetstream.Provision(ctx, js, jetstream.Limits{LedgerID: "test", Replicas: 1, StoreBytes: testStoreBytes}); err != nil {
		b.Fatal(err)
	}
	return jetstream.Open(js, events.LedgerStream)
}

// floorRun reads n arrivals and appends each as it is, a batch in flight while
// the next one is read: what any writer must at least do.
func floorRun(b *testing.B, server *natstest.Server, arrivals events.Log, n uint64) time.Duration {
	b.Helper()
	ledger := emptyLedger(b, server)
	ctx := context.Background()
	started := time.Now()
	cursor, err := arrivals.Read(ctx, 1)
	if err != nil {
		b.Fatal(err)
	}
	defer cursor.Close()
	batches := make(chan []events.Outgoing, 1)
	appended := make(chan error, 1)
	go func() {
		last, err := uint64(0), error(nil)
		for batch := range batches {
			if err == nil {
				last, err = ledger.Append(ctx, last, batch)
			}
		}
		appended <- err
	}()
	for last := uint64(0); last < n; {
		messages, err := cursor.Next(ctx)
		if err != nil {
			b.Fatal(err)
		}
		batch := make([]events.Outgoing, len(messages))
		for i := range messages {
			batch[i] = events.Outgoing{Subject: "ledger.decisions.bench.accepted.cell", Data: messages[i].Data}
			last = messages[i].Seq
		}
		for len(batch) > 0 {
			k := fitting(batch)
			batches <- batch[:k]
			batch = batch[k:]
		}
	}
	close(batches)
	if err := <-appended; err != nil {
		b.Fatal(err)
	}
	return time.Since(started)
}

// fitting is how many messages of a batch one append takes.
func fitting(batch []events.Outgoing) int {
	size := 0
	for i := range batch {
		if size += len(batch[i].Data); size > events.MaxBatchBytes {
			return i
		}
	}
	return len(batch)
}

// writerRun decides n arrivals.
func writerRun(b *testing.B, server *natstest.Server, arrivals events.Log, n uint64) time.Duration {
	b.Helper()
	ledger := emptyLedger(b, server)
	w, err := writer.New(writer.Config{Arrivals: arrivals, Ledger: ledger, Epoch: "bench", Host: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	started := time.Now()
	go func() { done <- w.Run(ctx) }()
	for w.Committed() < n {
		select {
		case err := <-done:
			b.Fatalf("the writer ended: %v", err)
		case <-time.After(time.Millisecond): // measured work takes a thousand times longer
		}
	}
	took := time.Since(started)
	cancel()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	return took
}

// BenchmarkStart starts a writer behind a short ledger and a long one. ratio is
// how much longer the long one takes: about 1, since only the tail is read.
func BenchmarkStart(b *testing.B) {
	const short, long = 1_000, 200_000
	took := map[int]time.Duration{}
	starts := 0
	logs := map[int]writer.Config{}
	for _, n := range []int{short, long} {
		server := natstest.Start(b, natstest.Options{})
		js := provision(b, server)
		publisher := jetstream.NewPublisher(server.Connect(b))
		if _, err := publisher.PublishAll(context.Background(), voids(b, n)); err != nil {
			b.Fatal(err)
		}
		config := real(js, "first")
		first := start(b, config)
		reaches(b, config.Ledger, uint64(n))
		first.stop()
		if err := first.wait(b); err != nil {
			b.Fatal(err)
		}
		logs[n] = config
	}
	for b.Loop() {
		for _, n := range []int{short, long} {
			config := logs[n]
			config.Epoch = fmt.Sprint("start-", starts)
			began := time.Now()
			w := start(b, config)
			<-w.Ready()
			took[n] += time.Since(began)
			w.stop()
			if err := w.wait(b); err != nil {
				b.Fatal(err)
			}
		}
		starts++
	}
	b.ReportMetric(float64(took[short].Microseconds())/float64(starts), "us/start_1k")
	b.ReportMetric(float64(took[long].Microseconds())/float64(starts), "us/start_200k")
	b.ReportMetric(took[long].Seconds()/took[short].Seconds(), "ratio")
	b.ReportMetric(0, "ns/op")
}
