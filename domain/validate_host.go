package domain

import (
	"fmt"
	"slices"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// Words of a host document that say it may be measured on.
const (
	hostStatusQualified = "qualified-host-only"
	hostScope           = "before-evaluation"
)

func (v *validation) hostQualified() *Refusal {
	if refusal := equalTexts(ReasonHostNotQualified, "host", v.host, []demand{
		{"schema", v.policy.HostSchema}, {"status", hostStatusQualified}, {"scope", hostScope},
	}); refusal != nil {
		return refusal
	}
	switch {
	case !v.host.Get("evaluationAdmitted").IsFalse():
		return refuse(ReasonHostNotQualified, "/host/evaluationAdmitted", fmt.Sprintf(
			"evaluationAdmitted is %s and must be false: the host was qualified before the evaluation", show(v.host.Get("evaluationAdmitted"))))
	case !v.host.Get("spotVerified").IsTrue():
		return refuse(ReasonHostNotQualified, "/host/spotVerified", fmt.Sprintf(
			"spotVerified is %s and must be true", show(v.host.Get("spotVerified"))))
	}
	return equalTexts(ReasonHostNotQualified, "host", v.host, []demand{
		{"lifecycle", v.policy.Host.Lifecycle},
		{"architecture", v.policy.Host.Architecture},
		{"region", v.policy.Host.Region},
	})
}

func (v *validation) hostProvenance() *Refusal {
	if refusal := equalTexts(ReasonHostProvenanceMismatch, "host", v.host, []demand{
		{"workflowRef", v.policy.Repository + "/.github/workflows/" + v.policy.Workflow + "@" + v.policy.WorkflowRef},
		{"workflowRunId", v.provenance.RunID},
		{"sourceRevision", v.intent.SourceRevision},
	}); refusal != nil {
		return refusal
	}
	engine, isDigest := digestValue(v.host.Get("dockerEngineSha256"))
	switch {
	case !v.host.Get("workflowAttempt").IsNumber(float64(v.provenance.RunAttempt)):
		return refuse(ReasonHostProvenanceMismatch, "/host/workflowAttempt", fmt.Sprintf(
			"the host belongs to run attempt %s, the artifact to %d", show(v.host.Get("workflowAttempt")), v.provenance.RunAttempt))
	case !v.hostRan():
		return refuse(ReasonHostProvenanceMismatch, "/host/executionIds", fmt.Sprintf(
			"executionIds must be an array with the execution %s", show(v.result.Get("executionId"))))
	case !v.host.Get("automaticRetries").IsNumber(0):
		return refuse(ReasonHostProvenanceMismatch, "/host/automaticRetries", fmt.Sprintf(
			"automaticRetries is %s and must be the number 0", show(v.host.Get("automaticRetries"))))
	case !isDigest:
		return refuse(ReasonHostProvenanceMismatch, "/host/dockerEngineSha256", fmt.Sprintf(
			"the engine's digest is %s and must be 64 lower hex digits", show(v.host.Get("dockerEngineSha256"))))
	}
	v.engineSHA256 = engine
	return nil
}

func (v *validation) hostRan() bool {
	execution := v.result.Get("executionId")
	return slices.ContainsFunc(v.host.Get("executionIds").Elements(), func(id strictjson.Value) bool {
		return strictjson.Identical(id, execution)
	})
}

func (v *validation) databaseArtifact() *Refusal {
	postgres := v.host.Get("postgres")
	if refusal := equalTexts(ReasonDatabaseArtifactForeign, "host/postgres", postgres, []demand{
		{"image", v.policy.Database.Image},
	}); refusal != nil {
		return refusal
	}
	imageID, isText := postgres.Get("imageId").Text()
	if !isText || !slices.Contains(v.policy.Database.ImageIDs, imageID) {
		return refuse(ReasonDatabaseArtifactForeign, "/host/postgres/imageId", fmt.Sprintf(
			"the image id is %s, which is none of the policy's", show(postgres.Get("imageId"))))
	}
	return equalTexts(ReasonDatabaseArtifactForeign, "host/postgres", postgres, []demand{
		{"architecture", v.policy.Database.Architecture},
		{"version", v.policy.Database.Version},
	})
}

// lane is the database that the host offered, after gate 18.
func (v *validation) lane() DatabaseLane {
	imageID, _ := v.host.At("postgres", "imageId").Text()
	return DatabaseLane{
		Lane:         v.policy.Database.Lane,
		Image:        v.policy.Database.Image,
		ImageID:      imageID,
		Version:      v.policy.Database.Version,
		Architecture: v.policy.Database.Architecture,
	}
}

func (v *validation) databaseIdentity() *Refusal {
	lane := v.lane()
	return equalTexts(ReasonDatabaseIdentityMismatch, "result/databaseIdentity", v.result.Get("databaseIdentity"), []demand{
		{"lane", lane.Lane},
		{"image", lane.Image},
		{"imageId", lane.ImageID},
		{"version", lane.Version},
		{"architecture", lane.Architecture},
		{"engineSha256", v.engineSHA256},
	})
}

func (v *validation) definitions() *Refusal {
	if refusal := equalTexts(ReasonDefinitionMismatch, "definition", v.definition, []demand{
		{"scenarioId", v.selection.ScenarioID},
	}); refusal != nil {
		return refusal
	}
	for _, digest := range []struct {
		document, name string
		in             strictjson.Value
	}{
		{"definition", "definitionDigest", v.definition},
		{"definition", "graderDigest", v.definition},
		{"result", "suiteDefinitionHash", v.result},
	} {
		if _, ok := digestValue(digest.in.Get(digest.name)); !ok {
			return refuse(ReasonDefinitionMismatch, "/"+digest.document+"/"+digest.name, fmt.Sprintf(
				"%s is %s and must be 64 lower hex digits", digest.name, show(digest.in.Get(digest.name))))
		}
	}
	suite := v.definition.Get("suiteDefinitionHash")
	if !strictjson.Identical(suite, v.result.Get("suiteDefinitionHash")) {
		return refuse(ReasonDefinitionMismatch, "/definition/suiteDefinitionHash", fmt.Sprintf(
			"the definition belongs to suite %s, the result to %s", show(suite), show(v.result.Get("suiteDefinitionHash"))))
	}
	return nil
}
