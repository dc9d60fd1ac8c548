package domain

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

const (
	testCampaign = "chat-review"
	testRevision = "431c72fa01eac861c0da8c8101375b849495e13e"
	testPrefix   = "tests/runner-e2e/results/"
)

func digestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// testOpening selects both ordinals of the scenarios.
func testOpening(scenarios ...string) *Opening {
	o := &Opening{SourceRevision: testRevision, PolicyPreset: PresetPaperclipChat}
	for _, id := range scenarios {
		o.Scenarios = append(o.Scenarios, Scenario{ID: id, DefinitionDigest: digestOf("definition"), GraderDigest: digestOf("grader")})
		for _, ordinal := range []int64{1, 2} {
			o.Selected = append(o.Selected, Selection{ScenarioID: id, ExecutionID: execution(id, ordinal), RemoteOrdinal: ordinal})
		}
	}
	return o
}

func execution(scenario string, ordinal int64) string {
	return fmt.Sprintf("run.%s-r%d", scenario, ordinal)
}

type object = map[string]any

// testCell is a cell's evidence that can be altered before it is printed. It
// passes every gate as it is.
type testCell struct {
	provenance               Provenance
	result, host, definition object
	qualification            string
}

func newCell(scenario string, ordinal int64) *testCell {
	executionID, engine := execution(scenario, ordinal), digestOf("engine")
	policy, _ := Preset(PresetPaperclipChat)
	image := policy.Database.ImageIDs[0]
	return &testCell{
		provenance: Provenance{
			Repository: policy.Repository, Workflow: policy.Workflow, WorkflowRef: policy.WorkflowRef, RunID: "10290811331",
			RunAttempt: 1, ArtifactID: "4074995751", ArchiveSHA256: digestOf(executionID), TargetSourceRevision: testRevision,
		},
		result: object{
			"schema": policy.ResultSchema, "executionId": executionID, "suiteDefinitionHash": digestOf("suite"), "attempt": 1,
			"source": object{"sha": testRevision, "workflowRunUrl": "https://github.com/paperclipai/paperclip/actions/runs/10290811331"},
			"status": "passed", "cleanup": "passed", "profileId": policy.ProfileID, "environmentId": "local", "provider": policy.Provider, "model": policy.Model,
			"startedAt": "2026-09-27T15:45:40.744Z", "finishedAt": "2026-09-27T15:55:44.904Z", "durationMs": 604160,
			"accountingIdentity": object{"campaignId": "framework-1", "attemptId": digestOf("attempt" + executionID)[:32]},
			"databaseIdentity": object{"lane": policy.Database.Lane, "image": policy.Database.Image, "imageId": image,
				"version": policy.Database.Version, "architecture": policy.Database.Architecture, "engineSha256": engine},
			"billing": object{"llm": object{"totalTokens": 1000, "reportedCostUsd": 0.1, "costStatus": "reported"}},
			"runIds":  []any{"run-" + executionID},
		},
		host: object{
			"schema": policy.HostSchema, "status": "qualified-host-only", "scope": "before-evaluation", "evaluationAdmitted": false,
			"spotVerified": true, "lifecycle": "spot", "architecture": "x86_64", "region": "us-east-1",
			"workflowRef":   "paperclipai/paperclip/.github/workflows/runner-full-stack-e2e.yml@refs/heads/master",
			"workflowRunId": "10290811331", "workflowAttempt": 1, "sourceRevision": testRevision, "executionIds": []any{executionID},
			"automaticRetries": 0, "dockerEngineSha256": engine,
			"postgres": object{"image": policy.Database.Image, "imageId": image, "architecture": "amd64", "version": policy.Database.Version},
		},
		definition: object{
			"scenarioId": scenario, "definitionDigest": digestOf("definition"), "graderDigest": digestOf("grader"), "suiteDefinitionHash": digestOf("suite"),
		},
	}
}

// set alters a member; path is like "result.source.sha".
func (c *testCell) set(path string, value any) *testCell {
	names := strings.Split(path, ".")
	at := map[string]object{"result": c.result, "host": c.host, "definition": c.definition}[names[0]]
	for _, name := range names[1 : len(names)-1] {
		inner := maps.Clone(at[name].(object))
		at[name] = inner
		at = inner
	}
	if value == nil {
		delete(at, names[len(names)-1])
	} else {
		at[names[len(names)-1]] = value
	}
	return c
}

func (c *testCell) evidence(t testing.TB) *CellEvidence {
	t.Helper()
	document := func(name string, content object) Document {
		raw, err := json.Marshal(content, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		return ReadDocument(testPrefix+"run/"+name+".json", raw, digestOf(string(raw)))
	}
	e := &CellEvidence{Provenance: c.provenance, Result: document("result", c.result), Host: document("host", c.host),
		Definition: document("definition", c.definition)}
	if c.qualification != "" {
		v, err := strictjson.Parse([]byte(c.qualification))
		if err != nil {
			t.Fatal(err)
		}
		var refusal *Refusal
		if e.Qualification, refusal = NewQualification(v); refusal != nil {
			t.Fatalf("%+v", refusal)
		}
	}
	return e
}

// ledger decides arrivals one after the other, as the writer does.
type ledger struct {
	t         testing.TB
	states    map[string]*Campaign
	decisions []*Decision
}

func newLedger(t testing.TB) *ledger { return &ledger{t: t, states: map[string]*Campaign{}} }

// openLedger is a ledger with the campaign of two scenarios.
func openLedger(t testing.TB) *ledger {
	l := newLedger(t)
	l.want(l.opening(testOpening("greeting", "approval")), Accepted, "")
	return l
}

func (l *ledger) decide(a *Arrival) *Decision {
	l.t.Helper()
	a.Seq = uint64(len(l.decisions)) + 1
	a.ID, a.SHA256 = fmt.Sprintf("id-%d", a.Seq), digestOf(fmt.Sprint(a.Seq))
	a.Time = time.Date(2026, 9, 27, 15, 0, 0, int(a.Seq), time.UTC) // before the cells started
	if a.Seq > 1 {
		a.Time = a.Time.Add(time.Hour) // after they finished
	}
	if a.Campaign == "" {
		a.Campaign = testCampaign
	}
	d, err := Decide(RuleVersion, l.states[a.Campaign], a)
	if err != nil {
		l.t.Fatal(err)
	}
	state, err := Fold(l.states[a.Campaign], d, recordHash(d))
	if err != nil {
		l.t.Fatal(err)
	}
	l.states[a.Campaign] = state
	l.decisions = append(l.decisions, d)
	return d
}

// recordHash stands for the hash of d's record, which is printed elsewhere.
func recordHash(d *Decision) string { return digestOf(fmt.Sprint("record ", d.Index)) }

func (l *ledger) opening(o *Opening) *Decision {
	return l.decide(&Arrival{Kind: KindCampaign, Opening: o})
}
func (l *ledger) cell(c *testCell) *Decision {
	return l.decide(&Arrival{Kind: KindCell, Cell: c.evidence(l.t)})
}
func (l *ledger) void(key string) *Decision {
	return l.decide(&Arrival{Kind: KindVoid, Void: &VoidRequest{ImportKey: key, Actor: "ana", Reason: "wrong branch"}})
}
func (l *ledger) seal() *Decision {
	return l.decide(&Arrival{Kind: KindSeal, Seal: &SealRequest{Actor: "ana"}})
}

func (l *ledger) want(d *Decision, outcome Outcome, reason Reason) *Decision {
	l.t.Helper()
	if d.Outcome != outcome || d.Reason != reason {
		l.t.Fatalf("decision %d is %s %s (%s: %s), want %s %s", d.Index, d.Outcome, d.Reason, d.Field, d.Detail, outcome, reason)
	}
	return d
}

func (l *ledger) state() *Campaign { return l.states[testCampaign] }

func importKey(scenario string, ordinal int64) string {
	return "10290811331/1/" + execution(scenario, ordinal)
}
