package archive

import (
	"cmp"
	"encoding/binary"
	"io"
	"slices"
)

// locate reads the header before each entry's data. It must say what the list
// says, and entries must fill the archive without sharing or leaving a byte:
// what no entry owns is where a second archive hides.
func (d *directory) locate(r io.ReaderAt) error {
	order := make([]*entry, len(d.entries))
	for i := range d.entries {
		order[i] = &d.entries[i]
		if order[i].offset+localBytes > d.offset {
			return refuse(ErrArchiveDamaged, hintDownload, "the header of %q is beyond the entries", order[i].Name)
		}
	}
	slices.SortStableFunc(order, func(a, b *entry) int { return cmp.Compare(a.offset, b.offset) })

	if first := order[0]; first.offset != 0 {
		return refuse(ErrArchiveGarbage, hintForged, "%d bytes stand before its first entry", first.offset)
	}
	for i, e := range order {
		limit, next := d.offset, "its list of entries"
		if i+1 < len(order) {
			limit, next = order[i+1].offset, order[i+1].Name
		}
		if err := e.readLocal(r, limit, d.offset, next); err != nil {
			return err
		}
	}
	return nil
}

// readLocal reads the header of an entry whose bytes end at limit.
func (e *entry) readLocal(r io.ReaderAt, limit, end int64, next string) error {
	var header [localBytes]byte
	if err := readFull(r, header[:], e.offset); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(header[:]) != signatureLocal {
		return refuse(ErrArchiveDamaged, hintDownload, "%q has no header where it should begin", e.Name)
	}
	nameLength := int64(binary.LittleEndian.Uint16(header[26:]))
	text := make([]byte, nameLength+int64(binary.LittleEndian.Uint16(header[28:])))
	dataEnd := e.offset + localBytes + int64(len(text)) + e.packed()
	switch {
	case dataEnd > end:
		return refuse(ErrArchiveDamaged, hintDownload, "the data of %q go beyond the entries", e.Name)
	case dataEnd > limit:
		return refuse(ErrArchiveOverlap, hintForged, "%q and %q", e.Name, next)
	}
	if err := readFull(r, text, e.offset+localBytes); err != nil {
		return err
	}
	if err := e.checkLocal(header[:], string(text[:nameLength])); err != nil {
		return err
	}
	if err := e.checkExtra(text[nameLength:]); err != nil {
		return err
	}
	return e.checkGap(r, dataEnd, limit, next)
}

// checkLocal compares the header with the list's record.
func (e *entry) checkLocal(header []byte, name string) error {
	flags, method := binary.LittleEndian.Uint16(header[6:]), binary.LittleEndian.Uint16(header[8:])
	if name != e.written() || flags != e.Flags || method != e.Method {
		return refuse(ErrArchiveDamaged, hintForged, "%q has another name, method or flags in its header (%+q)", e.Name, excerpt(name))
	}
	claims := header[14:26]
	if binary.LittleEndian.Uint32(claims[4:]) == sentinel32 || binary.LittleEndian.Uint32(claims[8:]) == sentinel32 {
		return refuse(ErrArchiveZip64, hintRepack, "%q has its sizes elsewhere", e.Name)
	}
	// Whoever writes them behind the data leaves 0 here for what it does not know yet.
	if !e.claims(claims, e.Flags&flagDescriptor != 0) {
		return refuse(ErrArchiveDamaged, hintForged, "%q has other sizes or another checksum in its header", e.Name)
	}
	return nil
}

// claims reports whether checksum and sizes, as a zip file has them side by
// side, are the list's.
func (e *entry) claims(fields []byte, orZero bool) bool {
	for i, listed := range []uint32{e.CRC32, uint32(e.packed()), uint32(e.size())} {
		here := binary.LittleEndian.Uint32(fields[4*i:])
		if here != listed && !(orZero && here == 0) {
			return false
		}
	}
	return true
}

// Sizes of what may follow an entry's data: checksum and sizes, with or
// without a signature, in 4 or (zip64) 8 bytes.
const (
	descriptorBytes         = 12
	signedDescriptorBytes   = 16
	descriptor64Bytes       = 20
	signedDescriptor64Bytes = 24
)

// checkGap holds that between the data's end and limit is the entry's
// descriptor or nothing. archive/zip compares a descriptor's checksum only.
func (e *entry) checkGap(r io.ReaderAt, dataEnd, limit int64, next string) error {
	gap := limit - dataEnd
	described := e.Flags&flagDescriptor != 0
	switch {
	case !described && gap == 0:
		return nil
	case described && (gap == descriptor64Bytes || gap == signedDescriptor64Bytes):
		return refuse(ErrArchiveZip64, hintRepack, "%q has long sizes behind its data", e.Name)
	case described && gap < descriptorBytes:
		return refuse(ErrArchiveOverlap, hintForged, "the sizes behind %q and %q", e.Name, next)
	case !described || gap != descriptorBytes && gap != signedDescriptorBytes:
		return refuse(ErrArchiveGarbage, hintForged, "%d bytes stand between %q and %q", gap, e.Name, next)
	}
	descriptor := make([]byte, gap)
	if err := readFull(r, descriptor, dataEnd); err != nil {
		return err
	}
	signed := gap == descriptorBytes || binary.LittleEndian.Uint32(descriptor) == signatureDescriptor
	if !signed || !e.claims(descriptor[gap-descriptorBytes:], false) {
		return refuse(ErrArchiveDamaged, hintForged, "%q has other sizes or another checksum behind its data", e.Name)
	}
	return nil
}
