package tree_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest/natstest"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/tree"
)

const (
	benchRecords = 100_000
	benchBytes   = 2300 // of an accepted cell's record
)

// BenchmarkTree builds a tree in a file from a stream on a real server, beside
// reading the same stream and doing nothing with it.
func BenchmarkTree(b *testing.B) {
	js, err := natsjs.New(natstest.Start(b, natstest.Options{}).Connect(b))
	if err != nil {
		b.Fatal(err)
	}
	_, err = js.CreateStream(b.Context(), natsjs.StreamConfig{
		Name: events.LedgerStream, Subjects: []string{events.DecisionsFilter}, AllowDirect: true, AllowAtomicPublish: true,
	})
	if err != nil {
		b.Fatal(err)
	}
	log := jetstream.Open(js, events.LedgerStream)
	fill(b, log)
	rate := func(b *testing.B) {
		b.ReportMetric(float64(benchRecords*b.N)/b.Elapsed().Seconds(), "records/s")
	}
	b.Run("raw read", func(b *testing.B) {
		for b.Loop() {
			readAll(b, log)
		}
		rate(b)
	})
	b.Run("tree", func(b *testing.B) {
		for b.Loop() {
			build(b, log)
		}
		rate(b)
	})
	b.Run("audit", func(b *testing.B) {
		merkle := build(b, log)
		for b.Loop() {
			if err := merkle.Audit(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		rate(b)
	})
	b.Run("inclusion proof", func(b *testing.B) {
		merkle := build(b, log)
		i := int64(0)
		for b.Loop() {
			if _, err := merkle.Inclusion(b.Context(), i%benchRecords, 0); err != nil {
				b.Fatal(err)
			}
			i += 7919
		}
	})
}

// fill stores records that are chained, and hold nothing else.
func fill(b *testing.B, log events.Log) {
	b.Helper()
	prev := events.GenesisHash
	for last := uint64(0); last < benchRecords; {
		batch := make([]events.Outgoing, events.MaxBatchMessages)
		for i := range batch {
			record := fmt.Appendf(nil, `{"v":1,"index":%d,"prev":"%s",`, last+uint64(i), prev)
			record = append(record, bytes.Repeat([]byte("x"), benchBytes-len(record))...)
			prev = events.RecordHash(record)
			batch[i] = events.Outgoing{Subject: "ledger.decisions.c.accepted.cell", Data: record}
		}
		var err error
		if last, err = log.Append(b.Context(), last, batch); err != nil {
			b.Fatal(err)
		}
	}
}

func readAll(b *testing.B, log events.Log) {
	b.Helper()
	cursor, err := log.Read(b.Context(), 1)
	if err != nil {
		b.Fatal(err)
	}
	defer cursor.Close()
	for read := 0; read < benchRecords; {
		messages, err := cursor.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		read += len(messages)
	}
}

// build makes a tree of all records in a new file, with a signed head.
func build(b *testing.B, log events.Log) *tree.Tree {
	b.Helper()
	merkle, err := tree.Open(b.Context(), tree.Config{Log: log, Store: newStore(b), Keys: newKeys(b), HeadInterval: time.Second})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- merkle.Run(ctx) }()
	if _, err := merkle.WaitFor(ctx, benchRecords); err != nil {
		b.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
	return merkle
}
