package transparency_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest"
	"github.com/ledgerd/ledgerd/projections/transparency"
)

// BenchmarkTree is building a tree in a file, beside reading the same stream
// and doing nothing with it. Records have the size of an accepted cell's.
func BenchmarkTree(b *testing.B) {
	const records, size = 200_000, 2300
	log := eventstest.NewLedger()
	prev := events.GenesisHash
	for i := range records {
		record := fmt.Appendf(nil, `{"v":1,"index":%d,"prev":"%s",`, i, prev)
		record = append(record, bytes.Repeat([]byte("x"), size-len(record))...)
		prev = events.RecordHash(record)
		log.Publish(events.Outgoing{Subject: "ledger.decisions.c.accepted.cell", Data: record})
	}
	b.Run("raw read", func(b *testing.B) {
		for b.Loop() {
			cursor, err := log.Read(b.Context(), 1)
			if err != nil {
				b.Fatal(err)
			}
			for read := 0; read < records; {
				messages, err := cursor.Next(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				read += len(messages)
			}
			cursor.Close()
		}
		b.ReportMetric(float64(records*b.N)/b.Elapsed().Seconds(), "records/s")
	})
	b.Run("tree", func(b *testing.B) {
		for b.Loop() {
			build(b, log, records)
		}
		b.ReportMetric(float64(records*b.N)/b.Elapsed().Seconds(), "records/s")
	})
	b.Run("audit", func(b *testing.B) {
		tree := build(b, log, records)
		b.ResetTimer()
		for b.Loop() {
			if err := tree.Audit(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(records*b.N)/b.Elapsed().Seconds(), "records/s")
	})
	b.Run("receipt", func(b *testing.B) {
		tree := build(b, log, records)
		b.ResetTimer()
		i := int64(0)
		for b.Loop() {
			if _, err := tree.Inclusion(b.Context(), i%records, 0); err != nil {
				b.Fatal(err)
			}
			i += 7919
		}
	})
}

func build(b *testing.B, log events.Log, records int64) *transparency.Tree {
	b.Helper()
	tree, err := transparency.Open(b.Context(), transparency.Config{Log: log, Store: newStore(b), Keys: newKeys(b), HeadInterval: time.Millisecond})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- tree.Run(ctx) }()
	if _, err := tree.WaitForHead(ctx, records); err != nil {
		b.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
	return tree
}
