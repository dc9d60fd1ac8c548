package export

import (
	"encoding/base64"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
)

const (
	magic  = "export"
	format = 1

	// maxLineBytes bounds a line: the largest arrival, every byte of it
	// escaped, and its headers.
	maxLineBytes = 6*(events.MaxArrivalBytes+events.MaxHeaderBytes) + 64<<10
)

// line is any line.
type line struct {
	Ledgerd  string `json:"ledgerd,omitempty"` // the first line: what it is
	Format   int    `json:"format,omitzero"`
	Ledger   string `json:"ledger,omitempty"`
	Evidence bool   `json:"evidence,omitzero"`

	Arrival  *message `json:"arrival,omitempty"`
	Decision *message `json:"decision,omitempty"`

	End *end `json:"end,omitempty"`
}

// message is a stored message.
type message struct {
	Seq           uint64              `json:"seq"`
	Time          time.Time           `json:"time"`
	Subject       string              `json:"subject,omitempty"`
	SubjectBase64 string              `json:"subject_base64,omitempty"`
	Headers       map[string][]string `json:"headers,omitempty"`
	HeadersBase64 string              `json:"headers_base64,omitempty"`

	Record       jsontext.Value `json:"record,omitempty"`
	RecordBase64 string         `json:"record_base64,omitempty"`
	Body         *string        `json:"body,omitempty"`
	BodyBase64   string         `json:"body_base64,omitempty"`
}

// end is what the last line says of those before it.
type end struct {
	Arrivals  uint64 `json:"arrivals"`
	Decisions uint64 `json:"decisions"`
	SHA256    string `json:"sha256"`
}

// newMessage writes down everything of a message but its data.
func newMessage(m *events.Message) *message {
	out := &message{Seq: m.Seq, Time: m.Time.UTC()}
	if utf8.ValidString(m.Subject) {
		out.Subject = m.Subject
	} else {
		out.SubjectBase64 = base64.StdEncoding.EncodeToString([]byte(m.Subject))
	}
	if isText(m.Header) {
		out.Headers = m.Header
	} else {
		out.HeadersBase64 = base64.StdEncoding.EncodeToString(jetstream.EncodeHeader(m.Header))
	}
	return out
}

func newArrival(m *events.Message) *message {
	out := newMessage(m)
	if utf8.Valid(m.Data) {
		text := string(m.Data)
		out.Body = &text
	} else {
		out.BodyBase64 = base64.StdEncoding.EncodeToString(m.Data)
	}
	return out
}

func newDecision(m *events.Message) *message {
	out := newMessage(m)
	if _, err := events.DecodeCanonicalRecord(m.Data); err == nil { // then it is printed as it is
		out.Record = m.Data
	} else {
		out.RecordBase64 = base64.StdEncoding.EncodeToString(m.Data)
	}
	return out
}

func isText(header events.Header) bool {
	for name, values := range header {
		if !utf8.ValidString(name) {
			return false
		}
		for _, value := range values {
			if !utf8.ValidString(value) {
				return false
			}
		}
	}
	return true
}

// print gives a line's bytes.
func (l *line) print() ([]byte, error) {
	raw, err := json.Marshal(l, json.Deterministic(true))
	return append(raw, '\n'), errors.Wrap(err, "export: print a line")
}

// parse reads a line strictly: what was read must print the same.
func parse(raw []byte) (*line, error) {
	l := &line{}
	if err := json.Unmarshal(raw, l, json.RejectUnknownMembers(true)); err != nil {
		return nil, errors.Wrap(err, "it is no line of an export")
	}
	again, err := l.print()
	if err != nil || string(again) != string(raw) {
		return nil, errors.New("it is not written as an export writes it")
	}
	return l, nil
}

// read gives the message with its data.
func (m *message) read(text *string, raw []byte, encoded string) (*events.Message, error) {
	out := &events.Message{Seq: m.Seq, Time: m.Time.UTC(), Subject: m.Subject, Header: m.Headers, Data: raw}
	var err error
	if m.SubjectBase64 != "" {
		var subject []byte
		subject, err = base64.StdEncoding.DecodeString(m.SubjectBase64)
		out.Subject = string(subject)
	}
	if m.HeadersBase64 != "" && err == nil {
		var header []byte
		header, err = base64.StdEncoding.DecodeString(m.HeadersBase64)
		out.Header = jetstream.DecodeHeader(header)
	}
	switch {
	case err != nil:
	case text != nil:
		out.Data = []byte(*text)
	case encoded != "":
		out.Data, err = base64.StdEncoding.DecodeString(encoded)
	}
	return out, errors.Wrap(err, "its base64")
}
