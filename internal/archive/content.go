package archive

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"hash/crc32"
	"io"

	"github.com/cockroachdb/errors"
)

// unpacker reads entries, one after the other, and counts what comes out.
type unpacker struct {
	ctx    context.Context
	from   io.ReaderAt
	limits Limits

	packed  *bufio.Reader // flate reads no byte further than it needs from one
	inflate io.ReadCloser
	chunk   []byte

	total     int64 // unpacked so far
	documents int64 // held in memory so far
}

// chunkBytes is how much is unpacked between two looks at the limits.
const chunkBytes = 32 << 10

// readEntries unpacks and checks every entry, and gives the bytes of those that
// are wanted, by index.
func readEntries(ctx context.Context, r io.ReaderAt, entries []entry, wanted map[int]bool, o *prepared) (map[int][]byte, error) {
	u := &unpacker{ctx: ctx, from: r, limits: o.limits, packed: bufio.NewReader(nil), chunk: make([]byte, chunkBytes)}
	u.inflate = flate.NewReader(u.packed)
	documents := make(map[int][]byte, len(wanted))
	for i := range entries {
		var keep *bytes.Buffer
		if wanted[i] {
			keep = &bytes.Buffer{}
		}
		if err := u.read(&entries[i], keep); err != nil {
			return nil, err
		}
		if keep != nil {
			documents[i] = keep.Bytes()
		}
	}
	return documents, nil
}

// read unpacks an entry, into keep when that is not nil.
func (u *unpacker) read(e *entry, keep *bytes.Buffer) error {
	u.packed.Reset(&interruptible{ctx: u.ctx, from: io.NewSectionReader(u.from, e.data, e.packed)})
	var content io.Reader = u.packed
	if e.method == methodDeflate {
		// What flate gives it resets, so the assertion holds; a nil dictionary is none.
		if err := u.inflate.(flate.Resetter).Reset(u.packed, nil); err != nil {
			return errors.Wrap(err, "archive: start to unpack")
		}
		content = u.inflate
	}
	size, crc, err := u.count(e, content, keep)
	if err != nil {
		return err
	}
	switch _, err := u.packed.ReadByte(); {
	case err == nil:
		return refuse(ErrArchiveGarbage, hintForged, "bytes follow the compressed data of %q", e.name)
	case !errors.Is(err, io.EOF):
		return unreadable(err)
	case size != e.size:
		return refuse(ErrArchiveDamaged, hintForged, "%q unpacks to %d bytes and claims %d", e.name, size, e.size)
	case crc != e.crc:
		return refuse(ErrArchiveDamaged, hintDownload, "%q does not have its checksum", e.name)
	}
	return nil
}

// count reads content to its end, within the limits.
func (u *unpacker) count(e *entry, content io.Reader, keep *bytes.Buffer) (size int64, crc uint32, err error) {
	for {
		n, err := content.Read(u.chunk)
		size += int64(n)
		u.total += int64(n)
		if err := u.checkSizes(e, size, keep != nil); err != nil {
			return 0, 0, err
		}
		crc = crc32.Update(crc, crc32.IEEETable, u.chunk[:n])
		if keep != nil {
			u.documents += int64(n)
			if u.documents > u.limits.DocumentsBytes {
				return 0, 0, refuse(ErrArchiveTooLarge, "upload fewer executions in one artifact",
					"its documents are more than %d bytes together", u.limits.DocumentsBytes)
			}
			keep.Write(u.chunk[:n])
		}
		if err != nil {
			return size, crc, u.checkEnd(e, err)
		}
	}
}

func (u *unpacker) checkSizes(e *entry, size int64, document bool) error {
	switch {
	case document && size > u.limits.DocumentBytes:
		return refuse(ErrArchiveTooLarge, "an arrival is carried whole or not at all: keep large output out of the documents",
			"the document %q is more than %d bytes", e.name, u.limits.DocumentBytes)
	case size > u.limits.EntryBytes:
		return refuse(ErrArchiveTooLarge, hintForged, "%q is more than %d bytes unpacked", e.name, u.limits.EntryBytes)
	case u.total > u.limits.TotalBytes:
		return refuse(ErrArchiveTooLarge, hintForged, "it is more than %d bytes unpacked", u.limits.TotalBytes)
	case isBomb(size, e.packed, u.limits.Ratio):
		return bomb(e, u.limits.Ratio)
	case size > e.size:
		return refuse(ErrArchiveDamaged, hintForged, "%q unpacks to more than the %d bytes that it claims", e.name, e.size)
	}
	return nil
}

// checkEnd tells a content's end from its damage.
func (u *unpacker) checkEnd(e *entry, err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &corrupt):
		return refuse(ErrArchiveDamaged, hintDownload, "the compressed data of %q are damaged", e.name)
	case errors.Is(err, io.EOF):
		return nil
	default:
		return unreadable(err)
	}
}

// isBomb reports whether size bytes out of packed are beyond the ratio.
func isBomb(size, packed, ratio int64) bool { return size > RatioFreeBytes && size > packed*ratio }

func bomb(e *entry, ratio int64) error {
	return refuse(ErrArchiveBomb, hintForged, "%q unpacks to more than %d times its %d bytes", e.name, ratio, e.packed)
}
