package checkpoint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/domain/checkpoint"
)

// padded gives the bound read with as many records as asked for.
func padded(t testing.TB, records int, text string) read {
	r := boundRead(t)
	all := append(make([]checkpoint.Record, 0, records), r.cp.Records...)
	for i := len(all); i < records; i++ {
		all = append(all, checkpoint.Record{Key: fmt.Sprintf("event:%d", 1000+i), Text: text})
	}
	r.cp.Records = all
	return r
}

func TestMostRecords(t *testing.T) {
	if got := padded(t, checkpoint.MaxRecords, "{}").project(); got.Outcome != checkpoint.Bound {
		t.Errorf("%d records: %+v", checkpoint.MaxRecords, got)
	}
	over := padded(t, checkpoint.MaxRecords+1, "{}")
	got := over.project()
	if got.Reason != checkpoint.Limit || got.Field != "/checkpoint/records" || got.Message != "the checkpoint has 20001 records and may have 20000" {
		t.Errorf("%d records: %+v", checkpoint.MaxRecords+1, got)
	}
	checkOverLimit(t, over, checkpoint.MaxRecords+1)
}

func checkOverLimit(t *testing.T, r read, records int64) {
	t.Helper()
	slice := checkpoint.Slice(r.cp, r.publication, checkpoint.KimiContext())
	if len(slice.Records) != 1 || slice.Records[0].Key != "header" {
		t.Errorf("the slice has %d records, want the header only", len(slice.Records))
	}
	if got := checkpoint.Observe(r.cp); got.Records != records {
		t.Errorf("observed %+v", got)
	}
}

func TestMostBytes(t *testing.T) {
	for _, test := range []struct {
		name string
		fill string // is repeated
	}{
		{"one byte a character", "x"},
		{"four bytes a character", "🚀"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := boundRead(t)
			used := int(checkpoint.Observe(r.cp).Bytes)
			const quotes = 2
			room := checkpoint.MaxBytes - used - quotes
			filler := `"` + strings.Repeat(test.fill, room/len(test.fill))
			filler += strings.Repeat("y", room%len(test.fill)) + `"`
			full := r
			full.cp.Records = append(r.cp.Records,
				checkpoint.Record{Key: "command:77", Text: filler},
				checkpoint.Record{Key: "note", Text: filler}) // is not counted
			if got := checkpoint.Observe(full.cp); got.Bytes != checkpoint.MaxBytes {
				t.Fatalf("the rows have %d bytes", got.Bytes)
			}
			if got := full.project(); got.Outcome != checkpoint.Bound {
				t.Errorf("%d bytes: %+v", checkpoint.MaxBytes, got)
			}
			over := full
			over.cp.Records = append(slices.Clone(full.cp.Records), checkpoint.Record{Key: "event:78", Text: "1"})
			if got := over.project(); got.Reason != checkpoint.Limit || got.Field != "/checkpoint/records" {
				t.Errorf("%d bytes: %+v", checkpoint.MaxBytes+1, got)
			}
			checkOverLimit(t, over, int64(len(over.cp.Records)))
		})
	}
}

// What comes first refuses: a row that is not JSON, or the one past the limit.
func TestFirstRowRefuses(t *testing.T) {
	r := boundRead(t)
	large := checkpoint.Record{Key: "event:90", Text: strings.Repeat(" ", checkpoint.MaxBytes)}
	bad := checkpoint.Record{Key: "event:91", Text: "{"}
	r.cp.Records = append([]checkpoint.Record{bad, large}, r.cp.Records...)
	if got := r.project(); got.Reason != checkpoint.Malformed || got.Field != "/checkpoint/records/0/1" {
		t.Errorf("the row that is not JSON first: %+v", got)
	}
	r.cp.Records[0], r.cp.Records[1] = large, bad
	r.cp.Records = append(r.cp.Records[2:], r.cp.Records[:2]...)
	if got := r.project(); got.Reason != checkpoint.Limit {
		t.Errorf("the limit first: %+v", got)
	}
}

func TestLongerThan(t *testing.T) {
	r := boundRead(t)
	const most = 512
	r.publication = with(r.publication, "environmentId", parse(t, `"`+strings.Repeat("é", most/2)+`"`))
	if field, ok := r.project().Authority.LongerThan(most); ok {
		t.Errorf("%s is longer than %d", field, most)
	}
	r.publication = with(r.publication, "environmentId", parse(t, `"`+strings.Repeat("é", most/2)+`x"`))
	if field, ok := r.project().Authority.LongerThan(most); !ok || field != "/publication/environmentId" {
		t.Errorf("got %q, %t", field, ok)
	}
	r.publication = with(r.publication, "environmentId", parse(t, `[`+strings.Repeat("1,", most/2)+`1]`))
	if field, ok := r.project().Authority.LongerThan(most); !ok || field != "/publication/environmentId" {
		t.Errorf("an id that is no string: got %q, %t", field, ok)
	}
}
