package archive_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"hash/crc32"
	"io"
	"path"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/internal/archive"
)

// FuzzRead holds what is read against the standard library, which reads more:
// whatever is read here it must read too, to the same bytes.
func FuzzRead(f *testing.F) {
	f.Add([]byte{}, "")
	for _, z := range []zipFile{
		{},
		measured(),
		measured(file{name: "log", content: strings.Repeat("log ", 100), method: 8, descriptor: "signed"}),
		measured(file{name: "log", content: "x", method: 8, descriptor: "plain"}, file{name: "d/", attributes: 0o040755 << 16}),
		measured(file{name: "../x"}),
		measured(file{name: "a", offset: p(uint32(0))}),
		{comment: "c", files: measured().files},
	} {
		f.Add(z.bytes(), prefix)
	}
	f.Fuzz(func(t *testing.T, raw []byte, prefix string) {
		readBoth(t, raw, prefix)
	})
}

// FuzzEntry does the same with one entry whose records say anything, in an
// archive that is well apart from it: random bytes seldom get that far.
func FuzzEntry(f *testing.F) {
	f.Add("log", "log", []byte("content"), uint16(0), uint16(0), uint32(0), []byte{}, uint32(7), uint8(0))
	f.Add("a/host.json", "a/host.json", deflated("{}"), uint16(8), uint16(0), uint32(0o100644<<16), []byte{}, uint32(2), uint8(1))
	f.Add("d/", "d/", []byte{}, uint16(0), uint16(1<<11), uint32(0o040755<<16), field(0x5455, []byte{1, 2}), uint32(0), uint8(2))
	f.Add("HOST.json", "host.json", []byte("x"), uint16(0), uint16(1<<3), uint32(0x10), field(1, nil), uint32(1), uint8(3))
	f.Fuzz(func(t *testing.T, name, localName string, packed []byte, method, flags uint16, attributes uint32, extra []byte, size uint32, descriptor uint8) {
		if len(name) > 1<<12 || len(localName) > 1<<12 || len(extra) > 1<<12 {
			return // their lengths have 16 bits
		}
		f := file{
			name: name, localName: localName, packed: append([]byte{}, packed...), method: method, flags: flags, attributes: attributes, extra: extra,
			size: &size, crc: p(crc32.ChecksumIEEE(packed)), descriptor: []string{"", "signed", "plain", "wrong"}[descriptor%4],
		}
		if method == 8 {
			content, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), 1<<20))
			if err == nil {
				f.crc = p(crc32.ChecksumIEEE(content))
			}
		}
		readBoth(t, measured(f).bytes(), prefix)
	})
}

// readBoth reads an archive; what is read, the standard library must read too.
func readBoth(t *testing.T, raw []byte, prefix string) {
	t.Helper()
	options := archive.Options{PathPrefix: prefix, AnyContent: true, Limits: archive.Limits{TotalBytes: 8 << 20, Entries: 100}}
	a, err := read(raw, options)
	if err != nil {
		return
	}
	if a.SHA256 != digest(string(raw)) || len(a.Executions) == 0 {
		t.Fatalf("%d executions, digest %s", len(a.Executions), a.SHA256)
	}
	other, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatalf("the standard library refuses it: %v", err)
	}
	for _, e := range a.Executions {
		for _, d := range []archive.Document{e.Result, e.Host, e.Definition} {
			compare(t, other, prefix, d)
		}
	}
}

// compare holds a document against the one file of that path in another's
// reading.
func compare(t *testing.T, other *zip.Reader, prefix string, d archive.Document) {
	t.Helper()
	if path.Clean(d.Path) != d.Path || path.IsAbs(d.Path) || d.SHA256 != digest(string(d.Raw)) {
		t.Fatalf("the document %q", d.Path)
	}
	stripped := strings.TrimPrefix(d.Path, strings.TrimSuffix(prefix, "/")+"/")
	for _, f := range other.File {
		if f.Name != d.Path && f.Name != stripped {
			continue
		}
		content, err := f.Open()
		if err != nil {
			t.Fatalf("the standard library does not open %q: %v", f.Name, err)
		}
		theirs, err := io.ReadAll(content)
		if err != nil || !bytes.Equal(theirs, d.Raw) {
			t.Fatalf("%q is %q here and %q there (%v)", d.Path, d.Raw, theirs, err)
		}
		return
	}
	t.Fatalf("the standard library has no %q", d.Path)
}
