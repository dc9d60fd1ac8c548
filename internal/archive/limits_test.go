package archive_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/archive"
)

// TestLimitsAtTheirEdges reads what just fits each limit, and refuses one more.
func TestLimitsAtTheirEdges(t *testing.T) {
	many := func(n int) zipFile {
		z := zipFile{files: []file{{name: "host.json", content: hostText}, {name: "definition.json", content: definitionText}}}
		for i := range n {
			z.files = append(z.files, file{name: fmt.Sprintf("%d/result.json", i), content: fmt.Sprintf(`{"executionId":"%d"}`, i)})
		}
		return z
	}
	with := func(content string, method uint16) zipFile {
		return measured(file{name: "log", content: content, method: method})
	}
	documents := int64(len(resultText) + len(hostText) + len(definitionText))
	for what, c := range map[string]struct {
		limits    archive.Limits
		fits, not zipFile
	}{
		"entries":    {archive.Limits{Entries: 3}, measured(), measured(file{name: "a"})},
		"total":      {archive.Limits{TotalBytes: documents + 10}, with("0123456789", 0), with("0123456789a", 0)},
		"entry":      {archive.Limits{EntryBytes: 100}, with(strings.Repeat("x", 100), 8), with(strings.Repeat("x", 101), 8)},
		"document":   {archive.Limits{DocumentBytes: int64(len(resultText))}, measured(), longer(1)},
		"documents":  {archive.Limits{DocumentsBytes: documents}, measured(), longer(1)},
		"executions": {archive.Limits{Executions: 2}, many(2), many(3)},
	} {
		t.Run(what, func(t *testing.T) {
			wantRead(t, c.fits, archive.Options{Limits: c.limits})
			wantRefused(t, c.not.bytes(), archive.Options{Limits: c.limits}, archive.ErrArchiveTooLarge)
		})
	}
	size := int64(len(measured().bytes()))
	wantRead(t, measured(), archive.Options{Limits: archive.Limits{ArchiveBytes: size}})
	wantRefused(t, measured().bytes(), archive.Options{Limits: archive.Limits{ArchiveBytes: size - 1}}, archive.ErrArchiveTooLarge)
}

// longer is a plain archive whose result has n bytes more.
func longer(n int) zipFile {
	z := measured()
	z.files[0].content += strings.Repeat(" ", n)
	return z
}

// TestDefaultLimits reaches for the constants themselves.
func TestDefaultLimits(t *testing.T) {
	t.Run("entries", func(t *testing.T) {
		z := measured()
		for i := range archive.MaxEntries - len(z.files) {
			z.files = append(z.files, file{name: fmt.Sprint(i)})
		}
		wantRead(t, z, archive.Options{})
		z.files = append(z.files, file{name: "more"})
		wantRefused(t, z.bytes(), archive.Options{}, archive.ErrArchiveTooLarge)
	})
	t.Run("document", func(t *testing.T) {
		wantRead(t, longer(archive.MaxDocumentBytes-len(resultText)), archive.Options{})
		wantRefused(t, longer(archive.MaxDocumentBytes-len(resultText)+1).bytes(), archive.Options{}, archive.ErrArchiveTooLarge)
	})
	t.Run("executions", func(t *testing.T) {
		z := zipFile{files: []file{{name: "host.json", content: "{}"}, {name: "definition.json", content: "{}"}}}
		for i := range archive.MaxExecutions {
			z.files = append(z.files, file{name: fmt.Sprintf("%d/result.json", i), content: fmt.Sprintf(`{"executionId":"%d"}`, i)})
		}
		wantRead(t, z, archive.Options{})
		z.files = append(z.files, file{name: "result.json", content: `{"executionId":"more"}`})
		wantRefused(t, z.bytes(), archive.Options{}, archive.ErrArchiveTooLarge)
	})
	t.Run("archive", func(t *testing.T) {
		// Refused before a byte is read.
		_, err := archive.Read(t.Context(), nil, archive.MaxArchiveBytes+1, archive.Options{})
		if !errors.Is(err, archive.ErrArchiveTooLarge) {
			t.Fatal(err)
		}
		// The largest is hashed, and then is no archive.
		_, err = archive.Read(t.Context(), zeros{}, archive.MaxArchiveBytes, archive.Options{})
		if !errors.Is(err, archive.ErrArchiveNotZip) {
			t.Fatal(err)
		}
	})
	t.Run("claims", func(t *testing.T) {
		// What is only claimed is refused before it is unpacked.
		claim := func(size uint32) file { return file{name: "a", method: 8, content: "x", size: p(size)} }
		wantRefused(t, measured(claim(archive.MaxEntryBytes+1)).bytes(), archive.Options{}, archive.ErrArchiveTooLarge)
		wantRefused(t, measured(claim(archive.MaxEntryBytes)).bytes(), archive.Options{}, archive.ErrArchiveBomb)
	})
	t.Run("list", func(t *testing.T) {
		raw := measured().bytes()
		end := len(raw) - 22
		copy(raw[end+12:], le32(nil, archive.MaxDirectoryBytes+1, 0))
		big := &padded{head: raw[:4], tail: raw[end:], size: archive.MaxDirectoryBytes + 1 + 22}
		_, err := archive.Read(t.Context(), big, big.size, archive.Options{})
		if !errors.Is(err, archive.ErrArchiveTooLarge) {
			t.Fatal(err)
		}
		copy(big.tail[12:], le32(nil, archive.MaxDirectoryBytes, 1))
		_, err = archive.Read(t.Context(), big, big.size, archive.Options{})
		if !errors.Is(err, archive.ErrArchiveDamaged) {
			t.Fatal(err)
		}
	})
}

// zeros is a file of nothing.
type zeros struct{}

func (zeros) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	return len(p), nil
}

// padded is a file of zeros with a head and a tail.
type padded struct {
	head, tail []byte
	size       int64
}

func (f *padded) ReadAt(p []byte, offset int64) (int, error) {
	clear(p)
	for i := range p {
		switch at := offset + int64(i); {
		case at >= f.size:
			return i, io.EOF
		case at >= f.size-int64(len(f.tail)):
			p[i] = f.tail[at-f.size+int64(len(f.tail))]
		case at < int64(len(f.head)):
			p[i] = f.head[at]
		}
	}
	return len(p), nil
}

func TestBombs(t *testing.T) {
	// A file that packs well is no bomb before it is large.
	wantRead(t, measured(file{name: "log", content: strings.Repeat("x", archive.RatioFreeBytes), method: 8}), archive.Options{})
	wantRefused(t, measured(file{name: "log", content: strings.Repeat("x", archive.RatioFreeBytes+1), method: 8}).bytes(), archive.Options{}, archive.ErrArchiveBomb)

	content := strings.Repeat(strings.Repeat("x", 100)+"0123456789", 20_000)
	packed := int64(len(deflated(content)))
	ratio := int64(len(content)) / packed
	z := measured(file{name: "log", content: content, method: 8})
	wantRead(t, z, archive.Options{Limits: archive.Limits{Ratio: ratio + 1}})
	wantRefused(t, z.bytes(), archive.Options{Limits: archive.Limits{Ratio: ratio}}, archive.ErrArchiveBomb)

	// Headers that lie: it claims a few bytes and unpacks to many.
	lie := file{name: "log", content: strings.Repeat("x", 16<<20), method: 8, size: p(uint32(100))}
	wantRefused(t, measured(lie).bytes(), archive.Options{}, archive.ErrArchiveDamaged)
	documents := measured()
	documents.files[0].content, documents.files[0].method, documents.files[0].size = lie.content, 8, lie.size
	wantRefused(t, documents.bytes(), archive.Options{}, archive.ErrArchiveDamaged)
	// Many that are each within their limits.
	z = measured()
	for i := range 8 {
		z.files = append(z.files, file{name: fmt.Sprint(i), content: content, method: 8})
	}
	wantRefused(t, z.bytes(), archive.Options{Limits: archive.Limits{TotalBytes: 4 << 20, Ratio: ratio + 1}}, archive.ErrArchiveTooLarge)
}
