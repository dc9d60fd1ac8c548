package events_test

import (
	"os"
	"testing"
	"time"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// arrival is a stored message as [events.NewArrival] makes it.
func arrival(t testing.TB, kind domain.Kind, body string) *events.Message {
	t.Helper()
	out, err := events.NewArrival("chat-review", kind, []byte(body), "", "https://example.org/ci", time.Date(2026, 10, 1, 10, 0, 0, 5, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return &events.Message{Seq: 42, Time: time.Date(2026, 10, 1, 10, 0, 1, 0, time.UTC), Subject: out.Subject, Header: out.Header, Data: out.Data}
}

func BenchmarkDecodeArrival(b *testing.B) {
	m := arrival(b, domain.KindCell, string(readFile(b, "testdata/cell.json")))
	b.ReportAllocs()
	b.SetBytes(int64(len(m.Data)))
	for b.Loop() {
		if a := events.DecodeArrival(m); a.Malformed != nil {
			b.Fatal(a.Malformed)
		}
	}
}
