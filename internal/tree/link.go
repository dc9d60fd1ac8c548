package tree

import (
	"bytes"
	"encoding/hex"
	"strconv"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/events"
)

// link is what the tree takes from a record: its two hashes, and where it says
// that it belongs. Nothing else of it is read: the tree is over bytes, whatever
// rules they follow.
type link struct {
	seq  uint64
	hash string    // lower hex SHA-256 of the record, which the next one holds as prev
	prev string    // of the record before
	leaf tlog.Hash // RFC 6962's
	ok   bool      // it begins as a record does, and says its own index
}

func newLink(m *events.Message) link {
	l := link{seq: m.Seq, hash: events.RecordHash(m.Data), leaf: tlog.RecordHash(m.Data)}
	index, prev, ok := recordHead(m.Data)
	l.prev, l.ok = prev, ok && index+1 == m.Seq
	return l
}

// recordHead reads the beginning of a canonical record:
//
//	{"v":1,"index":41,"prev":"…64 hex digits…",
func recordHead(record []byte) (index uint64, prev string, ok bool) {
	rest, found := bytes.CutPrefix(record, []byte(`{"v":`))
	_, rest, comma := bytes.Cut(rest, []byte(`,"index":`))
	number, rest, colon := bytes.Cut(rest, []byte(`,"prev":"`))
	if !found || !comma || !colon || len(rest) < hex.EncodedLen(tlog.HashSize)+1 {
		return 0, "", false
	}
	index, err := strconv.ParseUint(string(number), 10, 64)
	prev, end := string(rest[:hex.EncodedLen(tlog.HashSize)]), rest[hex.EncodedLen(tlog.HashSize)]
	return index, prev, err == nil && end == '"'
}
