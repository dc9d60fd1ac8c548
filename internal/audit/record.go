package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

// recordVersion reads the rule version at a record's beginning, without the
// rest. Bytes that begin otherwise are compared with what this program's own
// rules give.
func recordVersion(record []byte) int {
	rest, ok := bytes.CutPrefix(record, []byte(`{"v":`))
	digits, _, found := bytes.Cut(rest, []byte(","))
	v, err := strconv.Atoi(string(digits))
	if !ok || !found || err != nil {
		return domain.RuleVersion
	}
	return v
}

// recordPrev reads the hash that a record names. Bytes that name none are
// compared with a record that names the first one's.
func recordPrev(record []byte) string {
	_, rest, _ := bytes.Cut(record, []byte(`,"prev":"`))
	hash, _, _ := bytes.Cut(rest, []byte(`"`))
	if raw, err := hex.DecodeString(string(hash)); err != nil || len(raw) != sha256.Size {
		return events.GenesisHash
	}
	return strings.ToLower(string(hash))
}
