package tree

import (
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/events"
)

// link is what the tree takes from a record: its two hashes, and its place in
// the chain. Nothing else of it is read: the tree is over bytes, whatever rules
// they follow.
type link struct {
	events.Link
	seq  uint64
	hash string    // lower hex SHA-256 of the record, which the next one holds as prev
	leaf tlog.Hash // RFC 6962's
	err  error     // why it is no record of this place
}

func newLink(m *events.Message) link {
	l := link{seq: m.Seq, hash: events.RecordHash(m.Data), leaf: tlog.RecordHash(m.Data)}
	l.Link, l.err = events.ReadLinkOf(m)
	return l
}
