package jetstream_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest/natstest"
	"github.com/ledgerd/ledgerd/events/jetstream"
)

// records are messages as the writer appends them.
func records(n, size int) []events.Outgoing {
	batch := make([]events.Outgoing, n)
	for i := range batch {
		batch[i] = events.Outgoing{
			Subject: fmt.Sprintf("ledger.decisions.campaign-%d.accepted.cell", i%10),
			Header: events.Header{
				events.HeaderSpecVersion: {"1.0"}, events.HeaderID: {fmt.Sprint(i)}, events.HeaderSource: {"/ledgerd/LEDGER"},
				events.HeaderType: {events.DecisionType}, events.HeaderContentType: {"application/json"},
				events.HeaderEpoch: {"01999999-aaaa-7bbb-8ccc-dddddddddddd"}, events.HeaderHost: {"ledger-1"},
			},
			Data: bytes.Repeat([]byte("x"), size),
		}
	}
	return batch
}

func BenchmarkAppend(b *testing.B) {
	for _, sync := range []bool{false, true} {
		for _, size := range []int{300, 2300} {
			for _, n := range []int{1, 100, 1000} {
				b.Run(fmt.Sprintf("sync=%v/%dB/%d", sync, size, n), func(b *testing.B) {
					js := connect(b, natstest.Start(b, natstest.Options{SyncAlways: sync}))
					breakable(b, js)
					log := jetstream.Open(js, events.LedgerStream)
					batch := records(n, size)
					var last uint64
					var err error
					for b.Loop() {
						if last, err = log.Append(context.Background(), last, batch); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(last)/b.Elapsed().Seconds(), "msg/s")
				})
			}
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, size := range []int{300, 6000} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			js := connect(b, natstest.Start(b, natstest.Options{}))
			breakable(b, js)
			log := jetstream.Open(js, events.LedgerStream)
			const n = 100_000
			var last uint64
			for last < n {
				var err error
				if last, err = log.Append(context.Background(), last, records(1000, size)); err != nil {
					b.Fatal(err)
				}
			}
			read := 0
			for b.Loop() {
				cursor, err := log.Read(context.Background(), 1)
				if err != nil {
					b.Fatal(err)
				}
				for got := 0; got < n; {
					messages, err := cursor.Next(context.Background())
					if err != nil {
						b.Fatal(err)
					}
					got += len(messages)
				}
				cursor.Close()
				read += n
			}
			b.ReportMetric(float64(read)/b.Elapsed().Seconds(), "msg/s")
		})
	}
}
