package archive_test

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/internal/archive"
)

// TestWhatArchiveZipReads shows why each check on top of archive/zip is made:
// the library reads the archive to its last entry without an error, and here
// it is refused.
func TestWhatArchiveZipReads(t *testing.T) {
	content := strings.Repeat("content ", 100)
	packed := deflated(content)
	whole := string(measured().bytes())
	manyMore := measured()
	for range 1 << 16 {
		manyMore.files = append(manyMore.files, file{name: "a"})
	}
	for what, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"other name in its header":   {measured(file{name: "a", localName: "b"}).bytes(), archive.ErrArchiveDamaged},
		"other flags in its header":  {measured(file{name: "a", localFlags: p(uint16(1))}).bytes(), archive.ErrArchiveDamaged},
		"other method in its header": {measured(file{name: "a", localMethod: p(uint16(8))}).bytes(), archive.ErrArchiveDamaged},
		"other size in its header":   {measured(file{name: "a", content: content, localSize: p(uint32(3))}).bytes(), archive.ErrArchiveDamaged},
		"other size behind its data": {measured(file{name: "a", content: content, descriptor: "wrong"}).bytes(), archive.ErrArchiveDamaged},
		"a checksum of 0":            {measured(file{name: "a", content: content, crc: p(uint32(0))}).bytes(), archive.ErrArchiveDamaged},
		"bytes behind deflated data": {measured(file{name: "a", content: content, method: 8, packed: append(packed, "hidden"...)}).bytes(), archive.ErrArchiveGarbage},
		"bytes before":               {[]byte("x" + whole), archive.ErrArchiveGarbage},
		"bytes between entries":      {measured(file{name: "a", after: "hidden"}, file{name: "b"}).bytes(), archive.ErrArchiveGarbage},
		"bytes before the end":       {zipFile{beforeEnd: "x", files: measured().files}.bytes(), archive.ErrArchiveGarbage},
		"bytes after":                {[]byte(whole + "x"), archive.ErrArchiveGarbage},
		"an end in the comment":      {zipFile{files: measured().files, comment: string(zipFile{}.bytes())}.bytes(), archive.ErrArchiveGarbage},
		"entries that overlap":       {measured(file{name: "a", size: p(uint32(40)), packedSize: p(uint32(40)), crc: p(uint32(0))}, file{name: "b", content: content}).bytes(), archive.ErrArchiveOverlap},
		"a name twice":               {measured(file{name: "a"}, file{name: "a"}).bytes(), archive.ErrArchiveDuplicate},
		"an unsafe name":             {measured(file{name: "../a"}).bytes(), archive.ErrArchiveName},
		"other name in a field":      {measured(file{name: "a", extra: unicodePath("a", "b")}).bytes(), archive.ErrArchiveName},
		"encrypted":                  {measured(file{name: "a", flags: 1}).bytes(), archive.ErrArchiveEncrypted},
		"a part of a split archive":  {measured(file{name: "a", disk: 1}).bytes(), archive.ErrArchiveUnsupported},
		"a zip64 field":              {measured(file{name: "a", extra: field(1, make([]byte, 16))}).bytes(), archive.ErrArchiveZip64},
		"65,536 entries uncounted":   {manyMore.bytes(), archive.ErrArchiveDamaged},
		"a directory with data":      {measured(file{name: "a/", method: 8, packed: append(deflated(""), "hidden"...)}).bytes(), archive.ErrArchiveGarbage},
	} {
		t.Run(what, func(t *testing.T) {
			other, err := zip.NewReader(bytes.NewReader(c.raw), int64(len(c.raw)))
			if err != nil {
				t.Fatalf("archive/zip refuses it too: %v", err)
			}
			for _, f := range other.File {
				entry, err := f.Open()
				if err == nil {
					_, err = io.Copy(io.Discard, entry)
				}
				if err != nil {
					t.Fatalf("archive/zip refuses %q too: %v", f.Name, err)
				}
			}
			wantRefused(t, c.raw, archive.Options{}, c.want)
		})
	}
}
