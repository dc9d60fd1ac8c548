package jetstream_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
)

func TestHeaders(t *testing.T) {
	for raw, want := range map[string]events.Header{
		"":                          nil,
		"no header":                 nil,
		"NATS/1.0\r\nce-id\r\n\r\n": nil,
		"NATS/1.0\r\nce-id: a\r\nX: 1\r\nce-id: b\r\n\r\n":                             {"ce-id": {"a", "b"}, "X": {"1"}},
		"NATS/1.0\r\nNats-Batch-Id: 1\r\nNats-Expected-Last-Sequence: 4\r\na:\r\n\r\n": {"a": {""}},
	} {
		got := jetstream.DecodeHeader([]byte(raw))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", raw, diff)
		}
	}
}

// FuzzHeaders: what was read prints so that it reads the same.
func FuzzHeaders(f *testing.F) {
	f.Add([]byte("NATS/1.0\r\nce-id: a\r\nX: 1\r\nce-id: b\r\n\r\n"))
	f.Add([]byte("NATS/1.0 503\r\na: \xff \r\n\r\n"))
	f.Add([]byte("NATS/1.0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		once := jetstream.DecodeHeader(raw)
		again := jetstream.DecodeHeader(jetstream.EncodeHeader(once))
		if len(once) > 0 && !cmp.Equal(once, again) {
			t.Errorf("%q reads %q, and then %q", raw, once, again)
		}
	})
}
