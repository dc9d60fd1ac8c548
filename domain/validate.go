package domain

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// ValidateCell holds a cell's evidence against what the campaign was opened to
// measure and what its policy demands: gates 1 to 20, in this order. The first
// that fails names the refusal. It looks at nothing but its arguments and
// changes none, so that many cells can be validated at once. The gates are those
// of [RuleVersion].
func ValidateCell(intent *Intent, policy *Policy, evidence *CellEvidence) (*Measured, *Refusal) {
	return validateCell(gatesV1, intent, policy, evidence)
}

func validateCell(gates []gate, intent *Intent, policy *Policy, evidence *CellEvidence) (*Measured, *Refusal) {
	v := &validation{intent: intent, policy: policy, evidence: evidence, provenance: &evidence.Provenance,
		result: evidence.Result.value, host: evidence.Host.value, definition: evidence.Definition.value}
	for _, gate := range gates {
		if refusal := gate(v); refusal != nil {
			return nil, refusal
		}
	}
	return v.measured(), nil
}

// validation is one cell on its way through the gates. A gate may rely on
// those before it.
type validation struct {
	intent     *Intent
	policy     *Policy
	evidence   *CellEvidence
	provenance *Provenance

	result, host, definition strictjson.Value

	selection    Selection // from gate 9 on
	engineSHA256 string    // from gate 17 on
}

// gate refuses a cell, or lets it pass with nil.
type gate func(*validation) *Refusal

// gatesV1 are the gates of version 1 in the order of the rules. The number is
// the rule's.
var gatesV1 = []gate{
	(*validation).campaignIdentity, // 1
	(*validation).workflow,         // 2
	(*validation).artifactIdentity, // 3
	(*validation).targetSource,     // 4
	(*validation).documents,        // 5-8
	(*validation).selected,         // 9
	(*validation).firstAttempt,     // 10
	(*validation).terminal,         // 11
	(*validation).profile,          // 12
	(*validation).resultSource,     // 13
	(*validation).accounting,       // 14
	(*validation).timing,           // 15
	(*validation).hostQualified,    // 16
	(*validation).hostProvenance,   // 17
	(*validation).databaseArtifact, // 18
	(*validation).databaseIdentity, // 19
	(*validation).definitions,      // 20
}

// Limits of what comes into keys, so that a record holds them whole.
const (
	maxRunIDDigits       = 64  // of a CI run and of an artifact
	maxAccountingIDBytes = 200 // of the framework's campaign id
)

func (v *validation) campaignIdentity() *Refusal {
	if strings.TrimFunc(v.intent.CampaignID, isBlank) != "" {
		return nil
	}
	return refuse(ReasonCampaignIdentityMissing, "/intent/campaignId", "the campaign id is blank; say which campaign the cell is measured for")
}

// isBlank is what JavaScript's trim takes off.
func isBlank(r rune) bool {
	return r == '\ufeff' || r != '\u0085' && unicode.IsSpace(r)
}

func (v *validation) workflow() *Refusal {
	for _, part := range []struct{ name, got, want string }{
		{"repository", v.provenance.Repository, v.policy.Repository},
		{"workflow", v.provenance.Workflow, v.policy.Workflow},
		{"workflowRef", v.provenance.WorkflowRef, v.policy.WorkflowRef},
	} {
		if part.got != part.want {
			return refuse(ReasonForeignWorkflow, "/provenance/"+part.name, fmt.Sprintf(
				"the artifact comes from %s %s, the policy takes %s; run the campaign's own workflow", part.name, quote(part.got), quote(part.want)))
		}
	}
	return nil
}

func (v *validation) artifactIdentity() *Refusal {
	switch p := v.provenance; {
	case !isDigits(p.RunID):
		return refuse(ReasonArtifactIdentityInvalid, "/provenance/runId", fmt.Sprintf(
			"the run id %s must be a string of 1 to %d digits", quote(p.RunID), maxRunIDDigits))
	case p.RunAttempt != 1:
		return refuse(ReasonArtifactIdentityInvalid, "/provenance/runAttempt", fmt.Sprintf(
			"run attempt %d is not the number 1: a re-run was reviewed by nobody; start a new run", p.RunAttempt))
	case !isDigits(p.ArtifactID):
		return refuse(ReasonArtifactIdentityInvalid, "/provenance/artifactId", fmt.Sprintf(
			"the artifact id %s must be a string of 1 to %d digits", quote(p.ArtifactID), maxRunIDDigits))
	case !isDigest(p.ArchiveSHA256):
		return refuse(ReasonArtifactIdentityInvalid, "/provenance/archiveSha256", fmt.Sprintf(
			"the archive's SHA-256 %s must be 64 lower hex digits", quote(p.ArchiveSHA256)))
	}
	return nil
}

func isDigits(s string) bool {
	if s == "" || len(s) > maxRunIDDigits {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

func (v *validation) targetSource() *Refusal {
	switch {
	case !isRevision(v.intent.SourceRevision):
		return refuse(ReasonTargetSourceMismatch, "/intent/sourceRevision", fmt.Sprintf(
			"the source revision %s must be 40 lower hex digits", quote(v.intent.SourceRevision)))
	case v.provenance.TargetSourceRevision != v.intent.SourceRevision:
		return refuse(ReasonTargetSourceMismatch, "/provenance/targetSourceRevision", fmt.Sprintf(
			"the run measured %s, the campaign is about %s", quote(v.provenance.TargetSourceRevision), v.intent.SourceRevision))
	}
	return nil
}

func (v *validation) documents() *Refusal {
	for _, d := range []struct {
		name     string
		document *Document
	}{{"result", &v.evidence.Result}, {"host", &v.evidence.Host}, {"definition", &v.evidence.Definition}} {
		if refusal := gateDocument(d.name, d.document, v.policy.ResultsPrefix); refusal != nil {
			return refusal
		}
	}
	return nil
}

func (v *validation) selected() *Refusal {
	executionID, isText := v.result.Get("executionId").Text()
	count := 0
	if isText && executionID != "" {
		v.selection, count = v.intent.Selection(executionID)
	}
	if count != 1 {
		return refuse(ReasonExecutionNotSelected, "/result/executionId", fmt.Sprintf(
			"execution %s is selected %d times and must be selected once", show(v.result.Get("executionId")), count))
	}
	return nil
}

func (v *validation) firstAttempt() *Refusal {
	ordinalKnown := false
	for _, ordinal := range v.policy.Ordinals {
		ordinalKnown = ordinalKnown || ordinal == v.selection.RemoteOrdinal
	}
	switch {
	case !ordinalKnown:
		return refuse(ReasonAutomaticRetry, "/intent/selected", fmt.Sprintf(
			"the selection's ordinal %d is not one of the policy's %v", v.selection.RemoteOrdinal, v.policy.Ordinals))
	case !v.result.Get("attempt").IsNumber(1):
		return refuse(ReasonAutomaticRetry, "/result/attempt", fmt.Sprintf(
			"attempt %s is not the number 1: an automatic retry does not count", show(v.result.Get("attempt"))))
	}
	return nil
}

func (v *validation) terminal() *Refusal {
	status := v.result.Get("status")
	switch {
	case !v.result.Get("schema").IsText(v.policy.ResultSchema):
		return refuse(ReasonResultNotTerminal, "/result/schema", fmt.Sprintf(
			"the result's schema is %s and must be %s", show(v.result.Get("schema")), quote(v.policy.ResultSchema)))
	case !status.IsText(statusPassed) && !status.IsText(statusFailed):
		return refuse(ReasonResultNotTerminal, "/result/status", fmt.Sprintf(
			"the status is %s and must be passed or failed; publish when the cell has ended", show(status)))
	}
	return nil
}

func (v *validation) profile() *Refusal {
	return equalTexts(ReasonProfileMismatch, "result", v.result, []demand{
		{"profileId", v.policy.ProfileID},
		{"provider", v.policy.Provider},
		{"model", v.policy.Model},
		{"environmentId", v.policy.EnvironmentID},
	})
}

func (v *validation) resultSource() *Refusal {
	return equalTexts(ReasonResultSourceMismatch, "result/source", v.result.Get("source"), []demand{
		{"sha", v.intent.SourceRevision},
		{"workflowRunUrl", "https://github.com/" + v.policy.Repository + "/actions/runs/" + v.provenance.RunID},
	})
}

func (v *validation) accounting() *Refusal {
	identity := v.result.Get("accountingIdentity")
	campaignID, _ := identity.Get("campaignId").Text()
	attemptID, _ := identity.Get("attemptId").Text()
	switch {
	case campaignID == "" || len(campaignID) > maxAccountingIDBytes:
		return refuse(ReasonAccountingIdentityMissing, "/result/accountingIdentity/campaignId", fmt.Sprintf(
			"the framework's campaign id is %s and must be a string of 1 to %d bytes", show(identity.Get("campaignId")), maxAccountingIDBytes))
	case !isHex(attemptID, attemptIDHexDigits):
		return refuse(ReasonAccountingIdentityMissing, "/result/accountingIdentity/attemptId", fmt.Sprintf(
			"the framework's attempt id is %s and must be %d lower hex digits", show(identity.Get("attemptId")), attemptIDHexDigits))
	}
	return nil
}

func (v *validation) timing() *Refusal {
	started, refusal := v.time("startedAt")
	if refusal != nil {
		return refusal
	}
	finished, refusal := v.time("finishedAt")
	if refusal != nil {
		return refusal
	}
	if finished < started {
		return refuse(ReasonTimingInvalid, "/result/finishedAt", "the cell finished before it started")
	}
	if duration, finite := v.result.Get("durationMs").Finite(); !finite || duration < 0 {
		return refuse(ReasonTimingInvalid, "/result/durationMs", fmt.Sprintf(
			"the duration is %s and must be a finite number, at least 0", show(v.result.Get("durationMs"))))
	}
	return nil
}

// time gives one of the result's times in milliseconds.
func (v *validation) time(name string) (int64, *Refusal) {
	text, _ := v.result.Get(name).Text()
	t, ok := parseTimestamp(text)
	if !ok {
		return 0, refuse(ReasonTimingInvalid, "/result/"+name, fmt.Sprintf(
			"%s is %s and must be a time like 2026-10-01T10:00:00.000Z", name, show(v.result.Get(name))))
	}
	return t.UnixMilli(), nil
}

// equalTexts refuses the first member that is not exactly the wanted string.
func equalTexts(reason Reason, where string, in strictjson.Value, wanted []demand) *Refusal {
	for _, want := range wanted {
		if got := in.Get(want.name); !got.IsText(want.value) {
			return refuse(reason, "/"+where+"/"+want.name, fmt.Sprintf(
				"%s is %s and must be %s", want.name, show(got), quote(want.value)))
		}
	}
	return nil
}

// measured is what the cell comes to after all gates.
func (v *validation) measured() *Measured {
	executionID, _ := v.result.Get("executionId").Text()
	attempt := strconv.FormatInt(v.provenance.RunAttempt, 10)
	accounting := v.result.Get("accountingIdentity")
	campaignID, _ := accounting.Get("campaignId").Text()
	attemptID, _ := accounting.Get("attemptId").Text()
	definitionDigest, _ := v.definition.Get("definitionDigest").Text()
	graderDigest, _ := v.definition.Get("graderDigest").Text()
	return &Measured{
		Cell: Cell{
			Schema:           CellSchema,
			IntentCampaignID: v.intent.CampaignID,
			ImportKey:        v.provenance.RunID + "/" + attempt + "/" + executionID,
			MeasurementKey:   campaignID + "/" + attemptID + "/" + executionID,
			ArtifactSHA256:   v.provenance.ArchiveSHA256,
			ScenarioID:       v.selection.ScenarioID,
			Ordinal:          v.selection.RemoteOrdinal,
			SourceRevision:   v.intent.SourceRevision,
			ResultPath:       v.evidence.Result.path,
			ResultSHA256:     v.evidence.Result.claimed,
			HostSHA256:       v.evidence.Host.claimed,
			DefinitionSHA256: v.evidence.Definition.claimed,
			DefinitionDigest: definitionDigest,
			GraderDigest:     graderDigest,
			DatabaseLane:     v.lane(),
		},
		Facts:  cellFacts(v.result),
		Usage:  cellUsage(v.result),
		result: v.result,
	}
}
