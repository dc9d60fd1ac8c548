package events

import (
	"bytes"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ledgerd/ledgerd/domain"
)

// DecodeRecord reads what [EncodeRecord] printed. Everything beside the data
// must be exactly as it prints; the data must have the type that the kind and
// outcome have, without unknown fields. [DecodeCanonicalRecord] checks the
// data's bytes too, for about twice the time. Errors: ErrRecordMalformed;
// [domain.ErrUnknownRules] for a record of later rules than this program has.
func DecodeRecord(record []byte) (*domain.Decision, error) {
	if len(record) > MaxRecordBytes {
		return nil, errors.Wrapf(ErrRecordMalformed, "%d bytes, more than the %d of any record", len(record), MaxRecordBytes)
	}
	// A later version may hold what this program takes for malformed.
	if link, err := ReadLink(record); err == nil {
		if _, err := domain.RulesOf(link.V); err != nil {
			return nil, errors.Wrapf(err, "events: record %d", link.Index)
		}
	}
	d := &domain.Decision{}
	s := scanner{rest: record}
	data := s.decision(d)
	if s.wanted != "" {
		return nil, errors.Wrapf(ErrRecordMalformed, "at byte %d: want %s", len(record)-len(s.rest), s.wanted)
	}
	if err := decodeData(d, data); err != nil {
		return nil, err
	}
	if err := checkDecision(d); err != nil {
		return nil, err
	}
	return d, nil
}

// DecodeCanonicalRecord reads a record and refuses one that does not print the
// same again, byte for byte. Errors: those of DecodeRecord.
func DecodeCanonicalRecord(record []byte) (*domain.Decision, error) {
	d, err := DecodeRecord(record)
	if err != nil {
		return nil, err
	}
	printed, err := EncodeRecord(d)
	if err != nil {
		return nil, errors.Mark(err, ErrRecordMalformed)
	}
	if !bytes.Equal(printed, record) {
		return nil, errors.Wrapf(ErrRecordMalformed, "record %d is not canonical: from byte %d on it prints otherwise",
			d.Index, commonPrefix(printed, record))
	}
	return d, nil
}

func commonPrefix(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// scanner reads canonical JSON whose fields are known. After the first
// mismatch wanted says what was expected where rest begins, and every further
// step does nothing.
type scanner struct {
	rest   []byte
	wanted string
}

// decision fills in everything but the data, and gives the data's bytes.
func (s *scanner) decision(d *domain.Decision) []byte {
	link := s.link()
	d.V, d.Index, d.Prev = link.V, link.Index, link.Prev
	s.literal(`"arrival":{"seq":`)
	d.Arrival.Seq = s.uint(64)
	s.literal(`,"id":`)
	d.Arrival.ID = s.text()
	s.literal(`,"sha256":`)
	d.Arrival.SHA256 = s.text()
	s.literal(`,"time":`)
	d.Arrival.Time = s.time()
	s.literal(`},"campaign":`)
	d.Campaign = s.text()
	s.literal(`,"kind":`)
	d.Kind = domain.Kind(s.text())
	s.literal(`,"outcome":`)
	d.Outcome = domain.Outcome(s.text())
	s.literal(`,"reason":`)
	d.Reason = domain.Reason(s.text())
	s.literal(`,"field":`)
	d.Field = s.text()
	s.literal(`,"detail":`)
	d.Detail = s.text()
	s.literal(`,"repeats":`)
	d.Repeats = s.optional()
	s.literal(`,"accepted":`)
	d.Accepted = s.optional()
	s.literal(`,"refused":`)
	d.Refused = s.optional()
	s.literal(`,"refusedFailed":`)
	d.RefusedFailed = s.optional()
	s.literal(`,"campaignIndex":`)
	d.CampaignIndex = s.optional()
	s.literal(`,"campaignPrev":`)
	d.CampaignPrev = s.optionalText()
	s.literal(`,"data":`)
	return s.last()
}

// link reads the beginning, with the comma behind it.
func (s *scanner) link() (l Link) {
	s.literal(`{"v":`)
	l.V = int(s.uint(31))
	s.literal(`,"index":`)
	l.Index = s.uint(64)
	s.literal(`,"prev":`)
	l.Prev = s.text()
	s.literal(`,`)
	return l
}

func (s *scanner) fail(wanted string) {
	if s.wanted == "" {
		s.wanted = wanted
	}
}

func (s *scanner) literal(text string) {
	if s.wanted != "" {
		return
	}
	if len(s.rest) < len(text) || string(s.rest[:len(text)]) != text {
		s.fail(text)
		return
	}
	s.rest = s.rest[len(text):]
}

// uint reads an unsigned number of so many bits, without leading zeros.
func (s *scanner) uint(bits int) uint64 {
	if s.wanted != "" {
		return 0
	}
	digits := 0
	for digits < len(s.rest) && s.rest[digits] >= '0' && s.rest[digits] <= '9' {
		digits++
	}
	n, err := strconv.ParseUint(string(s.rest[:digits]), 10, bits)
	if err != nil || digits > 1 && s.rest[0] == '0' {
		s.fail("an unsigned integer")
		return 0
	}
	s.rest = s.rest[digits:]
	return n
}

// optional reads an unsigned number or null.
// optionalText reads a string or null.
func (s *scanner) optionalText() *string {
	if bytes.HasPrefix(s.rest, []byte("null")) {
		s.literal("null")
		return nil
	}
	text := s.text()
	return &text
}

func (s *scanner) optional() *uint64 {
	if bytes.HasPrefix(s.rest, []byte("null")) {
		s.literal("null")
		return nil
	}
	n := s.uint(64)
	return &n
}

// text reads a string that is quoted as it prints.
func (s *scanner) text() string {
	if s.wanted != "" {
		return ""
	}
	quoted := quotedPrefix(s.rest)
	text, ok := unquoteCanonical(quoted)
	if !ok {
		s.fail("a string in canonical form")
		return ""
	}
	s.rest = s.rest[len(quoted):]
	return text
}

// quotedPrefix gives the quoted string that b begins with, nil when it does
// not begin with one.
func quotedPrefix(b []byte) []byte {
	if len(b) == 0 || b[0] != '"' {
		return nil
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return b[:i+1]
		}
	}
	return nil
}

// unquoteCanonical reads a quoted string, and reports false when it would not
// print the same.
func unquoteCanonical(quoted []byte) (string, bool) {
	if len(quoted) < 2 {
		return "", false
	}
	inner := quoted[1 : len(quoted)-1]
	if isPlain(inner) {
		return string(inner), true
	}
	text, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return "", false
	}
	again, err := jsontext.AppendQuote(nil, text)
	return string(text), err == nil && bytes.Equal(again, quoted)
}

// isPlain reports whether a string prints as it is.
func isPlain(inner []byte) bool {
	for _, c := range inner {
		if c < ' ' || c == '\\' || c == '"' {
			return false
		}
	}
	return utf8.Valid(inner)
}

// time reads a time that is quoted as it prints.
func (s *scanner) time() time.Time {
	if s.wanted != "" {
		return time.Time{}
	}
	const size = len(recordTime) + len(`""`)
	if len(s.rest) >= size && s.rest[0] == '"' && s.rest[size-1] == '"' {
		text := s.rest[1 : size-1]
		t, err := time.Parse(recordTime, string(text))
		if err == nil && string(t.AppendFormat(make([]byte, 0, size), recordTime)) == string(text) {
			s.rest = s.rest[size:]
			return t
		}
	}
	s.fail("a time like " + recordTime)
	return time.Time{}
}

// last gives the last field's value: all but the record's closing brace.
func (s *scanner) last() []byte {
	if s.wanted != "" {
		return nil
	}
	end := len(s.rest) - 1
	if end < 1 || s.rest[end] != '}' {
		s.fail("data and a closing brace")
		return nil
	}
	return s.rest[:end]
}
