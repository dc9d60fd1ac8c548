package schema_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/strictjson"
	"github.com/ledgerd/ledgerd/events"
)

// campaignID is the campaign that examples are published to.
const campaignID = "chat-review"

// The classes of examples: who refuses them.
const (
	valid     = "valid"     // nobody
	malformed = "malformed" // the schema and the decoder
	refused   = "refused"   // the schema and, later than the decoder, the rules
	beyond    = "beyond"    // the rules alone
)

// example is a file of testdata/<kind>/<class>: <what it is>.json, and where
// the rules refuse it <what it is>.<reason>.json.
type example struct {
	kind   domain.Kind
	class  string
	name   string
	reason domain.Reason // of the rules, "" for none
	body   []byte
}

func examples(t testing.TB, class string) []example {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "*", class, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no examples of class %s: %v", class, err)
	}
	var found []example
	for _, path := range paths {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		kind := domain.Kind(filepath.Base(filepath.Dir(filepath.Dir(path))))
		if !kind.Known() {
			t.Fatalf("%s is of no kind", path)
		}
		name, reason, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".json"), ".")
		found = append(found, example{kind: kind, class: class, name: name, reason: domain.Reason(reason), body: body})
	}
	return found
}

func (e example) String() string { return string(e.kind) + "/" + e.class + "/" + e.name }

// oneExample gives a valid example.
func oneExample(t testing.TB, kind domain.Kind, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", string(kind), valid, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

var storedAt = time.Date(2026, 10, 1, 10, 0, 1, 0, time.UTC)

// message is a body as the stream holds it.
func message(t testing.TB, kind domain.Kind, body []byte, seq uint64) *events.Message {
	t.Helper()
	out, err := events.NewArrival(campaignID, kind, body, "01999999-aaaa-7bbb-8ccc-dddddddddddd", "https://ci.example.org/jobs", storedAt)
	if err != nil {
		t.Fatal(err)
	}
	return &events.Message{Seq: seq, Time: storedAt, Subject: out.Subject, Header: out.Header, Data: out.Data}
}

func decode(t testing.TB, kind domain.Kind, body []byte) *domain.Arrival {
	t.Helper()
	return events.DecodeArrival(message(t, kind, body, 1))
}

// ledger is a campaign's decisions, one after the other.
type ledger struct {
	state *domain.Campaign
	seq   uint64
}

// decide answers an arrival and lets the answer stand.
func (l *ledger) decide(t testing.TB, kind domain.Kind, body []byte) *domain.Decision {
	t.Helper()
	l.seq++
	d, err := domain.Decide(domain.RuleVersion, l.state, events.DecodeArrival(message(t, kind, body, l.seq)))
	if err != nil {
		t.Fatal(err)
	}
	if l.state, err = domain.Fold(l.state, d, events.GenesisHash); err != nil {
		t.Fatal(err)
	}
	return d
}

// standing gives the state in which an arrival of the kind is new to the
// ledger: no campaign for an opening, an import to void for a void. Deciding
// does not change it.
func standing(t testing.TB, kind domain.Kind) *domain.Campaign {
	t.Helper()
	l := &ledger{}
	if kind == domain.KindCampaign {
		return nil
	}
	steps := []domain.Kind{domain.KindCampaign}
	if kind == domain.KindVoid {
		steps = append(steps, domain.KindCell)
	}
	for _, step := range steps {
		name := map[domain.Kind]string{domain.KindCampaign: "preset", domain.KindCell: "plain"}[step]
		if d := l.decide(t, step, oneExample(t, step, name)); d.Outcome != domain.Accepted {
			t.Fatalf("%s: %s %s: %s", step, d.Reason, d.Field, d.Detail)
		}
	}
	return l.state
}

var standings sync.Map // domain.Kind → *domain.Campaign

// answer decides an arrival that is new to the ledger.
func answer(t testing.TB, arrival *domain.Arrival) *domain.Decision {
	t.Helper()
	state, ok := standings.Load(arrival.Kind)
	if !ok {
		state, _ = standings.LoadOrStore(arrival.Kind, standing(t, arrival.Kind))
	}
	d, err := domain.Decide(domain.RuleVersion, state.(*domain.Campaign), arrival)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// fits asks the schema. The body must be strict JSON.
func fits(t testing.TB, kind domain.Kind, body []byte) error {
	t.Helper()
	return compiled(t, events.ArrivalType(kind)).Validate(instance(t, body))
}

// instance is a body as a validator takes it: numbers are doubles, as they are
// to the ledger.
func instance(t testing.TB, body []byte) any {
	t.Helper()
	tree, err := strictjson.Parse(body)
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return plain(tree)
}

func plain(v strictjson.Value) any {
	switch v.Kind() {
	case strictjson.Bool:
		return v.IsTrue()
	case strictjson.Number:
		number, _ := v.Number()
		switch {
		case math.IsInf(number, 1):
			return json.Number("1e999") // beyond every double, and the validator knows no infinity
		case math.IsInf(number, -1):
			return json.Number("-1e999")
		}
		return number
	case strictjson.String:
		text, _ := v.Text()
		return text
	case strictjson.Array:
		list := []any{}
		for _, element := range v.Elements() {
			list = append(list, plain(element))
		}
		return list
	case strictjson.Object:
		object := map[string]any{}
		for name, value := range v.Members() {
			object[name] = plain(value)
		}
		return object
	default:
		return nil
	}
}

// printed is a value as JSON.
func printed(t testing.TB, value any) []byte {
	t.Helper()
	body, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// judged is what the three judges say of one body.
type judged struct {
	schema   error
	decoder  *domain.Refusal
	decision *domain.Decision
}

func judge(t testing.TB, kind domain.Kind, body []byte) judged {
	t.Helper()
	arrival := decode(t, kind, body)
	return judged{schema: fits(t, kind, body), decoder: arrival.Malformed, decision: answer(t, arrival)}
}

// disagreement says how the judges contradict what the package promises, nil
// when they do not.
func (j judged) disagreement() error {
	switch {
	case j.decoder != nil && j.schema == nil:
		return errors.Newf("the decoder refuses %q (%s), the schema takes it", j.decoder.Field, j.decoder.Message)
	case j.schema != nil && j.decision.Outcome == domain.Accepted:
		return errors.Wrap(j.schema, "the ledger accepts what the schema refuses")
	}
	return nil
}
