package schema_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/canonicaljson"
	"github.com/ledgerd/ledgerd/domain/strictjson"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/simci"
)

// writer decides arrivals of many campaigns one by one and prints the records.
type writer struct {
	states map[string]*domain.Campaign
	seq    uint64
	prev   string
}

func newWriter() *writer {
	return &writer{states: map[string]*domain.Campaign{}, prev: events.GenesisHash}
}

func (w *writer) write(t testing.TB, m *events.Message) (*domain.Decision, []byte) {
	t.Helper()
	w.seq++
	m.Seq = w.seq
	arrival := events.DecodeArrival(m)
	d, err := domain.Decide(domain.RuleVersion, w.states[arrival.Campaign], arrival)
	if err != nil {
		t.Fatal(err)
	}
	d.Prev = w.prev
	record, err := events.EncodeRecord(d)
	if err != nil {
		t.Fatal(err)
	}
	state, err := domain.Fold(w.states[arrival.Campaign], d, events.RecordHash(record))
	if err != nil {
		t.Fatal(err)
	}
	if state != nil {
		w.states[arrival.Campaign] = state
	}
	w.prev = events.RecordHash(record)
	return d, record
}

// TestRecordsOfAPlan: every record of a simulated campaign with every trouble
// fits, to the last verdict.
func TestRecordsOfAPlan(t *testing.T) {
	for name, config := range map[string]simci.Config{
		"demo":          simci.Demo(1),
		"every trouble": {Seed: 3, Campaigns: 2, Scenarios: 15, Troubles: simci.EachTrouble()},
	} {
		t.Run(name, func(t *testing.T) {
			ci, err := simci.New(config)
			if err != nil {
				t.Fatal(err)
			}
			w, outcomes := newWriter(), map[domain.Outcome]int{}
			for a := range ci.Arrivals() {
				out, err := events.NewArrival(a.Campaign, a.Kind, a.Body, a.ID, "https://ci.example.org/jobs", storedAt)
				if err != nil {
					t.Fatal(err)
				}
				d, record := w.write(t, &events.Message{Time: storedAt, Subject: out.Subject, Header: out.Header, Data: out.Data})
				if err := compiled(t, events.DecisionType).Validate(instance(t, record)); err != nil {
					t.Fatalf("arrival %d (%s): %v\n%s", a.Index, a.Trouble, err, record)
				}
				outcomes[d.Outcome]++
			}
			for outcome, want := range ci.Totals().Outcomes {
				if want == 0 || outcomes[outcome] != want {
					t.Errorf("%d records of outcome %s; want %d", outcomes[outcome], outcome, want)
				}
			}
		})
	}
}

// sampleRecords is a record of every kind, outcome and reason that the examples
// and a plan come to.
func sampleRecords(t testing.TB) map[string][]byte {
	t.Helper()
	w, samples := newWriter(), map[string][]byte{}
	keep := func(m *events.Message) {
		d, record := w.write(t, m)
		name := strings.Join([]string{string(d.Kind), string(d.Outcome), string(d.Reason)}, " ")
		if _, known := samples[name]; !known {
			samples[name] = record
		}
	}
	keep(message(t, domain.KindSeal, oneExample(t, domain.KindSeal, "seal"), 0)) // nobody opened the campaign
	for _, step := range []struct {
		kind domain.Kind
		name string
	}{
		{domain.KindCampaign, "preset"}, {domain.KindCampaign, "preset"}, {domain.KindCampaign, "smallest"},
		{domain.KindCell, "plain"}, {domain.KindCell, "plain"}, {domain.KindCell, "base64-without-a-bill"},
		{domain.KindCheckpoint, "pending"}, {domain.KindCheckpoint, "bound"}, {domain.KindCheckpoint, "bound"},
	} {
		keep(message(t, step.kind, oneExample(t, step.kind, step.name), 0))
	}
	for _, class := range []string{malformed, refused, beyond} {
		for _, e := range examples(t, class) {
			if e.kind != domain.KindCampaign { // the campaign is open
				keep(message(t, e.kind, e.body, 0))
			}
		}
	}
	for _, kind := range []domain.Kind{domain.KindVoid, domain.KindVoid, domain.KindSeal, domain.KindSeal} {
		keep(message(t, kind, oneExample(t, kind, string(kind)), 0))
	}
	lost := message(t, domain.KindSeal, []byte("{}"), 0)
	lost.Subject = "ledger.arrivals.a.b.c"
	keep(lost)
	invalid := message(t, domain.KindCampaign, []byte(`{"sourceRevision":"","policyPreset":"","scenarios":[],"selected":[]}`), 0)
	invalid.Subject = events.ArrivalSubject("another", domain.KindCampaign)
	keep(invalid)
	return samples
}

// kindAndOutcome cuts the reason off a sample's name.
func kindAndOutcome(name string) string { return name[:strings.LastIndexByte(name, ' ')] }

func TestSampleRecords(t *testing.T) {
	seen := map[string]bool{}
	for name, record := range sampleRecords(t) {
		if err := compiled(t, events.DecisionType).Validate(instance(t, record)); err != nil {
			t.Errorf("%s: %v\n%s", name, err, record)
		}
		seen[kindAndOutcome(name)] = true
	}
	want := []string{
		" rejected", "campaign accepted", "campaign duplicate", "campaign rejected", "cell accepted", "cell duplicate", "cell rejected",
		"checkpoint accepted", "checkpoint duplicate", "checkpoint pending", "checkpoint rejected",
		"seal accepted", "seal duplicate", "seal rejected", "void accepted", "void duplicate", "void rejected",
	}
	if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, want) {
		t.Errorf("samples are %q, want %q", got, want)
	}
}

// TestEveryMemberOfRecords takes out, adds and replaces each member of the
// sample records: what the decoder refuses does not fit. What a member's value
// has to do with another's is the decoder's alone.
func TestEveryMemberOfRecords(t *testing.T) {
	t.Parallel()
	decoderAlone := map[string]bool{
		"/index":       true, // arrival.seq - 1, and above repeats
		"/arrival/seq": true,
		"/repeats":     true, // below index
	}
	fit, unfit, done := 0, 0, map[string]bool{}
	samples := sampleRecords(t)
	for _, name := range slices.Sorted(maps.Keys(samples)) {
		if done[kindAndOutcome(name)] {
			continue
		}
		done[kindAndOutcome(name)] = true
		record := samples[name]
		original, err := strictjson.Parse(record)
		if err != nil {
			t.Fatal(err)
		}
		for m := range mutants(plain(original), map[string]bool{}) {
			altered := reprint(nil, original, m.value)
			_, refusal := events.DecodeCanonicalRecord(altered)
			switch err := compiled(t, events.DecisionType).Validate(m.value); {
			case err != nil:
				unfit++
			case refusal != nil && !decoderAlone[m.place]:
				t.Errorf("%s, %s: the decoder refuses what fits: %v\n%s", name, m.what, refusal, altered)
			default:
				fit++
			}
		}
	}
	if fit < 300 || unfit < 5_000 {
		t.Errorf("%d mutants fit and %d do not: the test shows little", fit, unfit)
	}
}

// reprint prints a value canonically, with members in the order of the
// original, and others behind them.
func reprint(out []byte, original strictjson.Value, value any) []byte {
	switch value := value.(type) {
	case nil:
		return append(out, "null"...)
	case bool:
		return canonicaljson.Append(out, strictjson.BoolValue(value))
	case float64:
		return canonicaljson.AppendNumber(out, value)
	case string:
		return canonicaljson.AppendString(out, value)
	case []any:
		out = append(out, '[')
		for i, element := range value {
			if i > 0 {
				out = append(out, ',')
			}
			var like strictjson.Value
			if elements := original.Elements(); len(elements) > 0 {
				like = elements[min(i, len(elements)-1)] // they are all alike
			}
			out = reprint(out, like, element)
		}
		return append(out, ']')
	case map[string]any:
		return reprintObject(out, original, value)
	}
	panic("a value of no JSON type")
}

func reprintObject(out []byte, original strictjson.Value, object map[string]any) []byte {
	var names []string
	for name := range original.Members() {
		if _, there := object[name]; there {
			names = append(names, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !original.Get(name).Defined() {
			names = append(names, name)
		}
	}
	out = append(out, '{')
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(canonicaljson.AppendString(out, name), ':')
		out = reprint(out, original.Get(name), object[name])
	}
	return append(out, '}')
}
