package tables

import (
	"time"

	"github.com/ledgerd/ledgerd/projections"
)

// Entries are new, by index.
var Entries = Table[projections.Entry, projections.Entry]{
	View: projections.ViewEntries,
	Columns: []string{
		"ledger_index", "at", "campaign", "kind", "outcome", "reason", "repeats", "arrival_id", "arrival_sha256", "record_sha256",
	},
	Key: 1, Pack: same[projections.Entry], Unpack: value[projections.Entry],
	Fields: func(r *projections.Entry) []any {
		return []any{&r.Index, &r.At, &r.Campaign, &r.Kind, &r.Outcome, &r.Reason, &r.Repeats, &r.ArrivalID, &r.ArrivalSHA256, &r.RecordSHA256}
	},
}

// RejectionRow is a stored rejection. Its provenance is NULL as a whole.
type RejectionRow struct {
	projections.Rejection
	repository, workflow, workflowRef, runID *string
	runAttempt                               *int64
	artifactID, archive, target              *string
	claimed                                  projections.Claimed
}

// Rejections are new, by index.
var Rejections = Table[projections.Rejection, RejectionRow]{
	View: projections.ViewRejections,
	Columns: []string{
		"ledger_index", "at", "campaign", "kind", "reason", "field", "detail", "arrival_id", "import_key",
		"repository", "workflow", "workflow_ref", "run_id", "run_attempt", "artifact_id", "archive_sha256", "target_source_revision",
		"claimed_slot", "claimed_execution_id", "claimed_measurement_key", "claimed_status", "claimed_cleanup", "claimed_cost_usd", "claimed_tokens", "claimed_coverage", "claimed_result_sha256",
	},
	Key: 1,
	Pack: func(r *projections.Rejection) *RejectionRow {
		row := &RejectionRow{Rejection: *r}
		if p := r.Provenance; p != nil {
			row.repository, row.workflow, row.workflowRef, row.runID = &p.Repository, &p.Workflow, &p.WorkflowRef, &p.RunID
			row.runAttempt = &p.RunAttempt
			row.artifactID, row.archive, row.target = &p.ArtifactID, &p.ArchiveSHA256, &p.TargetSourceRevision
		}
		if r.Claimed != nil {
			row.claimed = *r.Claimed
		}
		return row
	},
	Unpack: func(r *RejectionRow) projections.Rejection {
		if r.repository != nil {
			r.Provenance = &projections.Provenance{
				Repository: *r.repository, Workflow: *r.workflow, WorkflowRef: *r.workflowRef, RunID: *r.runID, RunAttempt: *r.runAttempt,
				ArtifactID: *r.artifactID, ArchiveSHA256: *r.archive, TargetSourceRevision: *r.target,
			}
		}
		if r.claimed.ResultSHA256 != nil { // whatever a cell claims, its result has a digest
			claimed := r.claimed
			r.Claimed = &claimed
		}
		return r.Rejection
	},
	Fields: func(r *RejectionRow) []any {
		return []any{
			&r.Index, &r.At, &r.Campaign, &r.Kind, &r.Reason, &r.Field, &r.Detail, &r.ArrivalID, &r.ImportKey,
			&r.repository, &r.workflow, &r.workflowRef, &r.runID, &r.runAttempt, &r.artifactID, &r.archive, &r.target,
			&r.claimed.Slot, &r.claimed.ExecutionID, &r.claimed.MeasurementKey, &r.claimed.Status, &r.claimed.Cleanup,
			Decimal{&r.claimed.CostUSD}, Decimal{&r.claimed.Tokens}, &r.claimed.Coverage, &r.claimed.ResultSHA256,
		}
	},
}

// ImportRow is a stored import. Its void is NULL as a whole.
type ImportRow struct {
	projections.Import
	voidIndex          *uint64
	voidAt             *time.Time
	voidBy, voidReason *string
}

// Imports are new, by index; a void sets the VoidColumns.
var Imports = Table[projections.Import, ImportRow]{
	View: projections.ViewImports,
	Columns: append([]string{
		"ledger_index", "at", "campaign", "import_key", "measurement_key", "scenario", "ordinal", "execution_id",
		"outcome", "status", "cleanup", "case_id", "model", "day", "started_at", "finished_at", "duration_ms", "run_ids",
		"tokens", "cost_usd", "coverage", "workflow_run_url", "run_id", "run_attempt", "artifact_id", "artifact_sha256",
		"result_path", "result_sha256", "host_sha256", "definition_sha256", "definition_digest", "grader_digest", "suite_definition_hash",
	}, VoidColumns...),
	Key: 1,
	Pack: func(i *projections.Import) *ImportRow {
		row := &ImportRow{Import: *i}
		if i.Void != nil {
			row.voidIndex, row.voidAt, row.voidBy, row.voidReason = &i.Void.Index, &i.Void.At, &i.Void.Actor, &i.Void.Reason
		}
		return row
	},
	Unpack: func(r *ImportRow) projections.Import {
		if r.voidIndex != nil {
			r.Void = &projections.Void{Moment: projections.Moment{Index: *r.voidIndex, At: *r.voidAt}, Actor: *r.voidBy, Reason: *r.voidReason}
		}
		return r.Import
	},
	Fields: func(r *ImportRow) []any {
		return []any{
			&r.Index, &r.At, &r.Campaign, &r.ImportKey, &r.MeasurementKey, &r.ScenarioID, &r.Ordinal, &r.ExecutionID,
			&r.Outcome, &r.Status, &r.Cleanup, &r.CaseID, &r.Model, &r.Day, &r.StartedAt, &r.FinishedAt, &r.DurationMS, Texts{&r.RunIDs},
			Decimal{&r.Tokens}, Decimal{&r.CostUSD}, &r.Coverage, &r.WorkflowRunURL, &r.RunID, &r.RunAttempt, &r.ArtifactID, &r.ArtifactSHA256,
			&r.ResultPath, &r.ResultSHA256, &r.HostSHA256, &r.DefinitionSHA256, &r.DefinitionDigest, &r.GraderDigest, &r.SuiteDefinitionHash,
			&r.voidIndex, &r.voidAt, &r.voidBy, &r.voidReason,
		}
	},
}

// VoidColumns are set together, on the row of an import.
var VoidColumns = []string{"void_index", "void_at", "void_by", "void_reason"}

// VoidValues gives the fields of VoidColumns for writing.
func VoidValues(v *projections.Void) []any { return []any{&v.Index, &v.At, &v.Actor, &v.Reason} }

// CheckpointRow is a stored checkpoint.
type CheckpointRow struct {
	projections.Checkpoint
	authority []byte
}

// Checkpoints are replaced by campaign, run, turn and request.
var Checkpoints = Table[projections.Checkpoint, CheckpointRow]{
	View: projections.ViewCheckpoints,
	Columns: []string{
		"campaign", "run_id", "turn_id", "request_id", "outcome", "ledger_index", "at", "reason", "field", "detail",
		"authority", "authority_sha256", "observed_records", "observed_bytes", "observed_sha256",
	},
	Key: 4,
	Pack: func(c *projections.Checkpoint) *CheckpointRow {
		return &CheckpointRow{Checkpoint: *c, authority: c.Authority}
	},
	Unpack: func(r *CheckpointRow) projections.Checkpoint {
		r.Authority = r.authority
		return r.Checkpoint
	},
	Fields: func(r *CheckpointRow) []any {
		return []any{
			&r.Campaign, &r.RunID, &r.TurnID, &r.RequestID, &r.Outcome, &r.Index, &r.At, &r.Reason, &r.Field, &r.Detail,
			JSON{&r.authority}, &r.AuthoritySHA256, &r.ObservedRecords, &r.ObservedBytes, &r.ObservedSHA256,
		}
	},
}
