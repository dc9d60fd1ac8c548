package archive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"hash/crc32"
	"io"

	"github.com/cockroachdb/errors"
)

// copyBytes is how much is unpacked at a time.
const copyBytes = 32 << 10

// readEntries unpacks and checks every entry, and gives the bytes of those that
// are documents, by index.
func readEntries(entries []entry, documents map[int]bool, limits Limits) (map[int][]byte, error) {
	var total int64
	for i := range documents {
		size := entries[i].size()
		if size > limits.DocumentBytes {
			return nil, refuse(ErrArchiveTooLarge, "an arrival is carried whole or not at all: keep large output out of the documents",
				"the document %q is %d bytes and may be %d", entries[i].Name, size, limits.DocumentBytes)
		}
		total += size
	}
	if total > limits.DocumentsBytes {
		return nil, refuse(ErrArchiveTooLarge, "upload fewer executions in one artifact",
			"its documents are %d bytes together and may be %d", total, limits.DocumentsBytes)
	}
	contents := make(map[int][]byte, len(documents))
	buffer := make([]byte, copyBytes)
	for i := range entries {
		keep := io.Discard
		var content *bytes.Buffer
		if documents[i] {
			content = bytes.NewBuffer(make([]byte, 0, entries[i].size()))
			keep = content
		}
		if err := entries[i].read(keep, buffer); err != nil {
			return nil, err
		}
		if content != nil {
			contents[i] = content.Bytes()
		}
	}
	return contents, nil
}

// read unpacks an entry. What it claims of itself must hold.
func (e *entry) read(keep io.Writer, buffer []byte) error {
	content, err := e.Open()
	if err != nil {
		return damage(err, "%q", e.Name)
	}
	defer content.Close()
	// archive/zip does not compare a checksum that is 0.
	sum := crc32.NewIEEE()
	if _, err := io.CopyBuffer(io.MultiWriter(sum, keep), content, buffer); err != nil {
		return damage(err, "%q", e.Name)
	}
	if sum.Sum32() != e.CRC32 {
		return damage(zip.ErrChecksum, "%q", e.Name)
	}
	return nil
}

// inflater unpacks one entry at a time. Unlike archive/zip's own it refuses
// bytes that follow the compressed data.
type inflater struct {
	io.ReadCloser
	packed *bufio.Reader // flate reads no byte further than it needs from one
}

func newInflater() zip.Decompressor {
	i := &inflater{packed: bufio.NewReader(nil)}
	i.ReadCloser = flate.NewReader(i.packed)
	return func(packed io.Reader) io.ReadCloser {
		i.packed.Reset(packed)
		// What flate gives it resets, and only a dictionary could fail.
		_ = i.ReadCloser.(flate.Resetter).Reset(i.packed, nil)
		return i
	}
}

func (i *inflater) Read(p []byte) (int, error) {
	n, err := i.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		if _, err = i.packed.ReadByte(); err == nil {
			err = refuse(ErrArchiveGarbage, hintForged, "bytes follow the compressed data")
		}
	}
	return n, err
}

// damage is an error of archive/zip or flate. A refusal, an error of the
// operating system and the context's stay what they are.
func damage(err error, format string, args ...any) error {
	var corrupt flate.CorruptInputError
	if errors.IsAny(err, zip.ErrFormat, zip.ErrChecksum, zip.ErrAlgorithm, io.EOF, io.ErrUnexpectedEOF) || errors.As(err, &corrupt) {
		return errors.WithHint(errors.Mark(errors.Wrapf(errors.Wrapf(err, format, args...), "archive: damaged"), ErrArchiveDamaged), hintDownload)
	}
	return errors.Wrapf(err, format, args...)
}
