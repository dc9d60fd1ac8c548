package audit

import (
	"bytes"
	"fmt"
	"io"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json/jsontext"
)

// Difference is the first place where deciding again gives something else than
// the ledger holds.
type Difference struct {
	Index    uint64 `json:"index"`    // of the record; the arrival's sequence is one more
	Field    string `json:"field"`    // JSON Pointer of the first field that differs; "" when it is about the whole record
	Stored   string `json:"stored"`   // the record as the ledger holds it, "" when there is none
	Replayed string `json:"replayed"` // the record as the rules give it, "" when they give none
	Detail   string `json:"detail"`   // a sentence for people
}

// compareRecords gives the difference of two records, nil when they are the
// same bytes.
func compareRecords(index uint64, stored, replayed []byte) *Difference {
	if bytes.Equal(stored, replayed) {
		return nil
	}
	d := &Difference{Index: index, Stored: string(stored), Replayed: string(replayed)}
	var ok bool
	if d.Field, ok = firstField(stored, replayed); ok {
		d.Detail = fmt.Sprintf("the record differs from %s on", orWhole(d.Field))
		return d
	}
	at := 0
	for at < len(stored) && at < len(replayed) && stored[at] == replayed[at] {
		at++
	}
	d.Detail = fmt.Sprintf("the record differs from byte %d on", at)
	return d
}

func orWhole(field string) string {
	if field == "" {
		return "the beginning"
	}
	return "its field " + field
}

// firstField walks two JSON texts side by side and gives the place of the first
// token that differs; false when they differ in how they are written alone, or
// one is no JSON.
func firstField(a, b []byte) (string, bool) {
	one, other := jsontext.NewDecoder(bytes.NewReader(a)), jsontext.NewDecoder(bytes.NewReader(b))
	for {
		x, errX := one.ReadToken()
		y, errY := other.ReadToken()
		switch {
		case errors.Is(errX, io.EOF) && errors.Is(errY, io.EOF):
			return "", false
		case errX != nil && !errors.Is(errX, io.EOF), errY != nil && !errors.Is(errY, io.EOF):
			return "", false
		case errX != nil || errY != nil || x.Kind() != y.Kind() || x.String() != y.String():
			return string(other.StackPointer()), true
		}
	}
}
