package archive_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/internal/archive"
)

// named is a plain archive with one more file of a name.
func named(name string) zipFile { return measured(file{name: name, content: "x"}) }

func TestUnsafeNamesAreRefused(t *testing.T) {
	for what, z := range map[string]zipFile{
		"empty":             named(""),
		"slash alone":       named("/"),
		"absolute":          named("/etc/passwd"),
		"parent":            named("../result.txt"),
		"parent within":     named("a/../../b"),
		"parent at the end": named("a/.."),
		"dot":               named("./a"),
		"empty segment":     named("a//b"),
		"two slashes":       named("a//"),
		"backslash":         named(`a\b`),
		"windows parent":    named(`..\b`),
		"drive":             named("C:/a"),
		"drive, relative":   named("c:a"),
		"network share":     named(`\\host\share`),
		"NUL":               named("a\x00.json"),
		"control":           named("a\x1b[2Jb"),
		"delete":            named("a\x7f"),
		"newline":           named("a\nb"),
		"not UTF-8":         measured(file{name: "a\xff", flags: 1 << 11}),
		"not declared":      named("naïve"),
		"too long":          named(strings.Repeat("n", archive.MaxNameBytes+1)),
		"other unicode path": measured(file{name: "a", content: "x",
			extra: unicodePath("a", "b")}),
		"unicode path of another name": measured(file{name: "a", content: "x", extra: unicodePath("b", "a")}),
		"short unicode path":           measured(file{name: "a", content: "x", extra: field(0x7075, []byte{1})}),
	} {
		t.Run(what, func(t *testing.T) { wantRefused(t, z.bytes(), archive.Options{}, archive.ErrArchiveName) })
	}
	for what, z := range map[string]zipFile{
		"longest":           named(strings.Repeat("n", archive.MaxNameBytes)),
		"dots":              named("a/...b/..c/d.."),
		"colon later":       named("ab:c"),
		"same unicode path": measured(file{name: "a", content: "x", extra: unicodePath("a", "a")}),
	} {
		t.Run(what, func(t *testing.T) { wantRead(t, z, archive.Options{}) })
	}
}

func field(id uint16, value []byte) []byte {
	return append(le16(nil, id, uint16(len(value))), value...)
}

func unicodePath(written, meant string) []byte {
	value := le32([]byte{1}, crc32.ChecksumIEEE([]byte(written)))
	return field(0x7075, append(value, meant...))
}

func TestNamesThatComeTwiceAreRefused(t *testing.T) {
	utf8 := func(name string) file { return file{name: name, flags: 1 << 11} }
	for what, z := range map[string]zipFile{
		"same":                     measured(file{name: "a"}, file{name: "a"}),
		"same document":            measured(measured().files[0]),
		"case":                     measured(file{name: "README"}, file{name: "readme"}),
		"case of a directory":      measured(file{name: "A/x"}, file{name: "a/y"}),
		"case of a directory only": measured(file{name: "A/"}, file{name: "a/"}),
		"composed and decomposed":  measured(utf8("caf\u00e9"), utf8("cafe\u0301")),
		"sharp s":                  measured(utf8("stra\u00dfe"), utf8("STRASSE")),
		"kelvin sign":              measured(utf8("\u212a"), file{name: "k"}),
		"directory twice":          measured(file{name: "a/"}, file{name: "a/"}),
		"file, then directory":     measured(file{name: "a"}, file{name: "a/"}),
		"directory, then file":     measured(file{name: "a/"}, file{name: "a"}),
		"file with files":          measured(file{name: "a"}, file{name: "a/b"}),
		"files, then file":         measured(file{name: "a/b"}, file{name: "a"}),
	} {
		t.Run(what, func(t *testing.T) { wantRefused(t, z.bytes(), archive.Options{}, archive.ErrArchiveDuplicate) })
	}
	for what, z := range map[string]zipFile{
		"directory, then its files": measured(file{name: "a/"}, file{name: "a/b"}, file{name: "a/c/"}),
		"files, then directory":     measured(file{name: "a/b/c"}, file{name: "a/"}, file{name: "a/b/"}),
		"same name elsewhere":       measured(file{name: "a/b"}, file{name: "c/b"}, file{name: "b"}),
	} {
		t.Run(what, func(t *testing.T) { wantRead(t, z, archive.Options{}) })
	}
}

func TestLinksAndDevicesAreRefused(t *testing.T) {
	for what, f := range map[string]file{
		"symlink":                 {attributes: 0o120777 << 16, content: "/etc/passwd"},
		"device":                  {attributes: 0o020666 << 16},
		"block device":            {attributes: 0o060666 << 16},
		"pipe":                    {attributes: 0o010666 << 16},
		"socket":                  {attributes: 0o140666 << 16},
		"directory by mode only":  {attributes: 0o040755 << 16},
		"directory in DOS only":   {attributes: 0x10},
		"document that is a link": {name: "8-1/result.json", attributes: 0o120777 << 16, content: "x"},
		"directory that is a link": {name: "l/",
			attributes: 0o120777 << 16},
		"directory with a file's mode": {name: "l/", attributes: 0o100644 << 16},
	} {
		if f.name == "" {
			f.name = "l"
		}
		t.Run(what, func(t *testing.T) {
			wantRefused(t, measured(f).bytes(), archive.Options{}, archive.ErrArchiveSpecial)
		})
	}
	wantRead(t, measured(file{name: "d/", attributes: 0o040755<<16 | 0x10}, file{name: "f", attributes: 0o100755<<16 | 0x20}), archive.Options{})
}

func TestWhatIsNotReadIsRefused(t *testing.T) {
	sentinel := p(uint32(1<<32 - 1))
	for what, c := range map[string]struct {
		z    zipFile
		want error
	}{
		"encrypted":             {measured(file{name: "a", flags: 1}), archive.ErrArchiveEncrypted},
		"strongly encrypted":    {measured(file{name: "a", flags: 1 << 6}), archive.ErrArchiveEncrypted},
		"masked headers":        {measured(file{name: "a", flags: 1 << 13}), archive.ErrArchiveEncrypted},
		"patch data":            {measured(file{name: "a", flags: 1 << 5}), archive.ErrArchiveUnsupported},
		"zstd":                  {measured(file{name: "a", method: 93}), archive.ErrArchiveUnsupported},
		"bzip2":                 {measured(file{name: "a", method: 12}), archive.ErrArchiveUnsupported},
		"deflate64":             {measured(file{name: "a", method: 9}), archive.ErrArchiveUnsupported},
		"aes":                   {measured(file{name: "a", method: 99}), archive.ErrArchiveUnsupported},
		"entry on another disk": {measured(file{name: "a", disk: 1}), archive.ErrArchiveUnsupported},
		"split":                 {zipFile{files: measured().files, disk: 1}, archive.ErrArchiveUnsupported},

		"zip64 size":            {measured(file{name: "a", size: sentinel, packedSize: p(uint32(0))}), archive.ErrArchiveZip64},
		"zip64 packed size":     {measured(file{name: "a", packedSize: sentinel}), archive.ErrArchiveZip64},
		"zip64 offset":          {measured(file{name: "a", offset: sentinel}), archive.ErrArchiveZip64},
		"zip64 disk":            {measured(file{name: "a", disk: 1<<16 - 1}), archive.ErrArchiveZip64},
		"zip64 field":           {measured(file{name: "a", extra: field(1, make([]byte, 16))}), archive.ErrArchiveZip64},
		"zip64 field in header": {measured(file{name: "a", localExtra: field(1, make([]byte, 16))}), archive.ErrArchiveZip64},
		"zip64 size in header":  {measured(file{name: "a", localSize: sentinel}), archive.ErrArchiveZip64},
		"zip64 descriptor":      {measured(file{name: "a", descriptor: "long"}), archive.ErrArchiveZip64},
		"zip64 locator":         {zipFile{files: measured().files, beforeEnd: string(le32(nil, 0x07064b50, 0, 0, 0, 1))}, archive.ErrArchiveZip64},
		"zip64 count":           {zipFile{files: measured().files, count: p(uint16(1<<16 - 1))}, archive.ErrArchiveZip64},
		"zip64 list size":       {zipFile{files: measured().files, listSize: sentinel}, archive.ErrArchiveZip64},
		"zip64 list offset":     {zipFile{files: measured().files, listOffset: sentinel}, archive.ErrArchiveZip64},
		"zip64 disks":           {zipFile{files: measured().files, disk: 1<<16 - 1}, archive.ErrArchiveZip64},
	} {
		t.Run(what, func(t *testing.T) { wantRefused(t, c.z.bytes(), archive.Options{}, c.want) })
	}
}

func TestWhatIsNoArchiveIsRefused(t *testing.T) {
	whole := string(measured().bytes())
	for what, c := range map[string]struct {
		raw  string
		want error
	}{
		"no byte":                   {"", archive.ErrArchiveEmpty},
		"no entry":                  {string(zipFile{}.bytes()), archive.ErrArchiveEmpty},
		"no entry, with a comment":  {string(zipFile{comment: "nothing"}.bytes()), archive.ErrArchiveEmpty},
		"a raw document":            {resultText, archive.ErrArchiveNotZip},
		"three bytes":               {"abc", archive.ErrArchiveNotZip},
		"gzip":                      {"\x1f\x8b\x08" + strings.Repeat("\x00", 100), archive.ErrArchiveNotZip},
		"a signature alone":         {"PK\x03\x04", archive.ErrArchiveTruncated},
		"an end alone":              {"PK\x05\x06", archive.ErrArchiveGarbage},
		"first half":                {whole[:len(whole)/2], archive.ErrArchiveTruncated},
		"cut in its end":            {whole[:len(whole)-1], archive.ErrArchiveGarbage},
		"cut before its end":        {whole[:len(whole)-22], archive.ErrArchiveTruncated},
		"second half":               {whole[len(whole)/2:], archive.ErrArchiveGarbage},
		"last half of the list":     {whole[len(whole)-100:], archive.ErrArchiveGarbage},
		"bytes after":               {whole + "x", archive.ErrArchiveGarbage},
		"a line end after":          {whole + "\r\n", archive.ErrArchiveGarbage},
		"zeros after":               {whole + strings.Repeat("\x00", 512), archive.ErrArchiveGarbage},
		"much after":                {whole + strings.Repeat("\x00", 1<<17), archive.ErrArchiveTruncated},
		"bytes before":              {"x" + whole, archive.ErrArchiveGarbage},
		"bytes before, accounted":   {string(zipFile{before: "#!/bin/sh\n", files: measured().files}.bytes()), archive.ErrArchiveGarbage},
		"an entry nobody lists":     {string(zipFile{before: "PK\x03\x04hidden", files: measured().files}.bytes()), archive.ErrArchiveGarbage},
		"bytes before the list":     {string(zipFile{between: "x", files: measured().files}.bytes()), archive.ErrArchiveGarbage},
		"bytes before the end":      {string(zipFile{beforeEnd: "x", files: measured().files}.bytes()), archive.ErrArchiveGarbage},
		"bytes between entries":     {string(measured(file{name: "a", content: "a", after: "hidden"}, file{name: "b"}).bytes()), archive.ErrArchiveGarbage},
		"bytes behind a descriptor": {string(measured(file{name: "a", content: "a", descriptor: "signed", after: "hidden"}).bytes()), archive.ErrArchiveGarbage},
		"an end in the comment":     {string(zipFile{files: measured().files, comment: string(zipFile{}.bytes())}.bytes()), archive.ErrArchiveGarbage},
		"an archive twice":          {whole + whole, archive.ErrArchiveGarbage},
	} {
		t.Run(what, func(t *testing.T) { wantRefused(t, []byte(c.raw), archive.Options{}, c.want) })
	}
	// A comment is not an entry's, and belongs to the archive all the same.
	wantRead(t, zipFile{files: measured().files, comment: strings.Repeat("c", 1<<16-1)}, archive.Options{})
}

func TestContradictionsAreRefused(t *testing.T) {
	content := strings.Repeat("content ", 100)
	packed := deflated(content)
	for what, f := range map[string]file{
		"checksum":                    {content: content, crc: p(uint32(1))},
		"checksum, deflated":          {content: content, method: 8, crc: p(uint32(1))},
		"checksum in a descriptor":    {content: content, descriptor: "signed", crc: p(uint32(1))},
		"other descriptor":            {content: content, descriptor: "wrong"},
		"claims more":                 {content: content, method: 8, size: p(uint32(len(content) + 1))},
		"claims less":                 {content: content, method: 8, size: p(uint32(len(content) - 1))},
		"stored, other sizes":         {content: content, size: p(uint32(1))},
		"other name in its header":    {content: content, localName: "../../b"},
		"longer name in its header":   {content: content, localName: "aa"},
		"other flags in its header":   {content: content, localFlags: p(uint16(1))},
		"other method in its header":  {content: content, localMethod: p(uint16(8))},
		"other size, not yet known":   {content: content, descriptor: "signed", localSize: p(uint32(3))},
		"other size in its header":    {content: content, localSize: p(uint32(3))},
		"not deflated":                {content: content, method: 8, packed: []byte(content)},
		"half deflated":               {content: content, method: 8, packed: packed[:len(packed)/2]},
		"no compressed byte":          {content: "", method: 8, packed: []byte{}},
		"directory with contents":     {name: "a/", content: content},
		"extra field without value":   {content: content, extra: []byte{9}},
		"extra field ends early":      {content: content, extra: []byte{9, 9, 9, 0, 1}},
		"header field ends early":     {content: content, localExtra: []byte{9, 9, 9, 0, 1}},
		"header beyond the entries":   {content: content, offset: p(uint32(1 << 20))},
		"data beyond the entries":     {content: "", size: p(uint32(1 << 20)), packedSize: p(uint32(1 << 20))},
		"deflated beyond the entries": {content: content, method: 8, packedSize: p(uint32(1 << 20))},
	} {
		if f.name == "" {
			f.name = "a"
		}
		t.Run(what, func(t *testing.T) {
			wantRefused(t, measured(f).bytes(), archive.Options{}, archive.ErrArchiveDamaged)
		})
	}
	for what, z := range map[string]zipFile{
		"counts less":          {files: measured(file{name: "a"}).files, count: p(uint16(3))},
		"counts more":          {files: measured().files, count: p(uint16(4))},
		"list too long":        {files: measured().files, listSize: p(uint32(1 << 16))},
		"list beyond its end":  {files: measured().files, listOffset: p(uint32(1 << 16))},
		"list at the entries":  {files: measured().files, listOffset: p(uint32(0)), listSize: p(uint32(len(measured().bytes()) - 22))},
		"list too far forward": {files: measured().files, listOffset: p(uint32(len(measured().bytes()))), listSize: p(uint32(0))},
	} {
		t.Run(what, func(t *testing.T) { wantRefused(t, z.bytes(), archive.Options{}, archive.ErrArchiveDamaged) })
	}
	t.Run("no header where it begins", func(t *testing.T) {
		raw := measured().bytes()
		raw[bytes.LastIndex(raw, []byte("PK\x03\x04"))]++
		wantRefused(t, raw, archive.Options{}, archive.ErrArchiveDamaged)
	})
	t.Run("bytes behind deflated data", func(t *testing.T) {
		f := file{name: "a", content: content, method: 8, packed: append(packed, "hidden"...)}
		wantRefused(t, measured(f).bytes(), archive.Options{}, archive.ErrArchiveGarbage)
	})
}

func TestOverlappingEntriesAreRefused(t *testing.T) {
	content := strings.Repeat("x", 100)
	first := measured().bytes()
	for what, z := range map[string]zipFile{
		// Two names for the same bytes: the header cannot agree with both.
		"same entry twice": measured(file{name: "a", content: content}, file{name: "b", content: content, offset: p(lastEntry(measured(file{name: "a"})))}),
		// An entry whose data hold the next entry, as in quoted bombs.
		"one in the other":     measured(file{name: "a", content: "", size: p(uint32(40)), packedSize: p(uint32(40))}, file{name: "b", content: content}),
		"all in the first":     {files: append([]file{{name: "a", size: p(uint32(len(first) / 2)), packedSize: p(uint32(len(first) / 2))}}, measured().files...)},
		"header in an entry":   measured(file{name: "a", content: content, offset: p(uint32(33))}),
		"descriptor is absent": measured(file{name: "a", content: content, flags: 1 << 3}),
	} {
		t.Run(what, func(t *testing.T) { wantRefused(t, z.bytes(), archive.Options{}, archive.ErrArchiveOverlap) })
	}
}

// lastEntry is where the last entry of an archive begins.
func lastEntry(z zipFile) uint32 {
	raw := z.bytes()
	list := binary.LittleEndian.Uint32(raw[len(raw)-6:])
	last := z.files[len(z.files)-1]
	return list - uint32(localFixed+len(last.name)+len(last.content))
}

func TestArchiveWithinAnArchiveIsOnlyBytes(t *testing.T) {
	inner := string(zipFile{files: []file{{name: "../evil", content: "x"}, {name: "result.json", content: "{"}}}.bytes())
	for _, method := range []uint16{0, 8} {
		a := wantRead(t, measured(file{name: "traces/trace.zip", content: inner, method: method}), archive.Options{})
		if len(a.Executions) != 1 {
			t.Errorf("%d executions", len(a.Executions))
		}
	}
	// Even as the last bytes before the list, and with an end of its own.
	wantRead(t, measured(file{name: "z.zip", content: string(measured().bytes())}), archive.Options{})
}
