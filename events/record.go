package events

import (
	"reflect"
	"strconv"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ledgerd/ledgerd/domain"
)

// Limits of a record. No arrival can make a decision beyond them, since every
// string that a record repeats is cut.
const (
	// MaxRecordBytes bounds every record. Only an opened campaign comes near.
	MaxRecordBytes = 1 << 20
	// MaxOrdinaryRecordBytes bounds every record but an opened campaign's.
	MaxOrdinaryRecordBytes = 256 << 10
)

// Errors of the record codec.
var (
	// ErrRecordMalformed: the bytes are no record, or the decision is none
	// that a record can hold.
	ErrRecordMalformed = errors.New("events: malformed record")
	// ErrRecordTooLarge: the record is larger than its limit.
	ErrRecordTooLarge = errors.New("events: record is too large")
)

// recordTime prints times in UTC with nine fractional digits.
const recordTime = "2006-01-02T15:04:05.000000000Z"

// envelopeBytes is about what a record holds beside its data.
const envelopeBytes = 1024

// EncodeRecord prints a decision's canonical bytes: fields in [domain.Decision]'s
// order, no insignificant space, strings and numbers as in canonical JSON, data
// null when there is none:
//
//	{"v":1,"index":41,"prev":"…","arrival":{"seq":42,"id":"…","sha256":"…","time":"2026-10-01T10:00:00.000000000Z"},
//	"campaign":"…","kind":"cell","outcome":"accepted","reason":"","field":"","detail":"","repeats":null,"accepted":7,"refused":1,
//	"refusedFailed":0,"campaignIndex":9,"campaignPrev":"…","data":{…}}
//
// The same decision prints the same bytes in every process. Errors:
// ErrRecordMalformed, ErrRecordTooLarge; both are mistakes of whoever decided.
func EncodeRecord(d *domain.Decision) ([]byte, error) {
	if err := checkDecision(d); err != nil {
		return nil, err
	}
	if rules, err := domain.RulesOf(d.V); err == nil && d.Data != nil && reflect.TypeOf(d.Data) != reflect.TypeOf(rules.NewData(d.Kind, d.Outcome)) {
		return nil, errors.Wrapf(ErrRecordMalformed, "decision %d: a %s %s of version %d has no %T", d.Index, d.Outcome, d.Kind, d.V, d.Data)
	}
	data, err := encodeData(d.Data)
	if err != nil {
		return nil, errors.Mark(errors.Wrapf(err, "events: print the data of decision %d", d.Index), ErrRecordMalformed)
	}
	p := printer{out: make([]byte, 0, envelopeBytes+len(data))}
	p.decision(d, data)
	if p.err != nil {
		return nil, errors.Mark(errors.Wrapf(p.err, "events: print decision %d", d.Index), ErrRecordMalformed)
	}
	if limit := recordLimit(d); len(p.out) > limit {
		return nil, errors.Wrapf(ErrRecordTooLarge, "decision %d prints %d bytes and may print %d", d.Index, len(p.out), limit)
	}
	return p.out, nil
}

// recordLimit is how many bytes d's record may have.
func recordLimit(d *domain.Decision) int {
	if _, opened := d.Latest().(*domain.Opening); opened {
		return MaxRecordBytes
	}
	return MaxOrdinaryRecordBytes
}

// printer appends canonical JSON; the first error stays.
type printer struct {
	out []byte
	err error
}

func (p *printer) decision(d *domain.Decision, data []byte) {
	p.literal(`{"v":`)
	p.out = strconv.AppendInt(p.out, int64(d.V), 10)
	p.literal(`,"index":`)
	p.uint(d.Index)
	p.literal(`,"prev":`)
	p.text(d.Prev)
	p.literal(`,"arrival":{"seq":`)
	p.uint(d.Arrival.Seq)
	p.literal(`,"id":`)
	p.text(d.Arrival.ID)
	p.literal(`,"sha256":`)
	p.text(d.Arrival.SHA256)
	p.literal(`,"time":"`)
	p.out = d.Arrival.Time.UTC().AppendFormat(p.out, recordTime)
	p.literal(`"},"campaign":`)
	p.text(d.Campaign)
	p.literal(`,"kind":`)
	p.text(string(d.Kind))
	p.literal(`,"outcome":`)
	p.text(string(d.Outcome))
	p.literal(`,"reason":`)
	p.text(string(d.Reason))
	p.literal(`,"field":`)
	p.text(d.Field)
	p.literal(`,"detail":`)
	p.text(d.Detail)
	p.literal(`,"repeats":`)
	p.optional(d.Repeats)
	p.literal(`,"accepted":`)
	p.optional(d.Accepted)
	p.literal(`,"refused":`)
	p.optional(d.Refused)
	p.literal(`,"refusedFailed":`)
	p.optional(d.RefusedFailed)
	p.literal(`,"campaignIndex":`)
	p.optional(d.CampaignIndex)
	p.literal(`,"campaignPrev":`)
	p.optionalText(d.CampaignPrev)
	p.literal(`,"data":`)
	p.out = append(p.out, data...)
	p.literal(`}`)
}

func (p *printer) literal(text string) { p.out = append(p.out, text...) }

func (p *printer) uint(n uint64) { p.out = strconv.AppendUint(p.out, n, 10) }

func (p *printer) optional(n *uint64) {
	if n == nil {
		p.literal("null")
		return
	}
	p.uint(*n)
}

func (p *printer) optionalText(s *string) {
	if s == nil {
		p.literal("null")
		return
	}
	p.text(*s)
}

func (p *printer) text(s string) {
	out, err := jsontext.AppendQuote(p.out, s)
	if err != nil && p.err == nil { // s is not UTF-8
		p.err = err
	}
	p.out = out
}

// canonicalNumbers prints -0 as 0: canonical JSON has no -0, and producers may
// report one. All else that the library prints is canonical.
var canonicalNumbers = json.WithMarshalers(json.MarshalToFunc(func(out *jsontext.Encoder, n float64) error {
	if n == 0 {
		return out.WriteToken(jsontext.Uint(0))
	}
	return errors.ErrUnsupported
}))

// encodeData prints the part that depends on the decision's kind and version.
func encodeData(data domain.Data) ([]byte, error) {
	if data == nil {
		return []byte("null"), nil
	}
	return json.Marshal(data, canonicalNumbers)
}
