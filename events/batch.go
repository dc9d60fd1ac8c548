package events

import (
	"strings"

	"github.com/cockroachdb/errors"
)

// Limits of an append, which every Log keeps.
const (
	MaxBatchMessages = 1000    // the server's default limit for one atomic batch
	MaxBatchBytes    = 8 << 20 // of bodies; bounds what an append holds in memory

	// MaxAppendHeaderBytes bounds one message's headers: what JetStream stores
	// less room for those that make it part of a batch.
	MaxAppendHeaderBytes = MaxHeaderBytes - 512
)

// CheckBatch refuses a batch that no Log takes: empty, beyond a limit, or with
// a header that is the server's own. Every Log asks it before it appends.
// Error: ErrRefused.
func CheckBatch(batch []Outgoing) error {
	if len(batch) == 0 || len(batch) > MaxBatchMessages {
		return errors.Wrapf(ErrRefused, "a batch of %d messages, 1 to %d are stored together", len(batch), MaxBatchMessages)
	}
	total := 0
	for i := range batch {
		total += len(batch[i].Data)
		if wrong := wrongHeader(batch[i].Header); wrong != "" {
			return errors.Wrapf(ErrRefused, "message %d of the batch: %s", i+1, wrong)
		}
	}
	if total > MaxBatchBytes {
		return errors.Wrapf(ErrRefused, "a batch of %d bytes, %d are stored together", total, MaxBatchBytes)
	}
	return nil
}

// serverHeaders begins the names that mean something to the server: an
// expectation, a batch, an expiry. A message that is appended has none but a
// message id.
const serverHeaders = "Nats-"

// wrongHeader says what keeps a header from being appended, "" when nothing
// does.
func wrongHeader(header Header) string {
	size := len("NATS/1.0\r\n\r\n")
	for name, values := range header {
		switch {
		case strings.HasPrefix(name, serverHeaders) && name != HeaderMsgID:
			return "the header " + name + " is the server's own"
		case name == "" || strings.ContainsAny(name, ": \r\n"):
			return "a header's name holds a colon, a space or a line break, or is empty"
		}
		for _, value := range values {
			if strings.ContainsAny(value, "\r\n") {
				return "the header " + name + " has a line break"
			}
			size += len(name) + len(": ") + len(value) + len("\r\n")
		}
	}
	if size > MaxAppendHeaderBytes {
		return "its headers are larger than a stream stores"
	}
	return ""
}
