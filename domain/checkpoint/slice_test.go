package checkpoint_test

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/domain/checkpoint"
)

var recordIndex = regexp.MustCompile(`^(/checkpoint/records/)(\d+)`)

// byKey says a result's field by the record's key, so that results of a whole
// and a slice compare.
func byKey(result checkpoint.Result, records []checkpoint.Record) checkpoint.Result {
	result.Field = recordIndex.ReplaceAllStringFunc(result.Field, func(found string) string {
		parts := recordIndex.FindStringSubmatch(found)
		index, err := strconv.Atoi(parts[2])
		if err != nil || index >= len(records) {
			return found + " (no such record)"
		}
		return parts[1] + records[index].Key
	})
	return result
}

func comparable(t testing.TB, result checkpoint.Result) (checkpoint.Result, checkpoint.Authority) {
	t.Helper()
	var authority checkpoint.Authority
	if result.Authority != nil {
		authority = *result.Authority
	}
	result.Authority = nil
	return result, authority
}

// sameAnswer holds the slice's answer to the whole's.
func sameAnswer(t testing.TB, r read) checkpoint.Checkpoint {
	t.Helper()
	profile := checkpoint.KimiContext()
	slice := checkpoint.Slice(r.cp, r.publication, profile)
	whole, wholeAuthority := comparable(t, byKey(r.project(), r.cp.Records))
	sliced, slicedAuthority := comparable(t, byKey(checkpoint.Project(slice, r.publication, r.workspace, profile), slice.Records))
	if whole != sliced || wholeAuthority != slicedAuthority {
		t.Errorf("%s (%s)\nwhole  %+v\nsliced %+v", r.id, r.kind, whole, sliced)
	}
	examined := checkpoint.Examine(r.cp, r.publication, r.workspace, profile)
	got, authority := comparable(t, byKey(examined.Result, r.cp.Records))
	if got != whole || authority != wholeAuthority || !cmp.Equal(examined.Slice.Records, slice.Records) || examined.Observed != checkpoint.Observe(r.cp) {
		t.Errorf("%s (%s): Examine says %+v", r.id, r.kind, examined)
	}
	return slice
}

func TestSliceDecidesLikeTheWhole(t *testing.T) {
	for _, r := range vectors(t) {
		sameAnswer(t, r)
	}
}

func TestSliceKeepsWhatDecides(t *testing.T) {
	r := boundRead(t)
	r.cp.Records = append(r.cp.Records,
		checkpoint.Record{Key: "event:20", Text: `{"eventType":"runtime_request.created"}`}, // of another request
		checkpoint.Record{Key: "event:21", Text: `{"eventType":1}`},
		checkpoint.Record{Key: "event:22", Text: `{"a":1,"a":2}`},
		checkpoint.Record{Key: "note:1", Text: `{`},
	)
	slice := sameAnswer(t, r)
	var keys []string
	for _, record := range slice.Records {
		keys = append(keys, record.Key)
	}
	if diff := cmp.Diff([]string{"header", "event:2", "event:3", "event:4", "command:1", "command:2", "command:3", "event:22"}, keys); diff != "" {
		t.Error(diff)
	}
}

func TestKeyThatComesTwice(t *testing.T) {
	for _, key := range []string{"header", "event:1", "command:2", "note:1"} {
		r := boundRead(t)
		r.cp.Records = append(r.cp.Records,
			checkpoint.Record{Key: "note:1", Text: "x"}, checkpoint.Record{Key: key, Text: "{}"})
		got := r.project()
		if got.Reason != checkpoint.Malformed || got.Field != "/checkpoint/records/10/0" || got.Message != "the key "+key+" comes twice" {
			t.Errorf("%s: %+v", key, got)
		}
		sameAnswer(t, r)
	}
}

func TestObserve(t *testing.T) {
	cp := checkpoint.Checkpoint{Records: []checkpoint.Record{
		{Key: "header", Text: `{"é":1}`}, {Key: "event:1", Text: "🚀"}, {Key: "command:x", Text: "ab"}, {Key: "", Text: ""},
	}}
	sum := sha256.Sum256([]byte("6:header8:{\"é\":1}7:event:14:🚀9:command:x2:ab0:0:"))
	want := checkpoint.Observed{Records: 4, Bytes: 4, SHA256: hex.EncodeToString(sum[:])}
	if got := checkpoint.Observe(cp); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
