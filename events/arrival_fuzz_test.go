package events_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/strictjson"
	"github.com/ledgerd/ledgerd/events"
)

// fuzzedCampaign is the one that is open while arrivals are fuzzed.
const fuzzedCampaign = "chat-review"

// exampleBodies are the published examples of a kind, good and bad.
func exampleBodies(t testing.TB, kind domain.Kind) [][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("schema", "testdata", string(kind), "*", "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no examples of a %s: %v", kind, err)
	}
	var bodies [][]byte
	for _, path := range paths {
		bodies = append(bodies, readFile(t, path))
	}
	return bodies
}

// fuzzedState is the campaign that the examples are about, open.
func fuzzedState(t testing.TB) *domain.Campaign {
	t.Helper()
	body := readFile(t, "schema/testdata/campaign/valid/preset.json")
	opened, err := domain.Decide(domain.RuleVersion, nil, events.DecodeArrival(arrival(t, domain.KindCampaign, string(body))))
	if err != nil {
		t.Fatal(err)
	}
	state, err := domain.Fold(nil, opened, strings.Repeat("f", len(events.GenesisHash)))
	if err != nil || state == nil {
		t.Fatalf("%v: %s at %q: %s", err, opened.Reason, opened.Field, opened.Detail)
	}
	return state
}

// FuzzDecodeArrival: any message is an arrival or says what is wrong with it,
// and gets a decision that a record holds.
func FuzzDecodeArrival(f *testing.F) {
	const source, at = "https://example.org/ci", "2026-10-01T10:00:00.5Z"
	for _, kind := range domain.Kinds() {
		subject := events.ArrivalSubject(fuzzedCampaign, kind)
		for _, body := range exampleBodies(f, kind) {
			f.Add(subject, events.ArrivalType(kind), "01999999-aaaa-7bbb-8ccc-dddddddddddd", source, at, body)
		}
	}
	sealSubject, sealType := events.ArrivalSubject(fuzzedCampaign, domain.KindSeal), events.ArrivalType(domain.KindSeal)
	f.Add("ledger.arrivals.*.seal", sealType, "1", source, at, []byte(`{"actor":""}`))
	f.Add(sealSubject, "seal", "1", source, at, []byte(`{"actor":""}`))
	f.Add(sealSubject, sealType, "\xff"+strings.Repeat("é", 300), "a b", "yesterday", []byte("{\"actor\":\"\\ud800\",\"actor\":\"\xff\"}"))
	state := fuzzedState(f)
	f.Fuzz(func(t *testing.T, subject, ceType, id, source, at string, body []byte) {
		m := &events.Message{Seq: 43, Time: time.Unix(1790000000, 7), Subject: subject, Data: body, Header: events.Header{
			events.HeaderSpecVersion: {"1.0"}, events.HeaderContentType: {"application/json"}, events.HeaderMsgID: {id},
			events.HeaderType: {ceType}, events.HeaderID: {id}, events.HeaderSource: {source}, events.HeaderTime: {at},
		}}
		arrived := events.DecodeArrival(m)
		checkArrival(t, m, arrived)
		for _, campaign := range []*domain.Campaign{nil, state} {
			if campaign != nil && arrived.Campaign != fuzzedCampaign {
				continue
			}
			record := checkDecision(t, campaign, arrived)
			if again := checkDecision(t, campaign, events.DecodeArrival(m)); !bytes.Equal(record, again) {
				t.Fatalf("decided again it is\n%s\nand was\n%s", again, record)
			}
		}
	})
}

// checkArrival holds that there is the kind's data or a refusal.
func checkArrival(t *testing.T, m *events.Message, a *domain.Arrival) {
	t.Helper()
	data := map[domain.Kind]bool{}
	for kind, there := range map[domain.Kind]bool{
		domain.KindCampaign: a.Opening != nil, domain.KindCell: a.Cell != nil, domain.KindCheckpoint: a.Checkpoint != nil,
		domain.KindVoid: a.Void != nil, domain.KindSeal: a.Seal != nil,
	} {
		if there {
			data[kind] = true
		}
	}
	if a.Malformed != nil {
		if len(data) > 0 {
			t.Fatalf("malformed, and there is data of %v", data)
		}
		checkRefusal(t, m, a)
		return
	}
	if len(data) != 1 || !data[a.Kind] {
		t.Fatalf("a %s has data of %v", a.Kind, data)
	}
	if _, err := strictjson.Parse(m.Data); err != nil {
		t.Fatalf("what is not strict JSON was read: %v", err)
	}
}

// checkRefusal holds that a malformed arrival says where and what.
func checkRefusal(t *testing.T, m *events.Message, a *domain.Arrival) {
	t.Helper()
	refusal := a.Malformed
	if refusal.Reason != domain.ReasonArrivalMalformed || refusal.Message == "" || !utf8.ValidString(refusal.Message) || !utf8.ValidString(refusal.Field) {
		t.Fatalf("%+v", refusal)
	}
	_, isHeader := m.Header[refusal.Field]
	if refusal.Field != "" && refusal.Field != "subject" && !isHeader && refusal.Field[0] != '/' {
		t.Fatalf("there is no field %q", refusal.Field)
	}
	if (refusal.Field == "subject") != (a.Kind == "") || (a.Campaign == "") != (a.Kind == "") {
		t.Fatalf("campaign %q, kind %q: %+v", a.Campaign, a.Kind, refusal)
	}
}

// checkDecision decides an arrival, prints the record and reads it back.
func checkDecision(t *testing.T, state *domain.Campaign, a *domain.Arrival) []byte {
	t.Helper()
	d, err := domain.Decide(domain.RuleVersion, state, a)
	if err != nil {
		t.Fatal(err)
	}
	if a.Malformed != nil && (d.Outcome != domain.Rejected || d.Reason != domain.ReasonArrivalMalformed || d.Detail == "") {
		t.Fatalf("malformed, and decided %s %s: %s", d.Outcome, d.Reason, d.Detail)
	}
	d.Prev = events.GenesisHash
	record, err := events.EncodeRecord(d)
	if err != nil {
		t.Fatalf("%v: %+v", err, d)
	}
	if len(record) > events.MaxRecordBytes {
		t.Fatalf("a record of %d bytes", len(record))
	}
	if _, err := events.DecodeCanonicalRecord(record); err != nil {
		t.Fatalf("%v: %s", err, record)
	}
	if subject := events.DecisionSubject(d); strings.ContainsAny(subject, " *>\t\r\n") || strings.Count(subject, ".") != 4 {
		t.Fatalf("the decision goes to %q", subject)
	}
	return record
}
