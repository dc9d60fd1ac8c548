package checkpoint_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/domain/canonicaljson"
	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

const vectorCount = 332

// read is what a checkpoint is projected with.
type read struct {
	id, kind    string
	cp          checkpoint.Checkpoint
	publication checkpoint.Publication
	workspace   strictjson.Value
	want        strictjson.Value
}

func (r read) project() checkpoint.Result {
	return checkpoint.Project(r.cp, r.publication, r.workspace, checkpoint.KimiContext())
}

func parse(t testing.TB, text string) strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func text(v strictjson.Value) string {
	s, _ := v.Text()
	return s
}

// readOf takes a read from the JSON of a vector.
func readOf(v strictjson.Value) read {
	r := read{
		id: text(v.Get("id")), kind: text(v.Get("kind")),
		publication: v.Get("publication"), workspace: v.Get("executionWorkspaceId"), want: v.Get("want"),
	}
	r.cp.RunID = v.At("checkpoint", "runId")
	r.cp.RecoveryEvidence = v.At("checkpoint", "recoveryEvidence")
	for _, pair := range v.At("checkpoint", "records").Elements() {
		record := checkpoint.Record{Key: text(pair.Elements()[0]), Text: text(pair.Elements()[1])}
		r.cp.Records = append(r.cp.Records, record)
	}
	return r
}

// vectors gives every recorded read, free to be changed.
func vectors(t testing.TB) []read {
	t.Helper()
	all, err := loadVectors()
	if err != nil || len(all) != vectorCount {
		t.Fatalf("read %d vectors of %d: %v", len(all), vectorCount, err)
	}
	all = slices.Clone(all)
	for i := range all {
		all[i].cp.Records = slices.Clone(all[i].cp.Records)
	}
	return all
}

var loadVectors = sync.OnceValues(func() ([]read, error) {
	file, err := os.Open("testdata/checkpoint-projection.jsonl.gz")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	var all []read
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		v, err := strictjson.Parse(lines.Bytes())
		if err != nil {
			return nil, err
		}
		all = append(all, readOf(v))
	}
	return all, lines.Err()
})

// boundRead is a read that binds.
func boundRead(t testing.TB) read {
	t.Helper()
	for _, r := range vectors(t) {
		if r.kind == "bound" {
			return r
		}
	}
	t.Fatal("no vector binds")
	return read{}
}

func TestVectors(t *testing.T) {
	counts := map[checkpoint.Outcome]int{}
	for _, r := range vectors(t) {
		got := r.project()
		counts[got.Outcome]++
		if !r.want.Get("outcome").IsText(string(got.Outcome)) {
			t.Errorf("%s (%s) is %s, want %s: %+v", r.id, r.kind, got.Outcome, text(r.want.Get("outcome")), got)
			continue
		}
		checkForm(t, r, got)
		if got.Outcome != checkpoint.Bound {
			continue
		}
		printed, err := json.Marshal(got.Authority)
		if err != nil {
			t.Fatal(err)
		}
		want := canonicaljson.Append(nil, r.want.Get("authority"))
		if diff := cmp.Diff(string(want), string(canonicaljson.Append(nil, parse(t, string(printed))))); diff != "" {
			t.Errorf("%s (%s): %s", r.id, r.kind, diff)
		}
	}
	if want := map[checkpoint.Outcome]int{checkpoint.Bound: 52, checkpoint.Pending: 33, checkpoint.Rejected: 247}; !cmp.Equal(counts, want) {
		t.Errorf("counts are %v, want %v", counts, want)
	}
}

// checkForm holds a result to what each outcome has.
func checkForm(t *testing.T, r read, got checkpoint.Result) {
	t.Helper()
	rejected := got.Outcome == checkpoint.Rejected
	if (got.Authority != nil) != (got.Outcome == checkpoint.Bound) || (got.Reason != "") != rejected ||
		(got.Field != "") != rejected || (got.Message != "") != (got.Outcome != checkpoint.Bound) {
		t.Errorf("%s (%s): %+v", r.id, r.kind, got)
	}
}

// The order of an authority's fields is part of the ledger's records.
func TestAuthorityKeepsItsFieldOrder(t *testing.T) {
	r := boundRead(t)
	printed, err := json.Marshal(r.project().Authority)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for name := range parse(t, string(printed)).Members() {
		got = append(got, name)
	}
	for name := range r.want.Get("authority").Members() {
		want = append(want, name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAuthorityReadsBack(t *testing.T) {
	r := boundRead(t)
	for _, environment := range []strictjson.Value{
		{}, strictjson.NullValue(), strictjson.NumberValue(1.5), strictjson.TextValue("e\x00nv"), parse(t, `{"b":[1],"a":true}`),
	} {
		r.publication = with(r.publication, "environmentId", environment)
		authority := r.project().Authority
		if authority == nil {
			t.Fatalf("with environment %v: %+v", environment, r.project())
		}
		printed, err := json.Marshal(authority)
		if err != nil {
			t.Fatal(err)
		}
		if got := parse(t, string(printed)).Get("environmentId"); !strictjson.Equal(got, environment) {
			t.Errorf("environment %v prints %s", environment, printed)
		}
		var again checkpoint.Authority
		if err := json.Unmarshal(printed, &again); err != nil || again != *authority {
			t.Errorf("read back %+v of %+v: %v", again, *authority, err)
		}
	}
}

// with sets or removes a member.
func with(object strictjson.Value, name string, value strictjson.Value) strictjson.Value {
	var members []strictjson.Member
	placed := false
	for n, v := range object.Members() {
		if n == name {
			v, placed = value, true
		}
		members = append(members, strictjson.Member{Name: n, Value: v})
	}
	if !placed {
		members = append(members, strictjson.Member{Name: name, Value: value})
	}
	return strictjson.ObjectValue(members...)
}
