package events

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/ledgerd/ledgerd/domain"
)

// GenesisHash is what the first record holds as the hash of the one before it.
var GenesisHash = domain.GenesisHash

// RecordHash is the lower hex SHA-256 of a record's bytes, which the next
// record holds as prev.
func RecordHash(record []byte) string {
	sum := sha256.Sum256(record)
	return hex.EncodeToString(sum[:])
}
