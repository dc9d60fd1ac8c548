package tree

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/cockroachdb/errors"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/events"
)

// maxEntryBytes is what an entry bundle can hold in one entry: its length is
// a uint16.
const maxEntryBytes = math.MaxUint16

// Record reads the bytes of the record with an index, and makes sure that they
// are those that the tree holds. Errors: ErrNoHead, ErrBeyondHead,
// ErrRewritten, those of a Log.
func (r *Reader) Record(ctx context.Context, index int64) ([]byte, error) {
	head, err := r.Head(ctx)
	if err != nil {
		return nil, err
	}
	if index < 0 || index >= head.Size {
		return nil, errors.Wrapf(ErrBeyondHead, "record %d; the last signed head has %d", index, head.Size)
	}
	leaf, err := storedHashes(ctx, r.store).ReadHashes([]int64{tlog.StoredHashIndex(0, index)})
	if err != nil {
		return nil, err
	}
	return r.record(ctx, index, leaf[0])
}

func (r *Reader) record(ctx context.Context, index int64, leaf tlog.Hash) ([]byte, error) {
	if r.ledger == nil {
		return nil, errors.AssertionFailedf("tree: this reader has no ledger")
	}
	message, err := r.ledger.Get(ctx, uint64(index)+1)
	switch {
	case errors.Is(err, events.ErrNotFound):
		return nil, rewritten("LEDGER sequence %d is gone", index+1)
	case err != nil:
		return nil, errors.Wrapf(err, "tree: read LEDGER sequence %d", index+1)
	case tlog.RecordHash(message.Data) != leaf:
		return nil, rewritten("LEDGER sequence %d holds another record than the tree", index+1)
	}
	return message.Data, nil
}

// Bundle gives the first width entries of C2SP's entry bundle n: records, each
// behind its length as a big-endian uint16. A record of more than 65,535 bytes
// has no place in that format; a bundle that would hold one is ErrEntryTooLarge,
// which says the record's index, and the records are to be had one by one. Only
// a campaign of several hundred slots is that large. Errors: those of Tile
// and Record besides.
func (r *Reader) Bundle(ctx context.Context, n int64, width int) ([]byte, error) {
	leaves, err := r.Tile(ctx, TileID{0, n}, width)
	if err != nil {
		return nil, err
	}
	if r.ledger == nil {
		return nil, errors.AssertionFailedf("tree: this reader has no ledger")
	}
	from := n << TileHeight
	cursor, err := r.ledger.Read(ctx, uint64(from)+1)
	if err != nil {
		return nil, errors.Wrapf(err, "tree: read LEDGER from sequence %d", from+1)
	}
	defer cursor.Close()
	var bundle []byte
	for i := 0; i < width; {
		messages, err := cursor.Next(ctx)
		if err != nil {
			return nil, errors.Wrapf(err, "tree: read LEDGER from sequence %d", from+int64(i)+1)
		}
		for _, message := range messages[:min(len(messages), width-i)] {
			if tlog.RecordHash(message.Data) != tlog.Hash(leaves[i*tlog.HashSize:][:tlog.HashSize]) {
				return nil, rewritten("LEDGER sequence %d holds another record than the tree", message.Seq)
			}
			if bundle, err = appendEntry(bundle, message.Data); err != nil {
				return nil, errors.Wrapf(err, "record %d", from+int64(i))
			}
			i++
		}
	}
	return bundle, nil
}

func appendEntry(bundle, record []byte) ([]byte, error) {
	if len(record) > maxEntryBytes {
		return nil, errors.Wrapf(ErrEntryTooLarge, "%d bytes of at most %d", len(record), maxEntryBytes)
	}
	return append(binary.BigEndian.AppendUint16(bundle, uint16(len(record))), record...), nil
}
