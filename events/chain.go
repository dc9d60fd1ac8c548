package events

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// GenesisHash is what the first record holds as the hash of the one before it.
var GenesisHash = strings.Repeat("0", 2*sha256.Size)

// RecordHash is the lower hex SHA-256 of a record's bytes, which the next
// record holds as prev.
func RecordHash(record []byte) string {
	sum := sha256.Sum256(record)
	return hex.EncodeToString(sum[:])
}
