package domain

import (
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

const goodQualification = `{"attempt":{"ordinal":1,"executionId":"run.greeting-r1","sourceRevision":"` + testRevision + `",
	"startedAt":"2026-09-27T15:45:40.744Z","profile":"runner-opencode-chat","model":"openrouter/deepseek/deepseek-v3.2",
	"definitionDigest":"DEFINITION","graderDigest":"GRADER","suiteDefinitionDigest":"SUITE",
	"databaseLane":{"image":"IMAGE","lane":"owned-docker-postgres","imageId":"IMAGEID","version":"17.6","architecture":"amd64"}},
	"completion":{"finishedAt":"2026-09-27T15:55:44.904Z","outcome":"passed","cleanup":"passed",
	"usage":{"tokens":1e3,"costUsd":0.10,"coverage":"reported"},"evidencePaths":["tests/runner-e2e/results/run/result.json","more"]}}`

func qualificationText() string {
	policy, _ := Preset(PresetPaperclipChat)
	return strings.NewReplacer("DEFINITION", digestOf("definition"), "GRADER", digestOf("grader"), "SUITE", digestOf("suite"),
		"IMAGEID", policy.Database.ImageIDs[0], "IMAGE", policy.Database.Image).Replace(goodQualification)
}

func TestQualificationMustBeTheCells(t *testing.T) {
	for _, test := range []struct {
		name, old, new string
		reason         Reason
		field          string
	}{
		{"as it is", "", "", "", ""},
		{"tokens as text", `"tokens":1e3`, `"tokens":"1000"`, ReasonUsageMismatch, "usage/tokens"},
		{"cost null", `0.10`, `null`, ReasonUsageMismatch, "usage/costUsd"},
		{"coverage", `"coverage":"reported"`, `"coverage":"partial"`, ReasonUsageMismatch, "usage/coverage"},
		{"ordinal", `"ordinal":1`, `"ordinal":2`, ReasonQualificationMismatch, "attempt/ordinal"},
		{"lane", `"version":"17.6"`, `"version":17.6`, ReasonQualificationMismatch, "attempt/databaseLane"},
		{"finish", `"finishedAt":"2026`, `"finishedAt":"2027`, ReasonQualificationMismatch, "completion/finishedAt"},
		{"outcome", `"outcome":"passed"`, `"outcome":"failed"`, ReasonOutcomeRewritten, "completion/outcome"},
		{"cleanup", `"cleanup":"passed"`, `"cleanup":null`, ReasonOutcomeRewritten, "completion/cleanup"},
		{"evidence", `results/run/result.json`, `results/run/other.json`, ReasonOutcomeRewritten, "completion/evidencePaths"},
		{"evidence as a string", `["tests/runner-e2e/results/run/result.json","more"]`, `"tests/runner-e2e/results/run/result.json"`,
			ReasonOutcomeRewritten, "completion/evidencePaths"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := openLedger(t)
			cell := newCell("greeting", 1)
			text := qualificationText()
			cell.qualification = strings.Replace(text, test.old, test.new, 1)
			if test.old != "" && cell.qualification == text {
				t.Fatal("the test changes nothing")
			}
			d := l.cell(cell)
			if test.reason == "" {
				l.want(d, Accepted, "")
				return
			}
			l.want(d, Rejected, test.reason)
			if !strings.HasSuffix(d.Field, test.field) {
				t.Errorf("field %q", d.Field)
			}
		})
	}
}

func TestQualificationIsClosed(t *testing.T) {
	for _, test := range []struct{ name, old, new, field string }{
		{"missing member", `"outcome":"passed",`, ``, "/qualification/completion/outcome"},
		{"missing usage", `"tokens":1e3,`, ``, "/qualification/completion/usage/tokens"},
		{"unknown member", `"ordinal":1`, `"ordinal":1,"or/d":2`, "/qualification/attempt/or~1d"},
		{"attempt is no object", `"attempt":{`, `"attempt":[],"completions":{`, "/qualification/completions"},
		{"lane is null", `"databaseLane":{`, `"databaseLane":null,"x":{`, "/qualification/attempt/x"},
	} {
		v, err := strictjson.Parse([]byte(strings.Replace(qualificationText(), test.old, test.new, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if _, refusal := NewQualification(v); refusal == nil || refusal.Reason != ReasonArrivalMalformed || refusal.Field != test.field {
			t.Errorf("%s: %+v, want %s", test.name, refusal, test.field)
		}
	}
}

func TestQualificationIsAskedAfterTheConflict(t *testing.T) {
	l := openLedger(t)
	l.want(l.cell(newCell("greeting", 1)), Accepted, "")
	again := newCell("greeting", 1)
	again.qualification = strings.Replace(qualificationText(), `"outcome":"passed"`, `"outcome":"failed"`, 1)
	l.want(l.cell(again), Duplicate, "")
}
