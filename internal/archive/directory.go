package archive

import (
	"archive/zip"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
	"unicode/utf8"
)

// Sizes of a zip file's records in bytes, without what varies.
const (
	localBytes   = 30
	centralBytes = 46
)

// Values that say "see the zip64 record".
const (
	sentinel16 = 1<<16 - 1
	sentinel32 = 1<<32 - 1
)

// Flags of an entry.
const (
	flagEncrypted  = 1 << 0
	flagDescriptor = 1 << 3 // sizes and checksum follow the data
	flagPatch      = 1 << 5
	flagStrong     = 1 << 6 // strong encryption
	flagUTF8       = 1 << 11
	flagMasked     = 1 << 13 // encrypted directory
)

// entry is a file or directory of the archive, as the list of entries has it.
type entry struct {
	*zip.File        // Name is without a directory's slash, so that Open reads its bytes like a file's
	path      string // with the path prefix
	dir       bool
	offset    int64 // of the header before its data
}

func (e *entry) packed() int64 { return int64(e.CompressedSize64) }
func (e *entry) size() int64   { return int64(e.UncompressedSize64) }

// written is the name as the archive has it.
func (e *entry) written() string {
	if e.dir {
		return e.Name + "/"
	}
	return e.Name
}

// directory is the list of entries, in its own order.
type directory struct {
	entries []entry
	offset  int64 // where the list begins, and the entries end
}

// readDirectory reads the list at the archive's end. Counts and sizes are
// bounded before archive/zip reads it, since that does not bound them.
func readDirectory(r io.ReaderAt, size int64, o *prepared) (*directory, error) {
	if size == 0 {
		return nil, refuse(ErrArchiveEmpty, hintDownload, "the file has no bytes")
	}
	end, err := readEnd(r, size)
	if err != nil {
		return nil, err
	}
	switch {
	case end.entries > o.limits.Entries:
		return nil, refuse(ErrArchiveTooLarge, hintSeparate, "it has %d entries and may have %d", end.entries, o.limits.Entries)
	case end.size > MaxDirectoryBytes:
		return nil, refuse(ErrArchiveTooLarge, hintForged, "its list of entries is %d bytes and may be %d", end.size, MaxDirectoryBytes)
	case end.entries == 0:
		return nil, refuse(ErrArchiveEmpty, "look at the job that uploaded it: it measured nothing, or looked in another folder", "there is no file in it")
	}
	offsets, err := readOffsets(r, end)
	if err != nil {
		return nil, err
	}
	list, err := zip.NewReader(r, size)
	if err != nil {
		return nil, damage(err, "its list of entries")
	}
	if len(list.File) != len(offsets) {
		return nil, changed("its list had %d entries and has %d", len(offsets), len(list.File))
	}
	list.RegisterDecompressor(zip.Deflate, newInflater())
	d := &directory{offset: end.offset, entries: make([]entry, len(offsets))}
	for i, f := range list.File {
		d.entries[i] = entry{File: f, offset: offsets[i]}
	}
	return d, d.check(o)
}

// readOffsets walks the list for what archive/zip does not give: where each
// entry begins and on which disk, that the list holds the entries it counts
// and no further byte, and that nothing is moved to a zip64 record.
func readOffsets(r io.ReaderAt, end endRecord) ([]int64, error) {
	list := make([]byte, end.size)
	if err := readFull(r, list, end.offset); err != nil {
		return nil, err
	}
	u16 := func(at int) int { return int(binary.LittleEndian.Uint16(list[at:])) }
	u32 := func(at int) int64 { return int64(binary.LittleEndian.Uint32(list[at:])) }
	offsets := make([]int64, end.entries)
	for i := range offsets {
		if len(list) < centralBytes || u32(0) != signatureCentral {
			return nil, refuse(ErrArchiveDamaged, hintDownload, "its list of entries ends early or is overwritten")
		}
		name, length := u16(28), centralBytes+u16(28)+u16(30)+u16(32)
		if len(list) < length {
			return nil, refuse(ErrArchiveDamaged, hintDownload, "its list of entries ends early")
		}
		shown := excerpt(string(list[centralBytes : centralBytes+name]))
		switch disk := u16(34); {
		case disk == sentinel16, u32(20) == sentinel32, u32(24) == sentinel32, u32(42) == sentinel32:
			return nil, refuse(ErrArchiveZip64, hintRepack, "%+q has its sizes elsewhere", shown)
		case disk != 0:
			return nil, refuse(ErrArchiveUnsupported, hintRepack, "%+q is on another disk", shown)
		}
		offsets[i], list = u32(42), list[length:]
	}
	if len(list) != 0 {
		return nil, refuse(ErrArchiveDamaged, hintForged, "its list of entries goes on after the %d that it counts", end.entries)
	}
	return offsets, nil
}

// check refuses entries that are not read here. An entry never unpacks to more
// than it claims (archive/zip sees to it), so that the limits hold claims.
func (d *directory) check(o *prepared) error {
	known := newNames()
	var total int64
	for i := range d.entries {
		e := &d.entries[i]
		if err := e.check(); err != nil {
			return err
		}
		e.path = o.retained(e.Name)
		if err := known.add(e.path, e.dir); err != nil {
			return err
		}
		total += e.size()
		switch {
		case e.size() > o.limits.EntryBytes:
			return refuse(ErrArchiveTooLarge, hintSeparate, "%q is %d bytes unpacked and may be %d", e.Name, e.size(), o.limits.EntryBytes)
		case total > o.limits.TotalBytes:
			return refuse(ErrArchiveTooLarge, hintSeparate, "it is more than %d bytes unpacked", o.limits.TotalBytes)
		case e.size() > RatioFreeBytes && e.size() > e.packed()*o.limits.Ratio:
			return refuse(ErrArchiveBomb, hintForged, "%q unpacks to more than %d times its %d bytes", e.Name, o.limits.Ratio, e.packed())
		}
	}
	return nil
}

// check refuses names and features that are not read here.
func (e *entry) check() error {
	e.Name, e.dir = strings.CutSuffix(e.Name, "/")
	if why := unsafeName(e.Name); why != "" {
		return refuse(ErrArchiveName, "entries must have plain relative paths in UTF-8 with forward slashes; pack the files again", "the name %+q %s", excerpt(e.written()), why)
	}
	ascii := !strings.ContainsFunc(e.Name, func(r rune) bool { return r >= utf8.RuneSelf })
	switch {
	case e.Flags&flagUTF8 == 0 && !ascii:
		return refuse(ErrArchiveName, "some readers take it for another name; pack the files with a tool that declares UTF-8, or give them ASCII names", "the name %+q is not declared as UTF-8", excerpt(e.written()))
	case e.Flags&(flagEncrypted|flagStrong|flagMasked) != 0:
		return refuse(ErrArchiveEncrypted, hintRepack, "%q", e.Name)
	case e.Flags&flagPatch != 0:
		return refuse(ErrArchiveUnsupported, hintRepack, "%q is patch data", e.Name)
	case e.Method != zip.Store && e.Method != zip.Deflate:
		return refuse(ErrArchiveUnsupported, hintRepack, "%q is compressed by method %d", e.Name, e.Method)
	case e.Method == zip.Store && e.packed() != e.size():
		return refuse(ErrArchiveDamaged, hintForged, "%q is stored as it is, in %d bytes of %d", e.Name, e.packed(), e.size())
	case e.dir && e.size() != 0:
		return refuse(ErrArchiveDamaged, hintForged, "the directory %q has contents", e.Name)
	}
	if err := e.checkExtra(e.Extra); err != nil {
		return err
	}
	return e.checkType()
}

// Ids of extra fields.
const (
	extraZip64       = 0x0001
	extraUnicodePath = 0x7075
)

// checkExtra looks for fields that change what the record says. Others (times,
// owners) are left alone.
func (e *entry) checkExtra(extra []byte) error {
	for len(extra) > 0 {
		end := 4
		if len(extra) >= end {
			end += int(binary.LittleEndian.Uint16(extra[2:]))
		}
		if len(extra) < end {
			return refuse(ErrArchiveDamaged, hintForged, "the extra field of %q ends early", e.Name)
		}
		switch id := binary.LittleEndian.Uint16(extra); {
		case id == extraZip64:
			return refuse(ErrArchiveZip64, hintRepack, "%q", e.Name)
		case id == extraUnicodePath && !e.sameUnicodePath(extra[4:end]):
			return refuse(ErrArchiveName, hintForged, "%q has another name in its extra field", e.Name)
		}
		extra = extra[end:]
	}
	return nil
}

// sameUnicodePath reports whether a unicode path field (version 1, the name's
// checksum, a name) repeats the entry's name.
func (e *entry) sameUnicodePath(value []byte) bool {
	written := e.written()
	return len(value) >= 5 && value[0] == 1 &&
		binary.LittleEndian.Uint32(value[1:]) == crc32.ChecksumIEEE([]byte(written)) && string(value[5:]) == written
}

// Types of a file in Unix modes, and the directory bit of MS-DOS.
const (
	modeType      = 0o170000
	modeRegular   = 0o100000
	modeDirectory = 0o040000
	dosDirectory  = 0x10
)

// checkType refuses links, devices, and what is a directory to some readers
// only. Whoever made the archive, a reader may believe the Unix mode;
// zip.File's Mode believes it or the DOS bit, by the creator.
func (e *entry) checkType() error {
	switch mode := e.ExternalAttrs >> 16 & modeType; {
	case mode != 0 && mode != modeRegular && mode != modeDirectory:
		return refuse(ErrArchiveSpecial, "upload the files themselves, not links to them", "%q has the file type %#o", e.Name, mode)
	case mode == modeRegular && e.dir, mode == modeDirectory && !e.dir, e.ExternalAttrs&dosDirectory != 0 && !e.dir:
		return refuse(ErrArchiveSpecial, hintForged, "%q is a directory by its name or by its mode, not by both", e.Name)
	}
	return nil
}
