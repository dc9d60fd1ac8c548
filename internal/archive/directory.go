package archive

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
	"unicode/utf8"
)

// Signatures of a zip file's records, as they are stored (little endian).
const (
	signatureLocal      = 0x04034b50
	signatureCentral    = 0x02014b50
	signatureEnd        = 0x06054b50
	signatureLocator64  = 0x07064b50
	signatureDescriptor = 0x08074b50
)

// Sizes of a zip file's records in bytes, without what varies.
const (
	localBytes     = 30
	centralBytes   = 46
	endBytes       = 22
	locator64Bytes = 20
	maxComment     = 1<<16 - 1
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

// Methods of compression.
const (
	methodStore   = 0
	methodDeflate = 8
)

// entry is a file or directory of the archive, as the central directory lists
// it.
type entry struct {
	name   string // without a directory's slash
	path   string // with the path prefix
	dir    bool
	flags  uint16
	method uint16
	crc    uint32
	packed int64 // bytes in the archive
	size   int64 // bytes unpacked, as claimed
	offset int64 // of the local header
	data   int64 // offset of the packed bytes, set by locate
}

// directory is the list of entries, in its own order.
type directory struct {
	entries []entry
	offset  int64 // where the list begins, and the entries end
}

// readDirectory reads the list at the archive's end.
func readDirectory(r io.ReaderAt, size int64, o *prepared) (*directory, error) {
	if size == 0 {
		return nil, refuse(ErrArchiveEmpty, hintDownload, "the file has no bytes")
	}
	end, err := readEnd(r, size)
	if err != nil {
		return nil, err
	}
	if end.entries > o.limits.Entries {
		return nil, refuse(ErrArchiveTooLarge, "upload documents and logs as separate artifacts",
			"it has %d entries and may have %d", end.entries, o.limits.Entries)
	}
	if end.size > MaxDirectoryBytes {
		return nil, refuse(ErrArchiveTooLarge, hintForged, "its list of entries is %d bytes and may be %d", end.size, MaxDirectoryBytes)
	}
	if end.entries == 0 {
		return nil, refuse(ErrArchiveEmpty, "look at the job that uploaded it: it measured nothing, or looked in another folder", "there is no file in it")
	}
	list := make([]byte, end.size)
	if err := readFull(r, list, end.offset); err != nil {
		return nil, err
	}
	d := &directory{offset: end.offset, entries: make([]entry, 0, end.entries)}
	return d, d.parse(list, end.entries, o)
}

func (d *directory) parse(list []byte, count int, o *prepared) error {
	known := newNames()
	var claimed int64
	for range count {
		e, rest, err := parseCentral(list)
		if err != nil {
			return err
		}
		list = rest
		e.path = o.retained(e.name)
		if err := known.add(e.path, e.dir); err != nil {
			return err
		}
		claimed += e.size
		if err := checkClaims(&e, claimed, o.limits); err != nil {
			return err
		}
		d.entries = append(d.entries, e)
	}
	if len(list) != 0 {
		return refuse(ErrArchiveDamaged, hintForged, "its list of entries goes on after the %d that it counts", count)
	}
	return nil
}

// checkClaims refuses early what could only be refused later.
func checkClaims(e *entry, total int64, limits Limits) error {
	switch {
	case e.size > limits.EntryBytes:
		return refuse(ErrArchiveTooLarge, "upload documents and logs as separate artifacts",
			"%q is %d bytes unpacked and may be %d", e.name, e.size, limits.EntryBytes)
	case total > limits.TotalBytes:
		return refuse(ErrArchiveTooLarge, "upload documents and logs as separate artifacts",
			"it is more than %d bytes unpacked", limits.TotalBytes)
	case isBomb(e.size, e.packed, limits.Ratio):
		return bomb(e, limits.Ratio)
	}
	return nil
}

// parseCentral reads one record of the list and gives what follows it.
func parseCentral(list []byte) (entry, []byte, error) {
	if len(list) < centralBytes || binary.LittleEndian.Uint32(list) != signatureCentral {
		return entry{}, nil, refuse(ErrArchiveDamaged, hintDownload, "its list of entries ends early or is overwritten")
	}
	e := entry{
		flags:  binary.LittleEndian.Uint16(list[8:]),
		method: binary.LittleEndian.Uint16(list[10:]),
		crc:    binary.LittleEndian.Uint32(list[16:]),
		packed: int64(binary.LittleEndian.Uint32(list[20:])),
		size:   int64(binary.LittleEndian.Uint32(list[24:])),
		offset: int64(binary.LittleEndian.Uint32(list[42:])),
	}
	nameLength := int(binary.LittleEndian.Uint16(list[28:]))
	extraLength := int(binary.LittleEndian.Uint16(list[30:]))
	commentLength := int(binary.LittleEndian.Uint16(list[32:]))
	disk := binary.LittleEndian.Uint16(list[34:])
	attributes := binary.LittleEndian.Uint32(list[38:])

	rest := list[centralBytes:]
	if len(rest) < nameLength+extraLength+commentLength {
		return entry{}, nil, refuse(ErrArchiveDamaged, hintDownload, "its list of entries ends early")
	}
	e.name = string(rest[:nameLength])
	extra := rest[nameLength : nameLength+extraLength]
	if err := e.check(disk, extra); err != nil {
		return entry{}, nil, err
	}
	if err := e.checkType(attributes); err != nil {
		return entry{}, nil, err
	}
	return e, rest[nameLength+extraLength+commentLength:], nil
}

// check refuses names and features that are not read here.
func (e *entry) check(disk uint16, extra []byte) error {
	written := e.name
	e.name, e.dir = strings.CutSuffix(written, "/")
	if why := unsafeName(e.name); why != "" {
		return refuse(ErrArchiveName, "entries must have plain relative paths in UTF-8 with forward slashes; pack the files again", "the name %+q %s", excerpt(written), why)
	}
	switch {
	case e.flags&flagUTF8 == 0 && !isASCII(e.name):
		return refuse(ErrArchiveName, "some readers take it for another name; pack the files with a tool that declares UTF-8, or give them ASCII names", "the name %+q is not declared as UTF-8", excerpt(written))
	case e.flags&(flagEncrypted|flagStrong|flagMasked) != 0:
		return refuse(ErrArchiveEncrypted, hintRepack, "%q", e.name)
	case e.flags&flagPatch != 0:
		return refuse(ErrArchiveUnsupported, hintRepack, "%q is patch data", e.name)
	case e.method != methodStore && e.method != methodDeflate:
		return refuse(ErrArchiveUnsupported, hintRepack, "%q is compressed by method %d", e.name, e.method)
	case disk == sentinel16, e.packed == sentinel32, e.size == sentinel32, e.offset == sentinel32:
		return refuse(ErrArchiveZip64, hintRepack, "%q has its sizes elsewhere", e.name)
	case disk != 0:
		return refuse(ErrArchiveUnsupported, hintRepack, "%q is on another disk", e.name)
	case e.method == methodStore && e.packed != e.size:
		return refuse(ErrArchiveDamaged, hintForged, "%q is stored as it is, in %d bytes of %d", e.name, e.packed, e.size)
	case e.dir && e.size != 0:
		return refuse(ErrArchiveDamaged, hintForged, "the directory %q has contents", e.name)
	}
	return e.checkExtra(extra)
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
		if len(extra) < 4 {
			return refuse(ErrArchiveDamaged, hintForged, "the extra field of %q ends early", e.name)
		}
		id, length := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if len(extra) < 4+length {
			return refuse(ErrArchiveDamaged, hintForged, "the extra field of %q ends early", e.name)
		}
		value := extra[4 : 4+length]
		switch {
		case id == extraZip64:
			return refuse(ErrArchiveZip64, hintRepack, "%q", e.name)
		case id == extraUnicodePath && !e.sameUnicodePath(value):
			return refuse(ErrArchiveName, hintForged, "%q has another name in its extra field", e.name)
		}
		extra = extra[4+length:]
	}
	return nil
}

// sameUnicodePath reports whether a unicode path field (version 1, the name's
// checksum, a name) repeats the entry's name.
func (e *entry) sameUnicodePath(value []byte) bool {
	written := e.name
	if e.dir {
		written += "/"
	}
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
// only. Whoever made the archive, a reader may believe the Unix mode.
func (e *entry) checkType(attributes uint32) error {
	switch mode := attributes >> 16 & modeType; {
	case mode != 0 && mode != modeRegular && mode != modeDirectory:
		return refuse(ErrArchiveSpecial, "upload the files themselves, not links to them", "%q has the file type %#o", e.name, mode)
	case mode == modeRegular && e.dir, mode == modeDirectory && !e.dir, attributes&dosDirectory != 0 && !e.dir:
		return refuse(ErrArchiveSpecial, hintForged, "%q is a directory by its name or by its mode, not by both", e.name)
	}
	return nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// maxExcerptBytes is how much of a hostile name a sentence repeats.
const maxExcerptBytes = 128

func excerpt(name string) string { return name[:min(len(name), maxExcerptBytes)] }

// readFull reads len(p) bytes at an offset that the caller has checked.
func readFull(r io.ReaderAt, p []byte, offset int64) error {
	if n, err := r.ReadAt(p, offset); n != len(p) {
		return unreadable(err)
	}
	return nil
}
