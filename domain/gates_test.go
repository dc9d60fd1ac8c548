package domain

import (
	"strings"
	"testing"
)

// TestGates alters one thing of a good cell; each alteration has its gate and
// field.
func TestGates(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*testCell)
		reason Reason
		field  string
	}{
		{"run id as it may be", func(c *testCell) { rerunAs(c, strings.Repeat("1", maxRunIDDigits)) }, "", ""},
		{"run id too long", func(c *testCell) { rerunAs(c, strings.Repeat("1", maxRunIDDigits+1)) }, ReasonArtifactIdentityInvalid, "/provenance/runId"},
		{"run id of other digits", func(c *testCell) { rerunAs(c, "١") }, ReasonArtifactIdentityInvalid, "/provenance/runId"},
		{"no artifact id", func(c *testCell) { c.provenance.ArtifactID = "" }, ReasonArtifactIdentityInvalid, "/provenance/artifactId"},
		{"re-run", func(c *testCell) { c.provenance.RunAttempt = 2 }, ReasonArtifactIdentityInvalid, "/provenance/runAttempt"},
		{"accounting id as long as it may be", func(c *testCell) {
			c.set("result.accountingIdentity.campaignId", strings.Repeat("x", maxAccountingIDBytes))
		}, "", ""},
		{"accounting id too long", func(c *testCell) {
			c.set("result.accountingIdentity.campaignId", strings.Repeat("x", maxAccountingIDBytes+1))
		}, ReasonAccountingIdentityMissing, "/result/accountingIdentity/campaignId"},
		{"attempt as a string", func(c *testCell) { c.set("result.attempt", "1") }, ReasonAutomaticRetry, "/result/attempt"},
		{"admitted by 0", func(c *testCell) { c.set("host.evaluationAdmitted", 0) }, ReasonHostNotQualified, "/host/evaluationAdmitted"},
		{"verified by a string", func(c *testCell) { c.set("host.spotVerified", "true") }, ReasonHostNotQualified, "/host/spotVerified"},
		{"executions as a string", func(c *testCell) { c.set("host.executionIds", execution("greeting", 1)) }, ReasonHostProvenanceMismatch, "/host/executionIds"},
		{"foreign image", func(c *testCell) { c.set("host.postgres.image", "mysql") }, ReasonDatabaseArtifactForeign, "/host/postgres/image"},
		{"engines differ", func(c *testCell) { c.set("result.databaseIdentity.engineSha256", digestOf("x")) }, ReasonDatabaseIdentityMismatch, "/result/databaseIdentity/engineSha256"},
		{"grader missing", func(c *testCell) { c.set("definition.graderDigest", nil) }, ReasonDefinitionMismatch, "/definition/graderDigest"},
		{"finished before it started, within the millisecond", func(c *testCell) {
			c.set("result.startedAt", "2026-09-27T15:45:40.7449Z").set("result.finishedAt", "2026-09-27T15:45:40.7441Z")
		}, "", ""},
		{"finished before it started", func(c *testCell) { c.set("result.finishedAt", "2026-09-27T15:45:40.743Z") }, ReasonTimingInvalid, "/result/finishedAt"},
		{"negative duration", func(c *testCell) { c.set("result.durationMs", -1) }, ReasonTimingInvalid, "/result/durationMs"},
		{"status in other words", func(c *testCell) { c.set("result.status", "Passed") }, ReasonResultNotTerminal, "/result/status"},
		{"unknown fields", func(c *testCell) { c.set("result.more", 1).set("host.more", 1).set("definition.more", 1) }, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			cell := newCell("greeting", 1)
			test.change(cell)
			opening, _ := testOpening("greeting").Expand(testCampaign)
			intent := NewIntent(testCampaign, opening.SourceRevision, opening.Selected)
			_, refusal := ValidateCell(intent, opening.Policy, cell.evidence(t))
			switch {
			case test.reason == "" && refusal != nil:
				t.Errorf("refused: %+v", refusal)
			case test.reason != "" && (refusal == nil || refusal.Reason != test.reason || refusal.Field != test.field):
				t.Errorf("got %+v, want %s at %s", refusal, test.reason, test.field)
			}
		})
	}
}

func rerunAs(c *testCell, run string) {
	c.provenance.RunID = run
	c.set("host.workflowRunId", run).set("result.source.workflowRunUrl", "https://github.com/paperclipai/paperclip/actions/runs/"+run)
}

func TestDocumentPaths(t *testing.T) {
	for path, want := range map[string]bool{
		testPrefix + "a/result.json": true,
		testPrefix + "a..b/x":        true,
		testPrefix + "../x":          false,
		testPrefix + "a/../x":        false,
		testPrefix + `a\x`:           false,
		"/" + testPrefix + "x":       false,
		"":                           false,
		testPrefix + strings.Repeat("x", maxDocumentPathBytes-len(testPrefix)):   true,
		testPrefix + strings.Repeat("x", maxDocumentPathBytes-len(testPrefix)+1): false,
	} {
		if retained(path, testPrefix) != want {
			t.Errorf("%q is retained: %v", path, !want)
		}
	}
	if retained("results-old/x", "results") || !retained("results/x", "results") {
		t.Error("a prefix is a folder")
	}
}

func TestTimestamps(t *testing.T) {
	for text, want := range map[string]bool{
		"2026-09-27T15:45:40Z":            true,
		"2026-09-27T15:45:40.1Z":          true,
		"2026-09-27T15:45:40.123456789Z":  true,
		"2026-09-27T15:45:40+23:59":       true,
		"2024-02-29T00:00:00-00:00":       true,
		"2026-09-27T15:45:40.Z":           false,
		"2026-09-27T15:45:40.1234567890Z": false,
		"2026-09-27T15:45:40+24:00":       false,
		"2026-09-27T15:45:40+23:60":       false,
		"2026-02-29T00:00:00Z":            false,
		"2026-09-31T00:00:00Z":            false,
		"2026-09-27T24:00:00Z":            false,
		"2026-09-27T23:59:60Z":            false,
		"2026-09-27t15:45:40z":            false,
		"2026-09-27 15:45:40Z":            false,
		"2026-09-27T15:45:40,5Z":          false,
		"2026-9-27T15:45:40Z":             false,
		"٢026-09-27T15:45:40Z":            false,
		"2026-09-27T15:45:40Z\n":          false,
		"":                                false,
	} {
		if _, ok := parseTimestamp(text); ok != want {
			t.Errorf("%q is a time: %v", text, ok)
		}
	}
}
