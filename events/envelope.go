package events

import (
	"fmt"
	"unicode/utf8"

	"github.com/ledgerd/ledgerd/domain"
)

// Headers of an event: CloudEvents 1.0 in the NATS binding's binary mode.
const (
	HeaderSpecVersion = "ce-specversion"
	HeaderID          = "ce-id"
	HeaderSource      = "ce-source"
	HeaderType        = "ce-type"
	HeaderTime        = "ce-time"
	HeaderContentType = "content-type"
	// HeaderMsgID holds the ce-id again: the server takes a publication with
	// the same one for a retry.
	HeaderMsgID = "Nats-Msg-Id"
)

const (
	specVersion = "1.0"
	contentType = "application/json"
)

// Limits of an arrival.
const (
	// MaxArrivalBytes bounds an arrival's body.
	MaxArrivalBytes = 8 << 20
	// MaxHeaderBytes bounds a message's headers, as JetStream does: it keeps
	// their length in 16 bits.
	MaxHeaderBytes = 64<<10 - 1
	// MaxIDBytes bounds ce-id, so that a record holds it whole.
	MaxIDBytes = domain.MaxStringBytes
)

// ArrivalType is the ce-type of an arrival of a kind.
func ArrivalType(kind domain.Kind) string { return "ledgerd.arrival." + string(kind) + ".v1" }

// malformed is a refusal of what cannot be read. Its texts are part of
// records: they hold nothing that another version of a library would word
// otherwise.
func malformed(field, format string, args ...any) *domain.Refusal {
	return &domain.Refusal{Reason: domain.ReasonArrivalMalformed, Field: field, Message: fmt.Sprintf(format, args...)}
}

// envelopeRules are the headers that an arrival must have, and what is wrong
// with a value for them, "" when nothing is.
var envelopeRules = []struct {
	name  string
	wrong func(value string, kind domain.Kind) string
}{
	{HeaderSpecVersion, func(value string, _ domain.Kind) string { return unless(value, specVersion) }},
	{HeaderID, func(value string, _ domain.Kind) string { return wrongID(value) }},
	{HeaderSource, func(value string, _ domain.Kind) string { return wrongSource(value) }},
	{HeaderType, func(value string, kind domain.Kind) string { return unless(value, ArrivalType(kind)) }},
	{HeaderTime, func(value string, _ domain.Kind) string { return wrongTime(value) }},
	{HeaderContentType, func(value string, _ domain.Kind) string { return unless(value, contentType) }},
}

// checkEnvelope checks an arrival's headers. A refusal's field is the header's
// name.
func checkEnvelope(header Header, kind domain.Kind) *domain.Refusal {
	for i := range envelopeRules {
		rule := &envelopeRules[i]
		value, refusal := onlyValue(header, rule.name)
		if refusal != nil {
			return refusal
		}
		if wrong := rule.wrong(value, kind); wrong != "" {
			return malformed(rule.name, "the header %s %s", rule.name, wrong)
		}
	}
	msgID, refusal := onlyValue(header, HeaderMsgID)
	if refusal != nil {
		return refusal
	}
	if wrong := unless(msgID, header.Get(HeaderID)); wrong != "" {
		return malformed(HeaderMsgID, "the header %s must be the ce-id: it %s", HeaderMsgID, wrong)
	}
	return nil
}

// onlyValue gives the value of a header that must come exactly once.
func onlyValue(header Header, name string) (string, *domain.Refusal) {
	values := header[name]
	switch {
	case len(values) == 0:
		return "", malformed(name, "the header %s is missing", name)
	case len(values) > 1:
		return "", malformed(name, "the header %s comes %d times and may come once", name, len(values))
	case values[0] == "":
		return "", malformed(name, "the header %s is empty", name)
	}
	return values[0], nil
}

func unless(value, want string) string {
	if value == want {
		return ""
	}
	return fmt.Sprintf("must be %s and is %s", excerpt(want), excerpt(value))
}

func wrongID(id string) string {
	switch {
	case len(id) > MaxIDBytes:
		return fmt.Sprintf("is %d bytes long and may be %d", len(id), MaxIDBytes)
	case !utf8.ValidString(id):
		return "is not UTF-8"
	}
	return ""
}

func wrongSource(source string) string {
	if isURIReference(source) {
		return ""
	}
	return fmt.Sprintf("must be a URI reference and is %s", excerpt(source))
}

func wrongTime(text string) string {
	if isRFC3339(text) {
		return ""
	}
	return fmt.Sprintf("must be a time as in RFC 3339 and is %s", excerpt(text))
}

// maxExcerptBytes is how much of a wrong value a sentence repeats.
const maxExcerptBytes = 64

// excerpt quotes the beginning of a producer's text for a sentence: in ASCII,
// since what else is printable depends on the release of Go.
func excerpt(s string) string {
	if len(s) <= maxExcerptBytes {
		return fmt.Sprintf("%+q", s)
	}
	end := maxExcerptBytes
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%+q…", s[:end])
}
