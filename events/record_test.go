package events_test

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func ptr[T any](v T) *T { return &v }

// decision is an accepted decision of a kind, to be changed by a test's row.
func decision(kind domain.Kind, outcome domain.Outcome, data domain.Data) *domain.Decision {
	d := &domain.Decision{
		V: 1, Index: 41, Prev: digest,
		Arrival: domain.ArrivalRef{
			Seq: 42, ID: "01999999-aaaa-7bbb-8ccc-dddddddddddd", SHA256: digest,
			Time: time.Date(2026, 10, 1, 10, 0, 0, 1200, time.UTC),
		},
		Campaign: "chat-review", Kind: kind, Outcome: outcome, Data: data,
	}
	ofCampaign(d, 7)
	switch outcome {
	case domain.Rejected:
		d.Reason, d.Field, d.Detail = domain.ReasonUsageMismatch, "/a~1b/0", "a \"sentence\"\nof <two> & \u2028 lines"
	case domain.Duplicate:
		d.Repeats, d.Detail = ptr(uint64(3)), "repeats decision 3, without effect"
	}
	return d
}

// ofCampaign fills in what a record says of a campaign with so many accepted
// decisions.
func ofCampaign(d *domain.Decision, accepted uint64) {
	d.Accepted, d.Refused, d.RefusedFailed = &accepted, ptr(uint64(2)), ptr(uint64(1))
	d.CampaignIndex, d.CampaignPrev = ptr(uint64(9)), ptr(digest)
}

// ofNone takes it away.
func ofNone(d *domain.Decision) {
	d.Accepted, d.Refused, d.RefusedFailed, d.CampaignIndex, d.CampaignPrev = nil, nil, nil, nil, nil
}

func importedCell() *domain.CellImported {
	return &domain.CellImported{
		Cell: domain.Cell{
			Schema: domain.CellSchema, IntentCampaignID: "chat-review",
			ImportKey:      "10290811331/1/chat-evidence.local.plan-revision-r1",
			MeasurementKey: "framework-2bf0e3f442f4/2c10c134ec4ae166209314997fd809f7/chat-evidence.local.plan-revision-r1",
			ArtifactSHA256: digest, ScenarioID: "plan-revision", Ordinal: 1,
			SourceRevision: digest[:40],
			ResultPath:     "tests/runner-e2e/results/10290811331-1/chat-evidence.local.plan-revision-r1/attempt-1/result.json",
			ResultSHA256:   digest, HostSHA256: digest, DefinitionSHA256: digest, DefinitionDigest: digest, GraderDigest: digest,
			DatabaseLane: domain.DatabaseLane{
				Lane: "owned-docker-postgres", Image: "postgres@sha256:" + digest,
				ImageID: "sha256:" + digest, Version: "17.6", Architecture: "amd64",
			},
		},
		Result: domain.CellFacts{
			ExecutionID: "chat-evidence.local.plan-revision-r1", Status: "passed", Cleanup: "passed", CaseID: "plan-revision-r1",
			ProfileID: "runner-opencode-chat", Provider: "opencode", Model: "openrouter/deepseek/deepseek-v3.2",
			SuiteDefinitionHash: digest, WorkflowRunURL: "https://github.com/paperclipai/paperclip/actions/runs/10290811331",
			StartedAt: "2026-09-27T15:45:40.744Z", FinishedAt: "2026-09-27T15:55:44.904Z", DurationMS: 604160,
			RunIDs: []string{"5c1e0a52-9a67-4f57-9a34-1f2e3d4c5b6a"},
		},
		Usage: domain.Usage{Tokens: ptr(18234.0), CostUSD: ptr(0.0183), Coverage: "reported"},
		Provenance: domain.Provenance{
			Repository: "paperclipai/paperclip", Workflow: "runner-full-stack-e2e.yml", WorkflowRef: "refs/heads/master",
			RunID: "10290811331", RunAttempt: 1, ArtifactID: "4074995751", ArchiveSHA256: digest, TargetSourceRevision: digest[:40],
		},
	}
}

func openedCampaign() *domain.Opening {
	return &domain.Opening{
		SourceRevision: digest[:40], Label: "nightly",
		Policy: &domain.Policy{
			VerdictRules: domain.VerdictRules{
				Qualifies: &domain.Qualifies{ScenarioPasses: ptr(int64(1)), PassRate: ptr(0.9)},
				Plausible: &domain.Plausible{CostUSD: domain.Range{0, 50}, Tokens: domain.Range{0, 1e9}, DurationMS: &domain.Range{0, 1}},
			},
			Repository: "paperclipai/paperclip", Ordinals: []int64{1, 2}, Provenance: []string{"github-api"},
			Database:  domain.Database{ImageIDs: []string{"sha256:" + digest}},
			Documents: domain.Documents{Result: "result.json", Host: "host.json", Definition: "definition.json"},
		},
		Scenarios: []domain.Scenario{{ID: "plan-revision"}},
		Selected:  []domain.Selection{{ScenarioID: "plan-revision", ExecutionID: "e1", RemoteOrdinal: 1}},
		Budget:    &domain.Budget{CostUSD: 1e21},
	}
}

// decisions has one decision of every kind, outcome and data.
func decisions() map[string]*domain.Decision {
	reference := &domain.CellReference{ImportKey: "1/1/e", Provenance: domain.Provenance{Repository: "a/b"}}
	refused := &domain.CellRefused{Provenance: &domain.Provenance{Repository: "a/b"}, Claimed: &domain.Claim{
		ImportKey: ptr("1/1/e"), ExecutionID: ptr("e"), Slot: ptr("s/1"), Status: ptr("failed"),
		Usage: &domain.Usage{Tokens: ptr(12.0), CostUSD: ptr(40.5), Coverage: "reported"}, ResultSHA256: ptr(digest)}}
	void := &domain.VoidReference{ImportKey: "1/1/e", Actor: "ada", Reason: "wrong branch"}
	all := map[string]*domain.Decision{
		"campaign opened":        decision(domain.KindCampaign, domain.Accepted, openedCampaign()),
		"campaign again":         decision(domain.KindCampaign, domain.Duplicate, nil),
		"campaign refused":       decision(domain.KindCampaign, domain.Rejected, nil),
		"cell imported":          decision(domain.KindCell, domain.Accepted, importedCell()),
		"cell again":             decision(domain.KindCell, domain.Duplicate, reference),
		"cell refused":           decision(domain.KindCell, domain.Rejected, refused),
		"cell unread":            decision(domain.KindCell, domain.Rejected, &domain.CellRefused{}),
		"cell malformed":         decision(domain.KindCell, domain.Rejected, nil),
		"void accepted":          decision(domain.KindVoid, domain.Accepted, void),
		"void again":             decision(domain.KindVoid, domain.Duplicate, void),
		"void refused":           decision(domain.KindVoid, domain.Rejected, void),
		"seal again":             decision(domain.KindSeal, domain.Duplicate, &domain.SealRequest{Actor: "ada"}),
		"seal malformed":         decision(domain.KindSeal, domain.Rejected, nil),
		"checkpoint pending":     decision(domain.KindCheckpoint, domain.Pending, &domain.CheckpointReference{Key: domain.CheckpointKey{RunID: "r"}}),
		"checkpoint again":       decision(domain.KindCheckpoint, domain.Duplicate, &domain.CheckpointReference{}),
		"checkpoint contradicts": decision(domain.KindCheckpoint, domain.Rejected, &domain.CheckpointReference{}),
		"sealed": decision(domain.KindSeal, domain.Accepted, &domain.Seal{
			Actor:   "ada",
			Verdict: domain.Verdict{Word: domain.Incomplete, Reasons: []domain.VerdictReason{{Code: domain.CodeCellMissing, Count: 1, Slots: []string{"s/1"}}}},
			Tally: domain.Tally{Selected: 1, Missing: 1, Voids: []domain.VoidShown{},
				Spend: domain.TallySpend{Counted: domain.Spend{CostUSD: ptr("0.1"), Tokens: ptr("3"), Reported: 1, Cells: 1}}},
		}),
	}
	unknown := decision("", domain.Rejected, nil)
	ofNone(unknown)
	unknown.Campaign, unknown.Reason = "", domain.ReasonArrivalMalformed
	all["no legal subject"] = unknown
	first := decision(domain.KindCell, domain.Rejected, nil)
	first.Index, first.Arrival.Seq, first.Prev, first.Arrival.ID = 0, 1, events.GenesisHash, ""
	ofNone(first)
	all["first, campaign unknown"] = first
	return all
}

func TestRecordRoundTrip(t *testing.T) {
	for name, want := range decisions() {
		t.Run(name, func(t *testing.T) {
			record, err := events.EncodeRecord(want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := events.DecodeCanonicalRecord(record)
			if err != nil {
				t.Fatalf("%v\n%s", err, record)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\n%s", diff, record)
			}
		})
	}
}

func TestRecordIsPrintedAsSpecified(t *testing.T) {
	d := decision(domain.KindVoid, domain.Rejected, &domain.VoidReference{ImportKey: "1/1/é\x01\u007f", Actor: "a\"b"})
	const want = `{"v":1,"index":41,"prev":"` + digest + `","arrival":{"seq":42,"id":"01999999-aaaa-7bbb-8ccc-dddddddddddd","sha256":"` + digest +
		`","time":"2026-10-01T10:00:00.000001200Z"},"campaign":"chat-review","kind":"void","outcome":"rejected","reason":"usage_mismatch",` +
		`"field":"/a~1b/0","detail":"a \"sentence\"\nof <two> & ` + "\u2028" + ` lines","repeats":null,"accepted":7,` +
		`"refused":2,"refusedFailed":1,"campaignIndex":9,"campaignPrev":"` + digest + `",` +
		`"data":{"importKey":"1/1/é\u0001` + "\u007f" + `","measurementKey":"","scenarioId":"","ordinal":0,"actor":"a\"b","reason":""}}`
	got, err := events.EncodeRecord(d)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error(cmp.Diff(want, string(got)))
	}
}

func TestRecordTimesAreUTC(t *testing.T) {
	d := decision(domain.KindCampaign, domain.Rejected, nil)
	utc, err := events.EncodeRecord(d)
	if err != nil {
		t.Fatal(err)
	}
	d.Arrival.Time = d.Arrival.Time.In(time.FixedZone("elsewhere", 5*60*60+30*60))
	zoned, err := events.EncodeRecord(d)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(utc, zoned) {
		t.Errorf("a record depends on the time's zone:\n%s\n%s", utc, zoned)
	}
}

func TestRecordNumbers(t *testing.T) {
	rows := map[string]struct {
		cost float64
		want string
	}{
		"plain":         {0.0183, "0.0183"},
		"integer":       {3, "3"},
		"shortest":      {math.Nextafter(0.3, 1), "0.30000000000000004"},
		"small":         {1e-6, "0.000001"},
		"smaller":       {1e-7, "1e-7"},
		"large":         {1e20, "100000000000000000000"},
		"larger":        {1e21, "1e+21"},
		"negative zero": {-zero(), "0"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			cell := importedCell()
			cell.Usage.CostUSD = &row.cost
			record, err := events.EncodeRecord(decision(domain.KindCell, domain.Accepted, cell))
			if err != nil {
				t.Fatal(err)
			}
			if want := `"costUsd":` + row.want + `,`; !strings.Contains(string(record), want) {
				t.Errorf("want %s in %s", want, record)
			}
		})
	}
}

// zero is no constant: the constant -0 is 0.
func zero() float64 { return 0 }

// TestNoNumberPrintsNegativeZero finds every float64 of every Data by
// reflection, so that a new one is not forgotten.
func TestNoNumberPrintsNegativeZero(t *testing.T) {
	for name, d := range decisions() {
		if d.Data == nil {
			continue
		}
		negative := -zero()
		if setFloats(reflect.ValueOf(d.Data), negative) == 0 {
			continue
		}
		record, err := events.EncodeRecord(d)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(record, []byte(":-0")) {
			t.Errorf("%s prints -0: %s", name, record)
		}
	}
}

func setFloats(v reflect.Value, to float64) int {
	n := 0
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n += setFloats(v.Elem(), to)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += setFloats(v.Field(i), to)
		}
	case reflect.Slice:
		for i := range v.Len() {
			n += setFloats(v.Index(i), to)
		}
	case reflect.Float64:
		v.SetFloat(to)
		n++
	}
	return n
}

func TestEncodeRefusesWhatNoRecordHolds(t *testing.T) {
	rows := map[string]func(*domain.Decision){
		"no version":               func(d *domain.Decision) { d.V = 0 },
		"index and sequence":       func(d *domain.Decision) { d.Index++ },
		"no previous hash":         func(d *domain.Decision) { d.Prev = "" },
		"upper-case previous hash": func(d *domain.Decision) { d.Prev = strings.ToUpper(digest) },
		"no digest":                func(d *domain.Decision) { d.Arrival.SHA256 = digest[1:] },
		"id is not UTF-8":          func(d *domain.Decision) { d.Arrival.ID = "\xff" },
		"year 10000":               func(d *domain.Decision) { d.Arrival.Time = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"kind without campaign":    func(d *domain.Decision) { d.Campaign = "" },
		"illegal campaign":         func(d *domain.Decision) { d.Campaign = "a.b" },
		"unknown kind":             func(d *domain.Decision) { d.Kind = "cells" },
		"unknown outcome":          func(d *domain.Decision) { d.Outcome = "maybe" },
		"pending cell":             func(d *domain.Decision) { d.Outcome = domain.Pending },
		"reason without rejection": func(d *domain.Decision) { d.Reason = domain.ReasonImportUnknown },
		"rejection without reason": func(d *domain.Decision) { d.Outcome = domain.Rejected },
		"duplicate of nothing":     func(d *domain.Decision) { d.Outcome = domain.Duplicate },
		"duplicate of the future":  func(d *domain.Decision) { d.Outcome, d.Repeats = domain.Duplicate, ptr(d.Index) },
		"repeats while accepted":   func(d *domain.Decision) { d.Repeats = ptr(uint64(1)) },
		"accepted without count":   func(d *domain.Decision) { d.Accepted = nil },
		"refused without count":    func(d *domain.Decision) { d.Refused = nil },
		"chain without place":      func(d *domain.Decision) { d.CampaignIndex = nil },
		"first with a previous":    func(d *domain.Decision) { d.CampaignIndex = ptr(uint64(0)) },
		"campaignPrev is no hash":  func(d *domain.Decision) { d.CampaignPrev = ptr("x") },
		"accepted without data":    func(d *domain.Decision) { d.Data = nil },
		"data is not UTF-8":        func(d *domain.Decision) { d.Data = &domain.CellReference{ImportKey: "\xff"} },
	}
	for name, change := range rows {
		t.Run(name, func(t *testing.T) {
			d := decision(domain.KindCell, domain.Accepted, importedCell())
			change(d)
			if record, err := events.EncodeRecord(d); !errors.Is(err, events.ErrRecordMalformed) {
				t.Errorf("%v: %s", err, record)
			}
		})
	}
}

func TestDecodeRefusesWhatDoesNotPrintTheSame(t *testing.T) {
	d := decision(domain.KindCell, domain.Duplicate, &domain.CellReference{ImportKey: "k"})
	d.Field, d.Detail = "/a~1b/0", "a \"sentence\"\nof <two> & \u2028 lines"
	record, err := events.EncodeRecord(d)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]struct{ old, new string }{
		"space before":              {`{"v"`, ` {"v"`},
		"space after":               {`}}}`, `}}} `},
		"space within":              {`"index":`, `"index": `},
		"leading zero":              {`"index":41`, `"index":041`},
		"sign":                      {`"index":41`, `"index":+41`},
		"exponent":                  {`"index":41`, `"index":41e0`},
		"other order":               {`{"v":1,"index":41,`, `{"index":41,"v":1,`},
		"missing field":             {`"repeats":3,`, ``},
		"field twice":               {`"repeats":3,`, `"repeats":3,"repeats":3,`},
		"unknown field":             {`"repeats":3,`, `"repeats":3,"more":1,`},
		"other case":                {`"campaign"`, `"Campaign"`},
		"version as text":           {`{"v":1,`, `{"v":"1",`},
		"version too large":         {`{"v":1,`, `{"v":2147483648,`},
		"index too large":           {`"index":41`, `"index":18446744073709551616`},
		"escaped letter":            {`"chat-review"`, `"\u0063hat-review"`},
		"escaped slash":             {`"/a~1b/0"`, `"\/a~1b/0"`},
		"escaped separator":         {"\u2028", `\u2028`},
		"raw control":               {`\n`, "\n"},
		"not UTF-8":                 {`sentence`, "\xff"},
		"lone surrogate":            {`sentence`, `\ud800`},
		"eight digits":              {`00.000001200Z`, `00.00000120Z`},
		"ten digits":                {`00.000001200Z`, `00.0000012000Z`},
		"comma":                     {`00.000001200Z`, `00,000001200Z`},
		"offset":                    {`00.000001200Z`, `00.000001200+00:00`},
		"no such day":               {`2026-10-01T`, `2026-02-30T`},
		"lower case T":              {`2026-10-01T`, `2026-10-01t`},
		"prev cut":                  {`"prev":"0`, `"prev":"`},
		"sequence is not index + 1": {`"seq":42`, `"seq":43`},
		"other data":                {`"data":{"importKey"`, `"data":{"import"`},
		"data with more":            {`"data":{`, `"data":{"more":1,`},
		"data of another type":      {`"data":{"importKey":"k"`, `"data":{"importKey":1`},
		"data is a list":            {`"data":{`, `"data":[{`},
		"data ends early":           {`}}}`, `}}`},
		"more after data":           {`}}}`, `}},"more":1}`},
		"two values":                {`}}}`, `}}}{}`},
	}
	canonicalOnly := map[string]struct{ old, new string }{
		"space in data":             {`"data":{`, `"data":{ `},
		"data without a field":      {`"measurementKey":"",`, ``},
		"data in another order":     {`"importKey":"k","measurementKey":""`, `"measurementKey":"","importKey":"k"`},
		"number in another form":    {`"ordinal":0`, `"ordinal":-0`},
		"escaped letter in data":    {`"importKey":"k"`, `"importKey":"\u006b"`},
		"null where a string is":    {`"importKey":"k"`, `"importKey":null`},
		"null where an object is":   {`"provenance":{`, `"provenance":null,"x":{`},
		"decimal point in a number": {`"ordinal":0`, `"ordinal":0.0`},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			altered := alter(t, record, row.old, row.new)
			if d, err := events.DecodeRecord(altered); !errors.Is(err, events.ErrRecordMalformed) {
				t.Errorf("%v: %+v\n%s", err, d, altered)
			}
		})
	}
	for name, row := range canonicalOnly {
		t.Run(name, func(t *testing.T) {
			altered := alter(t, record, row.old, row.new)
			if d, err := events.DecodeCanonicalRecord(altered); !errors.Is(err, events.ErrRecordMalformed) {
				t.Errorf("%v: %+v\n%s", err, d, altered)
			}
		})
	}
}

func alter(t *testing.T, record []byte, old, new string) []byte {
	t.Helper()
	altered := strings.Replace(string(record), old, new, 1)
	if altered == string(record) {
		t.Fatalf("%q is not in %s", old, record)
	}
	return []byte(altered)
}

func TestDecodeRefusesDataThatDoesNotGoWithTheOutcome(t *testing.T) {
	record, err := events.EncodeRecord(decision(domain.KindCampaign, domain.Rejected, nil))
	if err != nil {
		t.Fatal(err)
	}
	altered := alter(t, record, `"data":null`, `"data":{}`)
	if _, err := events.DecodeRecord(altered); !errors.Is(err, events.ErrRecordMalformed) {
		t.Error(err)
	}
}

// TestRecordLimits checks both limits at their edges.
func TestRecordLimits(t *testing.T) {
	void, opening := &domain.VoidReference{}, openedCampaign()
	rows := map[string]struct {
		decision *domain.Decision
		filler   *string
		limit    int
	}{
		"ordinary":        {decision(domain.KindVoid, domain.Accepted, void), &void.Reason, events.MaxOrdinaryRecordBytes},
		"opened campaign": {decision(domain.KindCampaign, domain.Accepted, opening), &opening.Label, events.MaxRecordBytes},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			*row.filler = ""
			empty, err := events.EncodeRecord(row.decision)
			if err != nil {
				t.Fatal(err)
			}
			*row.filler = strings.Repeat("x", row.limit-len(empty))
			record, err := events.EncodeRecord(row.decision)
			if err != nil || len(record) != row.limit {
				t.Fatalf("%d bytes: %v", len(record), err)
			}
			if _, err := events.DecodeCanonicalRecord(record); err != nil {
				t.Error(err)
			}
			*row.filler += "x"
			if _, err := events.EncodeRecord(row.decision); !errors.Is(err, events.ErrRecordTooLarge) {
				t.Errorf("one byte more: %v", err)
			}
		})
	}
	if _, err := events.DecodeRecord(bytes.Repeat([]byte(" "), events.MaxRecordBytes+1)); !errors.Is(err, events.ErrRecordMalformed) {
		t.Error(err)
	}
}

func TestGenesisHash(t *testing.T) {
	if want := strings.Repeat("0", 64); events.GenesisHash != want {
		t.Error(events.GenesisHash)
	}
}

func BenchmarkEncodeRecord(b *testing.B) {
	d := decision(domain.KindCell, domain.Accepted, importedCell())
	b.ReportAllocs()
	for b.Loop() {
		record, err := events.EncodeRecord(d)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(record)))
	}
}

func BenchmarkDecodeRecord(b *testing.B) {
	record, err := events.EncodeRecord(decision(domain.KindCell, domain.Accepted, importedCell()))
	if err != nil {
		b.Fatal(err)
	}
	for name, decode := range map[string]func([]byte) (*domain.Decision, error){
		"cheap": events.DecodeRecord, "canonical": events.DecodeCanonicalRecord,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(record)))
			for b.Loop() {
				if _, err := decode(record); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
