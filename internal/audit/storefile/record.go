package storefile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/minio/highwayhash"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
)

// Parts of a record.
const (
	fixedBytes  = 22 // before the subject
	lengthBytes = 4  // of a header's length
	hashBytes   = highwayhash.Size64

	headerBit    = 1 << 31 // in the length: there is a header
	erasedBit    = 1 << 63 // in the sequence: the message was overwritten
	tombstoneBit = 1 << 62 // in the sequence: the message with it was deleted
)

// maxRecordBytes is what the server takes for the end of what it can read.
const maxRecordBytes = 32 << 20

// errRecord: the bytes are no record. Without a length that can be believed
// nothing is known of what follows.
var (
	errRecord = errors.New("storefile: the hash does not match")
	errLength = errors.New("storefile: no record begins there")
)

// hasher makes the keyed hash of a stream or a block.
func hasher(name string) *highwayhash.Digest64 {
	key := sha256.Sum256([]byte(name))
	hash, err := highwayhash.NewDigest64(key[:])
	if err != nil {
		panic(err) // the key has the length of one
	}
	return hash
}

// blockHasher makes the one of a block.
func blockHasher(stream string, block uint32) *highwayhash.Digest64 {
	return hasher(fmt.Sprintf("%s-%d", stream, block))
}

// record is one entry of a block.
type record struct {
	message   events.Message
	erased    bool // there is no message
	tombstone bool // message.Seq was deleted
}

// readRecord reads the record that b begins with and gives its length. An
// errRecord comes with the length too.
func readRecord(b []byte, hash *highwayhash.Digest64) (r record, size int, err error) {
	if len(b) < fixedBytes+hashBytes {
		return record{}, 0, errors.Wrapf(errLength, "%d bytes are left", len(b))
	}
	length := binary.LittleEndian.Uint32(b)
	hasHeader := length&headerBit != 0
	size = int(length &^ headerBit)
	subjectEnd := fixedBytes + int(binary.LittleEndian.Uint16(b[20:]))
	rest := subjectEnd // where header and body begin
	if hasHeader {
		rest += lengthBytes
	}
	if size > maxRecordBytes || size > len(b) || rest+hashBytes > size {
		return record{}, 0, errors.Wrapf(errLength, "its length would be %d, of %d bytes", size, len(b))
	}
	bodyEnd := size - hashBytes
	hash.Reset()
	for _, part := range [][]byte{b[4:20], b[fixedBytes:subjectEnd], b[rest:bodyEnd]} {
		_, _ = hash.Write(part) // never fails
	}
	if !bytes.Equal(hash.Sum(nil), b[bodyEnd:size]) {
		return record{}, size, errRecord
	}
	body := rest
	if hasHeader {
		body += int(binary.LittleEndian.Uint32(b[subjectEnd:]))
		if body > bodyEnd {
			return record{}, size, errors.Wrap(errRecord, "its header is longer than the record")
		}
	}
	seq := binary.LittleEndian.Uint64(b[4:])
	r = record{erased: seq&erasedBit != 0, tombstone: seq&tombstoneBit != 0}
	r.message = events.Message{
		Seq:     seq &^ (erasedBit | tombstoneBit),
		Time:    time.Unix(0, int64(binary.LittleEndian.Uint64(b[12:]))).UTC(),
		Subject: string(b[fixedBytes:subjectEnd]),
		Data:    b[body:bodyEnd:bodyEnd],
	}
	if hasHeader {
		r.message.Header = jetstream.DecodeHeader(b[rest:body])
	}
	return r, size, nil
}
