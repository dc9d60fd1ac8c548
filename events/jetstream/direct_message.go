package jetstream

import (
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/ledgerd/ledgerd/events"
)

// Words of the server in an answer to a batched get.
const (
	statusEnd       = "204"
	statusNoMessage = "404"
)

// directHeaders are what the server adds to the headers of a message that it
// gives directly, behind the message's own.
var directHeaders = []string{
	natsjs.StreamHeader, natsjs.SubjectHeader, natsjs.SequenceHeader, natsjs.TimeStampHeaer,
	headerPending, natsjs.LastSequenceHeader,
}

const headerPending = "Nats-Num-Pending"

// direct is one message of an answer.
type direct struct {
	message *events.Message // nil for the server's own words
	status  string          // of the server's own words
	after   uint64          // sequence of the message before it in the answer, 0 for the first
}

// readDirect reads one message of an answer. A producer may have written any
// of these headers, a status too: the server's are the last ones, provided
// that all of them were read. Where that is not sure there is neither a
// message nor a status.
func readDirect(m *nats.Msg, stream string) direct {
	after, _ := strconv.ParseUint(last(m.Header, natsjs.LastSequenceHeader), 10, 64)
	size, ok := readSize(m.Header, stream)
	switch sent := m.Size() - len(m.Subject) - len(m.Reply) - len(m.Data); {
	case !ok:
		return direct{}
	case inlined(m.Header) > 0 && size-inlined(m.Header) == sent:
		return direct{status: m.Header.Get(headerStatus), after: after}
	case size != sent:
		return direct{}
	}
	subject := last(m.Header, natsjs.SubjectHeader)
	sequence, err := strconv.ParseUint(last(m.Header, natsjs.SequenceHeader), 10, 64)
	if err != nil {
		return direct{}
	}
	stored, err := time.Parse(time.RFC3339Nano, last(m.Header, natsjs.TimeStampHeaer))
	if err != nil {
		return direct{}
	}
	for _, name := range directHeaders {
		dropLast(m.Header, name)
	}
	return direct{after: after, message: &events.Message{
		Seq: sequence, Time: stored.UTC(), Subject: subject, Header: storedHeader(m.Header), Data: m.Data,
	}}
}

func last(header nats.Header, name string) string {
	values := header[name]
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

func dropLast(header nats.Header, name string) {
	switch values := header[name]; len(values) {
	case 0, 1:
		delete(header, name)
	default:
		header[name] = values[:len(values)-1]
	}
}

// readSize is how many bytes the headers take that were read, each on a line
// of its own, and reports false when a line of the server's ran into one of the
// producer's.
//
// The server appends its lines two bytes before the end of what the producer
// sent. When that does not end in an empty line, the first of them runs into
// the line before it. When it goes on behind an empty line, all of them stand
// behind it and are not read, while the producer's own may pass for them; then
// more was sent than was read.
func readSize(header nats.Header, stream string) (size int, ok bool) {
	size = len("NATS/1.0\r\n\r\n")
	for name, values := range header {
		for _, value := range values {
			if name != natsjs.StreamHeader && strings.HasSuffix(name, natsjs.StreamHeader) ||
				strings.HasSuffix(value, natsjs.StreamHeader+": "+stream) {
				return 0, false
			}
			size += len(name) + len(": ") + len(value) + len("\r\n")
		}
	}
	return size, true
}

// inlined is how many bytes less a status takes on the first line, where only
// the server's own words have it: the stream takes it from there when it
// stores a message. 0 without a status.
func inlined(header nats.Header) int {
	status, description := header[headerStatus], header[headerDescription]
	switch {
	case len(status) != 1:
		return 0
	case len(description) != 1:
		return len(headerStatus+": \r\n") - len(" ")
	default:
		return len(headerStatus+": \r\n"+headerDescription+": \r\n") - len("  ")
	}
}
