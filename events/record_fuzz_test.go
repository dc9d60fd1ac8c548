package events_test

import (
	"bytes"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
)

// FuzzDecodeRecord: any bytes are no record, or print the same again. The quick
// reader sees to all but the data's own form.
func FuzzDecodeRecord(f *testing.F) {
	for _, d := range decisions() {
		record, err := events.EncodeRecord(d)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(record)
	}
	f.Add([]byte(`{"v":1,"index":0,"prev":"`))
	f.Fuzz(func(t *testing.T, record []byte) {
		canonical, err := events.DecodeCanonicalRecord(record)
		if err != nil && !errors.Is(err, events.ErrRecordMalformed) {
			t.Fatalf("another error: %v", err)
		}
		if err == nil {
			printed, err := events.EncodeRecord(canonical)
			if err != nil || !bytes.Equal(printed, record) {
				t.Fatalf("%v: it prints\n%s\nand was\n%s", err, printed, record)
			}
		}
		quick, quickErr := events.DecodeRecord(record)
		if quickErr != nil {
			if err == nil || !errors.Is(quickErr, events.ErrRecordMalformed) {
				t.Fatalf("the quick reader: %v; the other: %v", quickErr, err)
			}
			return
		}
		printed, err := events.EncodeRecord(quick)
		if err != nil {
			return // its data is what no record prints: too much, or not UTF-8
		}
		data := []byte(`"data":`)
		was, _, _ := bytes.Cut(record, data)
		is, _, _ := bytes.Cut(printed, data)
		if !bytes.Equal(is, was) {
			t.Fatalf("the quick reader took\n%s\nwhich prints\n%s", was, is)
		}
	})
}
