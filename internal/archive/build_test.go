package archive_test

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/archive"
)

// file is an entry to be built, with everything that can be wrong about it. A
// zero field is what an ordinary tool writes.
type file struct {
	name    string
	content string

	method     uint16 // 0 stores
	flags      uint16
	attributes uint32
	extra      []byte // in the list
	localExtra []byte
	disk       uint16

	localName   string // "" is name
	packed      []byte // nil is content, compressed by method
	crc         *uint32
	size        *uint32
	packedSize  *uint32
	localSize   *uint32
	localFlags  *uint16
	localMethod *uint16
	offset      *uint32
	descriptor  string // "", signed, plain, long or wrong
	after       string // bytes behind the data
}

func p[T any](value T) *T { return &value }

// zipFile is an archive to be built.
type zipFile struct {
	before, between, after string // bytes before the first entry, before the list, after the end
	beforeEnd              string
	comment                string
	files                  []file
	count                  *uint16
	listSize, listOffset   *uint32
	disk                   uint16
}

const localFixed = 30

func le16(b []byte, values ...uint16) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	return b
}

func le32(b []byte, values ...uint32) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func or[T any](value *T, otherwise T) T {
	if value != nil {
		return *value
	}
	return otherwise
}

func deflated(content string) []byte {
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.DefaultCompression)
	_, _ = w.Write([]byte(content)) // a buffer takes everything
	_ = w.Close()
	return packed.Bytes()
}

func (z zipFile) bytes() []byte {
	out := []byte(z.before)
	var list []byte
	for _, f := range z.files {
		out, list = f.append(out, list)
	}
	out = append(out, z.between...)
	at := uint32(len(out))
	out = append(out, list...)
	out = append(out, z.beforeEnd...)
	count := or(z.count, uint16(len(z.files)))
	out = le32(out, 0x06054b50)
	out = le16(out, z.disk, z.disk, count, count)
	out = le32(out, or(z.listSize, uint32(len(list))), or(z.listOffset, at))
	out = le16(out, uint16(len(z.comment)))
	out = append(out, z.comment...)
	return append(out, z.after...)
}

func (f file) append(out, list []byte) ([]byte, []byte) {
	packed := f.packed
	if packed == nil {
		packed = []byte(f.content)
		if f.method == 8 {
			packed = deflated(f.content)
		}
	}
	crc := or(f.crc, crc32.ChecksumIEEE([]byte(f.content)))
	size := or(f.size, uint32(len(f.content)))
	packedSize := or(f.packedSize, uint32(len(packed)))
	flags := f.flags
	if f.descriptor != "" {
		flags |= 1 << 3
	}
	localName := f.name
	if f.localName != "" {
		localName = f.localName
	}

	at := or(f.offset, uint32(len(out)))
	out = le32(out, 0x04034b50)
	out = le16(out, 20, or(f.localFlags, flags), or(f.localMethod, f.method), 0, 0)
	if f.descriptor != "" {
		out = le32(out, 0, 0, or(f.localSize, 0))
	} else {
		out = le32(out, crc, packedSize, or(f.localSize, size))
	}
	out = le16(out, uint16(len(localName)), uint16(len(f.localExtra)))
	out = append(append(append(out, localName...), f.localExtra...), packed...)
	switch f.descriptor {
	case "signed":
		out = le32(out, 0x08074b50, crc, packedSize, size)
	case "plain":
		out = le32(out, crc, packedSize, size)
	case "long":
		out = le32(out, 0x08074b50, crc, packedSize, 0, size, 0)
	case "wrong":
		out = le32(out, 0x08074b50, crc, packedSize, size+1)
	}
	out = append(out, f.after...)

	list = le32(list, 0x02014b50)
	list = le16(list, 3<<8|20, 20, flags, f.method, 0, 0)
	list = le32(list, crc, packedSize, size)
	list = le16(list, uint16(len(f.name)), uint16(len(f.extra)), 0, f.disk, 0)
	list = le32(list, f.attributes, at)
	return out, append(append(list, f.name...), f.extra...)
}

// Documents of an execution, and where they usually are.
const (
	resultText     = `{"executionId":"suite.greeting-r1","status":"passed"}`
	hostText       = `{"region":"us-east-1"}`
	definitionText = `{"scenarioId":"greeting"}`
)

// measured is a plain archive of one execution.
func measured(more ...file) zipFile {
	return zipFile{files: append([]file{
		{name: "7-1/greeting-r1/result.json", content: resultText},
		{name: "7-1/greeting-r1/host.json", content: hostText},
		{name: "7-1/greeting-r1/definition.json", content: definitionText},
	}, more...)}
}

func read(raw []byte, options archive.Options) (*archive.Archive, error) {
	return archive.Read(context.Background(), bytes.NewReader(raw), int64(len(raw)), options)
}

// wantRead reads what must be well.
func wantRead(t *testing.T, z zipFile, options archive.Options) *archive.Archive {
	t.Helper()
	a, err := read(z.bytes(), options)
	if err != nil {
		t.Fatalf("refused: %v", err)
	}
	return a
}

// wantRefused reads what must be refused by one sentinel, with a hint.
func wantRefused(t *testing.T, raw []byte, options archive.Options, sentinel error) error {
	t.Helper()
	a, err := read(raw, options)
	if err == nil {
		t.Fatalf("read, with %d executions; want %v", len(a.Executions), sentinel)
	}
	if !errors.Is(err, sentinel) {
		t.Fatalf("refused by %v; want %v", err, sentinel)
	}
	if len(errors.GetAllHints(err)) == 0 {
		t.Fatalf("no hint with %v", err)
	}
	return err
}
