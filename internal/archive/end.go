package archive

import (
	"bytes"
	"encoding/binary"
	"io"
)

// Signatures of a zip file's records, as they are stored (little endian).
const (
	signatureLocal      = 0x04034b50
	signatureCentral    = 0x02014b50
	signatureEnd        = 0x06054b50
	signatureLocator64  = 0x07064b50
	signatureDescriptor = 0x08074b50
)

// Sizes of the records at a zip file's end in bytes.
const (
	endBytes       = 22 // without its comment
	locator64Bytes = 20
	maxComment     = 1<<16 - 1
)

// endRecord says where the list of entries is.
type endRecord struct {
	entries int
	offset  int64
	size    int64
}

// readEnd finds the record at the archive's end. There must be exactly one
// that ends with the file: where a reader looks first would decide otherwise
// which archive it sees. archive/zip takes the last, and bytes behind it, and
// tells nothing of what it found.
func readEnd(r io.ReaderAt, size int64) (endRecord, error) {
	var head [4]byte
	if err := readFull(r, head[:min(size, int64(len(head)))], 0); err != nil {
		return endRecord{}, err
	}
	tail := make([]byte, min(size, endBytes+maxComment))
	if err := readFull(r, tail, size-int64(len(tail))); err != nil {
		return endRecord{}, err
	}
	at, err := findEnd(tail, head)
	if err != nil {
		return endRecord{}, err
	}
	if at >= locator64Bytes && binary.LittleEndian.Uint32(tail[at-locator64Bytes:]) == signatureLocator64 {
		return endRecord{}, refuse(ErrArchiveZip64, hintRepack, "it has a zip64 end record")
	}
	end, err := parseEnd(tail[at:])
	if err != nil {
		return endRecord{}, err
	}
	return end, checkPlace(end, head, size-int64(len(tail))+int64(at))
}

// findEnd gives the offset of the end record in the archive's last bytes.
func findEnd(tail []byte, head [4]byte) (int, error) {
	found, seen := -1, false
	signature := binary.LittleEndian.AppendUint32(nil, signatureEnd)
	for at := bytes.LastIndex(tail, signature); at >= 0; at = bytes.LastIndex(tail[:at], signature) {
		seen = true
		if len(tail)-at < endBytes || at+endBytes+int(binary.LittleEndian.Uint16(tail[at+20:])) != len(tail) {
			continue
		}
		if found >= 0 {
			return 0, refuse(ErrArchiveGarbage, hintForged, "it has two ends, one within the other's comment")
		}
		found = at
	}
	switch {
	case found >= 0:
		return found, nil
	case seen:
		return 0, refuse(ErrArchiveGarbage, hintDownload, "bytes follow its end, or the end is cut")
	case head[0] == 'P' && head[1] == 'K':
		return 0, refuse(ErrArchiveTruncated, hintDownload, "the list of entries at its end is missing")
	default:
		return 0, refuse(ErrArchiveNotZip, "an uploader can store a single raw file: upload the results' folder as an archive", "it begins with %+q", head[:])
	}
}

func parseEnd(record []byte) (endRecord, error) {
	disk := binary.LittleEndian.Uint16(record[4:])
	listDisk := binary.LittleEndian.Uint16(record[6:])
	here := binary.LittleEndian.Uint16(record[8:])
	total := binary.LittleEndian.Uint16(record[10:])
	end := endRecord{
		entries: int(total),
		size:    int64(binary.LittleEndian.Uint32(record[12:])),
		offset:  int64(binary.LittleEndian.Uint32(record[16:])),
	}
	switch {
	case disk == sentinel16, listDisk == sentinel16, here == sentinel16, total == sentinel16, end.size == sentinel32, end.offset == sentinel32:
		return endRecord{}, refuse(ErrArchiveZip64, hintRepack, "its end record points to another one")
	case disk != 0 || listDisk != 0 || here != total:
		return endRecord{}, refuse(ErrArchiveUnsupported, hintRepack, "it is a part of a split archive")
	}
	return end, nil
}

// checkPlace holds that the list ends where the end record begins, and that
// the archive begins with its first record.
func checkPlace(end endRecord, head [4]byte, at int64) error {
	switch begin := binary.LittleEndian.Uint32(head[:]); {
	case begin != signatureLocal && begin != signatureEnd && begin != signatureCentral:
		return refuse(ErrArchiveGarbage, hintForged, "it begins with %+q and not with an entry", head[:])
	case end.offset+end.size > at:
		return refuse(ErrArchiveDamaged, hintDownload, "its list of entries should end at byte %d and the end record is at %d", end.offset+end.size, at)
	case end.offset+end.size < at:
		return refuse(ErrArchiveGarbage, hintForged, "%d bytes stand between entries and end that belong to neither", at-end.offset-end.size)
	}
	return nil
}
