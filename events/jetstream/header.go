package jetstream

import (
	"maps"
	"slices"

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

// EncodeHeader prints headers as DecodeHeader reads them, names in their order.
// No headers are no bytes.
func EncodeHeader(header events.Header) []byte {
	if len(header) == 0 {
		return nil
	}
	out := []byte("NATS/1.0\r\n")
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			out = append(out, name+":"+value+"\r\n"...) // no longer than it came
		}
	}
	return append(out, "\r\n"...)
}
