package domain

import (
	"bufio"
	"compress/gzip"
	"os"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// vectorRows reads recorded behaviour: one JSON object a line, compressed.
func vectorRows(t testing.TB, name string, want int) []strictjson.Value {
	t.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []strictjson.Value
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		row, err := strictjson.Parse(lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(rows) != want {
		t.Fatalf("%s has %d rows, want %d", name, len(rows), want)
	}
	return rows
}

// vectorInput makes a validation's arguments of a vector's input.
func vectorInput(input strictjson.Value) (*Intent, *CellEvidence) {
	document := func(name string) Document {
		d := input.Get(name)
		return ReadDocument(text(d.Get("path")), []byte(text(d.Get("bytes"))), text(d.Get("sha256")))
	}
	p := input.Get("provenance")
	attempt, _ := p.Get("runAttempt").SafeInteger()
	evidence := &CellEvidence{
		Provenance: Provenance{
			Repository: text(p.Get("repository")), Workflow: text(p.Get("workflow")), WorkflowRef: text(p.Get("workflowRef")),
			RunID: text(p.Get("runId")), RunAttempt: attempt, ArtifactID: text(p.Get("artifactId")),
			ArchiveSHA256: text(p.Get("archiveSha256")), TargetSourceRevision: text(p.Get("targetSourceRevision")),
		},
		Result: document("result"), Host: document("host"), Definition: document("definition"),
	}
	var selections []Selection
	for _, s := range input.At("intent", "selected").Elements() {
		ordinal, _ := s.Get("remoteOrdinal").SafeInteger()
		selections = append(selections, Selection{ScenarioID: text(s.Get("scenarioId")), ExecutionID: text(s.Get("executionId")), RemoteOrdinal: ordinal})
	}
	intent := input.Get("intent")
	return NewIntent(text(intent.Get("campaignId")), text(intent.Get("sourceRevision")), selections), evidence
}

func text(v strictjson.Value) string {
	s, _ := v.Text()
	return s
}

// sameJSON compares what value prints with what is wanted.
func sameJSON(t *testing.T, what string, value any, want strictjson.Value) {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	got, err := strictjson.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if !strictjson.Equal(got, want) {
		t.Errorf("the %s is not the recorded one: %s", what, raw)
	}
}

func TestPresetIsTheRecordedPolicy(t *testing.T) {
	raw, err := os.ReadFile("testdata/policy.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded Policy
	if err := json.Unmarshal(raw, &recorded, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	expanded, refusal := recorded.Check()
	if refusal != nil {
		t.Fatal(refusal)
	}
	preset, _ := Preset(PresetPaperclipChat)
	want, err := json.Marshal(expanded)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := strictjson.Parse(want)
	if err != nil {
		t.Fatal(err)
	}
	sameJSON(t, "preset", preset, parsed)
}

func TestValidationVectors(t *testing.T) {
	policy, _ := Preset(PresetPaperclipChat)
	for _, row := range vectorRows(t, "cell-validation.jsonl.gz", 293) {
		t.Run(text(row.Get("id"))+" "+text(row.Get("kind")), func(t *testing.T) {
			intent, evidence := vectorInput(row.Get("input"))
			measured, refusal := ValidateCell(intent, policy, evidence)
			want := row.Get("want")
			if want.Get("ok").IsFalse() {
				if refusal == nil || string(refusal.Reason) != text(want.Get("reason")) {
					t.Fatalf("got %+v, want %s", refusal, text(want.Get("reason")))
				}
				if refusal.Field == "" || refusal.Message == "" {
					t.Errorf("the refusal says too little: %+v", refusal)
				}
				return
			}
			if refusal != nil {
				t.Fatalf("refused: %+v", refusal)
			}
			sameJSON(t, "cell", measured.Cell, want.Get("cell"))
			sameJSON(t, "usage", measured.Usage, want.Get("usage"))
		})
	}
}

func TestApplicationVectors(t *testing.T) {
	policy, _ := Preset(PresetPaperclipChat)
	for _, row := range vectorRows(t, "cell-application.jsonl.gz", 60) {
		t.Run(text(row.Get("id")), func(t *testing.T) {
			campaign := vectorCampaign(row.Get("campaign"))
			for i, step := range row.Get("steps").Elements() {
				intent, evidence := vectorInput(step.Get("input"))
				measured, refusal := ValidateCell(intent, policy, evidence)
				if refusal != nil {
					t.Fatalf("step %d does not validate: %+v", i, refusal)
				}
				qualification, refusal := NewQualification(step.Get("qualification"))
				if refusal != nil {
					t.Fatalf("step %d has no qualification: %+v", i, refusal)
				}
				applyVector(t, campaign, measured, qualification, step)
			}
			checkImports(t, campaign, row.Get("wantImports"))
		})
	}
}

// vectorCampaign is a campaign with scenarios and nothing else: the vectors
// apply cells that were selected elsewhere.
func vectorCampaign(v strictjson.Value) *Campaign {
	c := &Campaign{
		id: text(v.Get("campaignId")), intent: NewIntent(text(v.Get("campaignId")), "", nil), opening: &Opening{Policy: paperclipChat()}, definitions: map[string]definitionsSeen{},
		scenarios: map[string]Scenario{}, byImportKey: map[string]*Import{}, byMeasurementKey: map[string]*Import{},
		bySlot: map[Slot]*Import{}, byScenario: map[string]*counts{},
	}
	for _, scenario := range v.Get("scenarios").Elements() {
		id := text(scenario.Get("id"))
		c.scenarios[id], c.byScenario[id] = Scenario{ID: id}, &counts{}
	}
	return c
}

func applyVector(t *testing.T, c *Campaign, m *Measured, q *Qualification, step strictjson.Value) {
	t.Helper()
	repeated, refusal := c.admit(m, q)
	want := step.Get("want")
	switch {
	case want.Get("ok").IsFalse():
		if refusal == nil || string(refusal.Reason) != text(want.Get("reason")) {
			t.Fatalf("%s: got %+v, want %s", text(step.Get("kind")), refusal, text(want.Get("reason")))
		}
	case refusal != nil:
		t.Fatalf("%s: refused: %+v", text(step.Get("kind")), refusal)
	case (repeated != nil) != want.Get("duplicate").IsTrue():
		t.Fatalf("%s: duplicate is %v", text(step.Get("kind")), repeated != nil)
	case repeated == nil:
		d := &Decision{Index: uint64(len(c.byImportKey)), Outcome: Accepted, Kind: KindCell, Campaign: c.id,
			Accepted: pointerTo(c.accepted + 1), CampaignIndex: pointerTo(c.accepted + 1), Data: &CellImported{Cell: m.Cell, Result: m.Facts, Usage: m.Usage}}
		if _, err := FoldAccepted(c, d); err != nil {
			t.Fatal(err)
		}
	}
}

func checkImports(t *testing.T, c *Campaign, want strictjson.Value) {
	t.Helper()
	if len(c.byImportKey) != want.Len() {
		t.Fatalf("%d imports, want %d", len(c.byImportKey), want.Len())
	}
	for _, w := range want.Elements() {
		ordinal, _ := w.Get("ordinal").SafeInteger()
		got, ok := c.Import(text(w.Get("importKey")))
		if !ok || got.MeasurementKey != text(w.Get("measurementKey")) || got.ResultSHA256 != text(w.Get("resultSha256")) ||
			got.ArtifactSHA256 != text(w.Get("artifactSha256")) || got.Slot != (Slot{text(w.Get("scenarioId")), ordinal}) {
			t.Errorf("import %s is not the recorded one: %+v", text(w.Get("importKey")), got)
		}
	}
}
