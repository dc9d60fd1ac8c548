package audit_test

import (
	"context"
	"testing"
	"time"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/audit/audittest"
	"github.com/ledgerd/ledgerd/internal/audit/storefile"
	"github.com/ledgerd/ledgerd/internal/simci"
)

// benchCells is a ledger of about 10,000 cells of 6 kB, one in ten in trouble.
func benchCells() simci.Config {
	const scenarios, ordinals = 250, 2
	return simci.Config{Seed: 1, Campaigns: 20, Scenarios: scenarios, CellBytes: 6000, Stored: true, CellsPerJob: 20,
		Troubles: simci.Share(scenarios*ordinals, 100)}
}

// BenchmarkReplay decides a ledger again, and verifies it with its evidence,
// beside a bare read of its ARRIVALS in the same run: as a reader on a server,
// and on the files of a stopped one. of_raw is the rate in parts of the bare
// read's.
func BenchmarkReplay(b *testing.B) {
	dir := b.TempDir()
	ci := audittest.Store(b, dir, benchCells())
	n := float64(ci.Len() + audittest.Unreadable)
	measure := func(b *testing.B, source audit.Source, raw func() uint64) {
		var read, replayed, verified time.Duration
		runs := 0
		for b.Loop() {
			read += timed(func() {
				if last := raw(); last != uint64(n) {
					b.Fatalf("%d arrivals, want %g", last, n)
				}
			})
			replayed += timed(func() {
				result, err := audit.Replay(context.Background(), audit.ReplayConfig{Source: source})
				if err != nil || !result.Same() || result.Decisions != uint64(n) {
					b.Fatalf("%+v, %v", result, err)
				}
			})
			verified += timed(func() {
				result, err := audit.Verify(context.Background(), audit.VerifyConfig{Source: source, Evidence: true})
				if err != nil || !result.Sound() {
					b.Fatalf("%+v, %v", result, err)
				}
			})
			runs++
		}
		total := n * float64(runs)
		b.ReportMetric(total/replayed.Seconds(), "replayed/s")
		b.ReportMetric(total/verified.Seconds(), "verified/s")
		b.ReportMetric(total/read.Seconds(), "raw/s")
		b.ReportMetric(read.Seconds()/replayed.Seconds(), "of_raw")
		b.ReportMetric(0, "ns/op")
	}
	b.Run("files", func(b *testing.B) {
		measure(b, storefile.Ledger(dir), func() (last uint64) {
			reader, err := storefile.Stream(dir, events.ArrivalsStream).Open(context.Background(), "")
			if err != nil {
				b.Fatal(err)
			}
			for {
				messages, _, err := reader.Next(context.Background())
				if err != nil {
					return last
				}
				last = messages[len(messages)-1].Seq
			}
		})
	})
	b.Run("reader", func(b *testing.B) {
		s := audittest.Start(b, dir)
		arrivals, _ := s.ReaderLogs()
		measure(b, s.Source(), func() (last uint64) {
			cursor, err := arrivals.Read(context.Background(), 1)
			if err != nil {
				b.Fatal(err)
			}
			defer cursor.Close()
			for last < uint64(n) {
				messages, err := cursor.Next(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				last = messages[len(messages)-1].Seq
			}
			return last
		})
	})
}

func timed(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}
