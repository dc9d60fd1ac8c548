package archive

import (
	"context"
	"encoding/binary"
	"io"
	"slices"
)

// locate reads the header before each entry's data. It must say what the list
// says, and entries must fill the archive without sharing or leaving a byte:
// what no entry owns is where a second archive hides.
func (d *directory) locate(ctx context.Context, r io.ReaderAt) error {
	order := make([]*entry, len(d.entries))
	for i := range d.entries {
		order[i] = &d.entries[i]
		if order[i].offset+localBytes > d.offset {
			return refuse(ErrArchiveDamaged, hintDownload, "the header of %q is beyond the entries", order[i].name)
		}
	}
	slices.SortStableFunc(order, func(a, b *entry) int { return int(min(max(a.offset-b.offset, -1), 1)) })

	if first := order[0]; first.offset != 0 {
		return refuse(ErrArchiveGarbage, hintForged, "%d bytes stand before its first entry", first.offset)
	}
	for i, e := range order {
		if err := ctx.Err(); err != nil {
			return err
		}
		limit, next := d.offset, "its list of entries"
		if i+1 < len(order) {
			limit, next = order[i+1].offset, order[i+1].name
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
		return refuse(ErrArchiveDamaged, hintDownload, "%q has no header where it should begin", e.name)
	}
	nameLength := int64(binary.LittleEndian.Uint16(header[26:]))
	extraLength := int64(binary.LittleEndian.Uint16(header[28:]))
	e.data = e.offset + localBytes + nameLength + extraLength
	if e.data+e.packed > limit {
		if e.data+e.packed > end {
			return refuse(ErrArchiveDamaged, hintDownload, "the data of %q go beyond the entries", e.name)
		}
		return refuse(ErrArchiveOverlap, hintForged, "%q and %q", e.name, next)
	}
	text := make([]byte, nameLength+extraLength)
	if err := readFull(r, text, e.offset+localBytes); err != nil {
		return err
	}
	if err := e.checkLocal(header[:], string(text[:nameLength])); err != nil {
		return err
	}
	if err := e.checkExtra(text[nameLength:]); err != nil {
		return err
	}
	return e.checkGap(r, limit, next)
}

// checkLocal compares the header with the list's record.
func (e *entry) checkLocal(header []byte, name string) error {
	written := e.name
	if e.dir {
		written += "/"
	}
	flags := binary.LittleEndian.Uint16(header[6:])
	if name != written || flags != e.flags || binary.LittleEndian.Uint16(header[8:]) != e.method {
		return refuse(ErrArchiveDamaged, hintForged, "%q has another name, method or flags in its header (%+q)", e.name, excerpt(name))
	}
	crc := binary.LittleEndian.Uint32(header[14:])
	packed := binary.LittleEndian.Uint32(header[18:])
	size := binary.LittleEndian.Uint32(header[22:])
	if packed == sentinel32 || size == sentinel32 {
		return refuse(ErrArchiveZip64, hintRepack, "%q has its sizes elsewhere", e.name)
	}
	// Whoever writes them behind the data leaves here what it does not know yet.
	later := e.flags&flagDescriptor != 0
	same := func(here, listed int64) bool { return here == listed || later && here == 0 }
	if !same(int64(crc), int64(e.crc)) || !same(int64(packed), e.packed) || !same(int64(size), e.size) {
		return refuse(ErrArchiveDamaged, hintForged, "%q has other sizes or another checksum in its header", e.name)
	}
	return nil
}

// Sizes of what may follow an entry's data: checksum and sizes, with or
// without a signature, in 4 or (zip64) 8 bytes.
const (
	descriptorBytes         = 12
	signedDescriptorBytes   = 16
	descriptor64Bytes       = 20
	signedDescriptor64Bytes = 24
)

// checkGap holds that what follows the data is the entry's descriptor or
// nothing.
func (e *entry) checkGap(r io.ReaderAt, limit int64, next string) error {
	gap := limit - e.data - e.packed
	described := e.flags&flagDescriptor != 0
	switch {
	case !described && gap == 0:
		return nil
	case described && (gap == descriptor64Bytes || gap == signedDescriptor64Bytes):
		return refuse(ErrArchiveZip64, hintRepack, "%q has long sizes behind its data", e.name)
	case described && gap < descriptorBytes:
		return refuse(ErrArchiveOverlap, hintForged, "the sizes behind %q and %q", e.name, next)
	case !described || gap != descriptorBytes && gap != signedDescriptorBytes:
		return refuse(ErrArchiveGarbage, hintForged, "%d bytes stand between %q and %q", gap, e.name, next)
	}
	descriptor := make([]byte, gap)
	if err := readFull(r, descriptor, e.data+e.packed); err != nil {
		return err
	}
	fields := descriptor[gap-descriptorBytes:]
	if gap == signedDescriptorBytes && binary.LittleEndian.Uint32(descriptor) != signatureDescriptor ||
		binary.LittleEndian.Uint32(fields) != e.crc ||
		int64(binary.LittleEndian.Uint32(fields[4:])) != e.packed ||
		int64(binary.LittleEndian.Uint32(fields[8:])) != e.size {
		return refuse(ErrArchiveDamaged, hintForged, "%q has other sizes or another checksum behind its data", e.name)
	}
	return nil
}
