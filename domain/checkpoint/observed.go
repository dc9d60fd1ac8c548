package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// Observed says what the whole checkpoint was that a slice came from.
type Observed struct {
	Records int64  `json:"records"` // of whatever key
	Bytes   int64  `json:"bytes"`   // of UTF-8 in event:<n> and command:<n> records, keys not counted
	SHA256  string `json:"sha256"`  // lower hex, see Observe
}

// Observe counts and digests every record of a checkpoint. The digest is
// SHA-256 over the records in their order, each as its key and then its text,
// each of those as its length in bytes in decimal, a colon, and the bytes:
//
//	6:header14:{"schema":"…"}7:event:12:{}
func Observe(cp Checkpoint) Observed {
	digest := sha256.New()
	var buffer []byte
	observed := Observed{Records: int64(len(cp.Records))}
	for _, record := range cp.Records {
		if kindOf(record.Key) != otherKey {
			observed.Bytes += int64(len(record.Text))
		}
		buffer = appendCounted(appendCounted(buffer[:0], record.Key), record.Text)
		digest.Write(buffer)
	}
	observed.SHA256 = hex.EncodeToString(digest.Sum(nil))
	return observed
}

func appendCounted(buffer []byte, s string) []byte {
	buffer = strconv.AppendInt(buffer, int64(len(s)), 10)
	return append(append(buffer, ':'), s...)
}
