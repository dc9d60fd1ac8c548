package jetstream

import (
	"github.com/nats-io/nats.go"

	"github.com/ledgerd/ledgerd/events"
)

// DecodeHeader reads a stored message's headers from the bytes that the server
// keeps, without those that only said how to store it. Headers that cannot be
// read are none, here as in every other way of reading: their producer wrote
// them, and gets a decision for it.
func DecodeHeader(raw []byte) events.Header {
	decoded, err := nats.DecodeHeadersMsg(raw)
	if err != nil {
		return nil
	}
	return storedHeader(decoded)
}
