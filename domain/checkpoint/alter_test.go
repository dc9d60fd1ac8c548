package checkpoint_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/domain/canonicaljson"
	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// free says which fields of the records decide nothing: what the runner notes
// for itself, the version of its envelope, and what the tool returned beside
// the ids and the description. What they hold is in the digests.
func free(path string) bool {
	for _, end := range []string{"/priority", "/deliveryCount", "/protocolVersion", "/issuedAt"} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	switch path {
	case "/payload/result/company/name", "/payload/result/activeTask/9", "/payload/result/activeTask/10",
		"/payload/result/activeTask/aB", "/payload/result/activeTask/aa", "/payload/result/activeTask/Priority":
		return true
	}
	return false
}

// alteration is a value with one place changed.
type alteration struct {
	path, how string
	value     strictjson.Value
}

// alterations changes every place of a value, one at a time, to other values
// of its own type and of other types, and removes it.
func alterations(path string, v strictjson.Value, rebuild func(strictjson.Value) strictjson.Value) []alteration {
	var all []alteration
	for how, other := range others(v) {
		all = append(all, alteration{path, how, rebuild(other)})
	}
	for name, member := range v.Members() {
		all = append(all, alterations(path+"/"+name, member, func(m strictjson.Value) strictjson.Value {
			return rebuild(with(v, name, m))
		})...)
	}
	return all
}

func others(v strictjson.Value) map[string]strictjson.Value {
	all := map[string]strictjson.Value{
		"removed": {},
		"null":    strictjson.NullValue(),
		"true":    strictjson.BoolValue(true),
		"array":   strictjson.ArrayValue(v),
		"object":  strictjson.ObjectValue(strictjson.Member{Name: "x", Value: v}),
		"number":  strictjson.NumberValue(1 << 40),
		"text":    strictjson.TextValue("another"),
	}
	if s, ok := v.Text(); ok {
		all["longer"] = strictjson.TextValue(s + "x")
		all["other case"] = strictjson.TextValue(strings.ToUpper(s))
		all["spaced"] = strictjson.TextValue(s + " ")
		all["empty"] = strictjson.TextValue("")
		if n, err := strconv.ParseFloat(s, 64); err == nil {
			all["as a number"] = strictjson.NumberValue(n)
		}
	}
	if n, ok := v.Number(); ok {
		all["negative"] = strictjson.NumberValue(-n)
		all["a little more"] = strictjson.NumberValue(n + 0.5)
		all["as text"] = strictjson.TextValue(strconv.FormatFloat(n, 'g', -1, 64))
		all["zero"] = strictjson.NumberValue(0)
	}
	if v.Kind() == strictjson.Object {
		all["emptied"] = strictjson.ObjectValue(strictjson.Member{Name: "another", Value: strictjson.NullValue()})
	}
	return all
}

// Whatever place of a record that matters is altered, the read does not bind;
// and where the place decides nothing, the authority is another one.
func TestAnyAlterationUnbinds(t *testing.T) {
	r := boundRead(t)
	original := *r.project().Authority
	altered := 0
	for i, record := range r.cp.Records {
		if record.Key == "event:1" || record.Key == "meta" { // of no concern to the read
			continue
		}
		value := parse(t, record.Text)
		for _, a := range alterations("", value, func(v strictjson.Value) strictjson.Value { return v }) {
			if strictjson.Equal(a.value, value) || !a.value.Defined() {
				continue
			}
			altered++
			copied := r
			copied.cp.Records = slices.Clone(r.cp.Records)
			copied.cp.Records[i].Text = string(canonicaljson.Append(nil, a.value))
			got := copied.project()
			checkForm(t, copied, got)
			inputOmitted := a.path == "/payload/input" && a.how == "removed" && record.Key == "command:3"
			switch {
			case got.Outcome != checkpoint.Bound:
				if free(a.path) {
					t.Errorf("%s%s (%s): %+v, and it decides nothing", record.Key, a.path, a.how, got)
				}
			case !free(a.path) && !inputOmitted:
				t.Errorf("%s%s (%s) binds", record.Key, a.path, a.how)
			case *got.Authority == original:
				t.Errorf("%s%s (%s) binds to the same authority", record.Key, a.path, a.how)
			}
		}
	}
	if altered < 1000 {
		t.Errorf("only %d places were altered", altered)
	}
}

// A refusal names the very place that was altered, when one check looks at it.
func TestRefusalNamesThePlace(t *testing.T) {
	r := boundRead(t)
	for _, test := range []struct{ record, name, want string }{
		{"header", "schema", "/checkpoint/records/0/1/schema"},
		{"event:2", "logicalEffectCount", "/checkpoint/records/2/1/logicalEffectCount"},
		{"command:1", "status", "/checkpoint/records/5/1/status"},
		{"command:3", "commandId", "/checkpoint/records/7/1/commandId"},
	} {
		copied := r
		copied.cp.Records = slices.Clone(r.cp.Records)
		for i, record := range copied.cp.Records {
			if record.Key == test.record {
				changed := with(parse(t, record.Text), test.name, strictjson.TextValue("another"))
				copied.cp.Records[i].Text = string(canonicaljson.Append(nil, changed))
			}
		}
		got := copied.project()
		if got.Field != test.want || !strings.Contains(got.Message, test.record+": "+test.name) || !strings.Contains(got.Message, `"another"`) {
			t.Errorf("%s of %s: %+v", test.name, test.record, got)
		}
	}
}

// Ids that are missing on both sides are equal; null is not missing.
func TestMissingEqualsMissing(t *testing.T) {
	r := boundRead(t)
	for i, record := range r.cp.Records {
		if record.Key == "command:3" {
			command := parse(t, record.Text)
			body := command.Get("payload")
			result := with(body.Get("result"), "actor", strictjson.Value{})
			r.cp.Records[i].Text = string(canonicaljson.Append(nil, with(command, "payload", with(body, "result", result))))
		}
	}
	r.publication = with(r.publication, "agentId", strictjson.Value{})
	if got := r.project(); got.Outcome != checkpoint.Bound || !got.Authority.AgentID.IsZero() {
		t.Errorf("missing on both sides: %+v", got)
	}
	r.publication = with(r.publication, "agentId", strictjson.NullValue())
	if got := r.project(); got.Outcome != checkpoint.Rejected || got.Reason != checkpoint.Contradicted {
		t.Errorf("null against missing: %+v", got)
	}
}

// A type may be written with escapes and is the same type.
func TestEscapedTypeMatters(t *testing.T) {
	r := boundRead(t)
	r.cp.Records = append(r.cp.Records,
		checkpoint.Record{Key: "command:9", Text: `{"type":"turn\u002estart"}`})
	if got := r.project(); got.Reason != checkpoint.Contradicted || got.Field != "/checkpoint/records/9" {
		t.Errorf("a second turn start, escaped: %+v", got)
	}
}

// A row of JSON that is no object is an empty one.
func TestRowThatIsNoObjectIsEmpty(t *testing.T) {
	r := boundRead(t)
	r.cp.Records = append(r.cp.Records,
		checkpoint.Record{Key: "command:9", Text: `["turn.start"]`}, checkpoint.Record{Key: "event:9", Text: `"runtime_request.created"`})
	if got := r.project(); got.Outcome != checkpoint.Bound {
		t.Errorf("%+v", got)
	}
}

func TestKeys(t *testing.T) {
	for key, counts := range map[string]bool{
		"event:1": true, "command:007": true, "event:12345678901234567890123": true,
		"event:": false, "event:1a": false, "event:-1": false, "event:1\n": false, "Event:1": false, "event:١": false, "events:1": false, " event:1": false,
	} {
		r := boundRead(t)
		r.cp.Records = append(r.cp.Records, checkpoint.Record{Key: key, Text: "{"})
		if key == "event:1" { // the bound read has one, of no concern
			r.cp.Records[1].Key = "note:1"
		}
		if got := r.project(); (got.Reason == checkpoint.Malformed) != counts {
			t.Errorf("%q: %+v", key, got)
		}
	}
}
