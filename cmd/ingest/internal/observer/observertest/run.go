package observertest

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ledgerd/ledgerd/domain/canonicaljson"
	"github.com/ledgerd/ledgerd/domain/checkpoint"
)

// Run is a run of the runner's, and what is claimed of it.
type Run struct {
	Publication checkpoint.Publication
	WorkspaceID string // the execution workspace
}

// ID is a claimed id.
func (r Run) ID(name string) string {
	id, _ := r.Publication.Get(name).Text()
	return id
}

// Profile is the run's profile as the runner writes it.
func (r Run) Profile() string {
	return fmt.Sprintf(`{"nativeExecutionInput": {"binding": {"companyId": %q, "issueId": %q, "agentId": %q, "runId": %q, "executionWorkspaceId": %q},
		"session": {"normalizedSessionId": %q}, "more": 1}}`,
		r.ID("companyId"), r.ID("issueId"), r.ID("agentId"), r.ID("runId"), r.WorkspaceID, r.ID("sessionId"))
}

// Add writes a run that goes on, and whose lease, issue and workspace own the
// claim. It has no checkpoint yet.
func (d *Database) Add(t testing.TB, r Run) {
	t.Helper()
	d.Exec(t, `INSERT INTO heartbeat_runs VALUES ($1, $2, $3, $4, $5, $6, 'native', 'running', $7)`,
		r.ID("runId"), r.ID("companyId"), r.ID("agentId"), r.ID("issueId"), r.ID("sessionId"), r.ID("sourceInstanceId"), r.Profile())
	d.Exec(t, `INSERT INTO issues VALUES ($1, $2, $3, $4, $5, 'in_progress')`,
		r.ID("issueId"), r.ID("companyId"), r.WorkspaceID, r.ID("runId"), r.ID("agentId"))
	d.Exec(t, `INSERT INTO environment_leases VALUES ($1, $2, $3, $4, $5, $6, 'active')`,
		r.ID("observerLeaseId"), r.ID("environmentId"), r.ID("runId"), r.ID("companyId"), r.ID("issueId"), r.WorkspaceID)
	d.Exec(t, `INSERT INTO execution_workspaces VALUES ($1, $2, $3, 'active')`, r.WorkspaceID, r.ID("companyId"), r.ID("issueId"))
}

// Keep writes a run's checkpoint in place of the one before, in one
// transaction, as the runner does: nobody sees half of it.
func (d *Database) Keep(t testing.TB, r Run, cp checkpoint.Checkpoint) {
	t.Helper()
	ctx := context.Background()
	ids := []any{r.ID("companyId"), r.ID("issueId"), r.ID("runId")}
	err := pgx.BeginFunc(ctx, d.Admin, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		for _, table := range []string{"native_runner_checkpoints", "native_runner_checkpoint_records"} {
			batch.Queue("DELETE FROM "+table+" WHERE company_id = $1 AND issue_id = $2 AND run_id = $3", ids...)
		}
		batch.Queue(`INSERT INTO native_runner_checkpoints VALUES ($1, $2, $3, $4)`, append(ids, string(canonicaljson.Append(nil, cp.RecoveryEvidence)))...)
		for i, record := range cp.Records {
			batch.Queue(insertRecord, append(ids, i+1, record.Key, record.Text)...)
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		t.Fatalf("keep a checkpoint of run %s: %v", r.ID("runId"), err)
	}
}

const insertRecord = `INSERT INTO native_runner_checkpoint_records VALUES ($1, $2, $3, $4, $5, $6)`

// AddRecord writes one more record, at a position from 1.
func (d *Database) AddRecord(t testing.TB, r Run, position int, record checkpoint.Record) {
	t.Helper()
	d.Exec(t, insertRecord, r.ID("companyId"), r.ID("issueId"), r.ID("runId"), position, record.Key, record.Text)
}
