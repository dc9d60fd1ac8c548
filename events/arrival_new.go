package events

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/cockroachdb/errors"
	"github.com/google/uuid"

	"github.com/ledgerd/ledgerd/domain"
)

// Errors of whoever makes an arrival.
var (
	// ErrTooLarge: the body is larger than a message carries.
	ErrTooLarge = errors.New("events: the arrival is too large")
	// ErrNoSubject: campaign or kind cannot be part of a subject.
	ErrNoSubject = errors.New("events: no subject for the arrival")
	// ErrHeader: id or source would not arrive as they are.
	ErrHeader = errors.New("events: no header for the arrival")
)

// NewArrival wraps a fact for the ARRIVALS stream. data is the kind's JSON and
// is carried as it is: bad data must reach the ledger to be refused.
//
// id is the publication's: new for each publication, the same when one is
// tried again, so that a lost acknowledgement doubles nothing. An empty one is
// made here (UUIDv7). source says who publishes, as a URI reference; at is
// when. Errors: ErrTooLarge, ErrNoSubject, ErrHeader.
func NewArrival(campaign string, kind domain.Kind, data []byte, id, source string, at time.Time) (Outgoing, error) {
	switch {
	case !domain.LegalCampaignID(campaign):
		return Outgoing{}, errors.WithHint(errors.Wrapf(ErrNoSubject, "campaign %q", campaign),
			"a campaign id is 1 to 100 letters, digits, - and _, and begins with a letter or digit")
	case !kind.Known():
		return Outgoing{}, errors.WithHintf(errors.Wrapf(ErrNoSubject, "kind %q", kind), "the kinds are %v", domain.Kinds())
	case len(data) > MaxArrivalBytes:
		return Outgoing{}, errors.WithHint(errors.Wrapf(ErrTooLarge, "%d bytes, %d are carried", len(data), MaxArrivalBytes),
			"an arrival is carried whole or not at all: keep large output out of the documents")
	}
	if id == "" {
		id = newID()
	}
	if wrong := unsendable(id, wrongID); wrong != "" {
		return Outgoing{}, errors.WithHint(errors.Wrapf(ErrHeader, "the id %s %s", excerpt(id), wrong), "leave the id out to have one made")
	}
	if wrong := unsendable(source, wrongSource); wrong != "" {
		return Outgoing{}, errors.WithHint(errors.Wrapf(ErrHeader, "the source %s %s", excerpt(source), wrong), "a source is a URI reference, like https://example.org/ci or /release-bot")
	}
	return Outgoing{
		Subject: ArrivalSubject(campaign, kind),
		Header: Header{
			HeaderSpecVersion: {specVersion},
			HeaderID:          {id},
			HeaderSource:      {source},
			HeaderType:        {ArrivalType(kind)},
			HeaderTime:        {at.UTC().Format(time.RFC3339Nano)},
			HeaderContentType: {contentType},
			HeaderMsgID:       {id},
		},
		Data: data,
	}, nil
}

// newID makes a ce-id that sorts by time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// unsendable says what keeps a value from arriving as it is: the server cuts
// space off at both ends.
func unsendable(value string, wrong func(string) string) string {
	switch {
	case value == "":
		return "is empty"
	case strings.TrimSpace(value) != value || strings.ContainsFunc(value, unicode.IsControl):
		return "begins or ends with space, or has a control character"
	case len(value) > MaxIDBytes:
		return fmt.Sprintf("is %d bytes long and may be %d", len(value), MaxIDBytes)
	}
	return wrong(value)
}
