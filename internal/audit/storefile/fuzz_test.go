package storefile

import (
	"encoding/binary"
	"testing"
)

// FuzzRecord reads any bytes as a block: it ends, within them, and what has the
// right hash is the only thing that counts.
func FuzzRecord(f *testing.F) {
	record := func(length uint32, subject uint16, rest string) []byte {
		b := binary.LittleEndian.AppendUint32(nil, length)
		b = append(b, make([]byte, 16)...)
		b = binary.LittleEndian.AppendUint16(b, subject)
		b = append(b, rest...)
		hash := blockHasher("LEDGER", 1)
		for _, part := range [][]byte{b[4:20], b[22:]} {
			_, _ = hash.Write(part)
		}
		return hash.Sum(b)
	}
	f.Add(record(22+5+8, 1, "abody"))
	f.Add(record(22+5+8|headerBit, 1, "a\x02\x00\x00\x00"))
	f.Add(record(1<<30, 60000, ""))
	f.Fuzz(func(t *testing.T, block []byte) {
		hash := blockHasher("LEDGER", 1)
		for len(block) > 0 {
			r, size, err := readRecord(block, hash)
			if size == 0 {
				if err == nil {
					t.Error("no length and no error")
				}
				return
			}
			if size > len(block) || err == nil && len(r.message.Subject)+len(r.message.Data) > size {
				t.Fatalf("a record of %d bytes in %d", size, len(block))
			}
			block = block[size:]
		}
	})
}

// FuzzIndex reads any bytes as numbers.
func FuzzIndex(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0x80})
	f.Fuzz(func(t *testing.T, raw []byte) {
		v := varints{rest: raw}
		for range len(raw) + 1 {
			v.unsigned()
			v.signed()
		}
		if !v.short {
			t.Error("more numbers than bytes")
		}
	})
}
