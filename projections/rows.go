package projections

import (
	"encoding/json"
	"time"

	"github.com/ledgerd/ledgerd/domain"
)

// The rows of the views, as they are written and as they are read. JSON names
// are those of the command line and HTTP. Indexes are ledger indexes. Times are
// the arrival's stream time in UTC, cut to microseconds (what Postgres keeps).
// Money and tokens are exact decimals in plain notation. Strings hold no NUL
// (see storable).

// CampaignStatus is whether a campaign still takes cells.
type CampaignStatus string

// The statuses.
const (
	StatusOpen   CampaignStatus = "open"
	StatusSealed CampaignStatus = "sealed"
)

// Campaign is a row of view campaigns, by ID.
type Campaign struct {
	ID             string                 `json:"id"`
	Status         CampaignStatus         `json:"status"`
	Label          string                 `json:"label"`
	SourceRevision string                 `json:"source_revision"`
	Verdict        domain.VerdictWord     `json:"verdict"` // live while open, frozen by the seal
	Reasons        []domain.VerdictReason `json:"reasons"`

	Scenarios int64 `json:"scenarios"`
	Cells     int64 `json:"cells"`   // selected slots: passed + failed + missing
	Passed    int64 `json:"passed"`  // status and cleanup passed
	Failed    int64 `json:"failed"`  // status or cleanup anything else
	Missing   int64 `json:"missing"` // no unvoided import

	Voided           int64       `json:"voided"`             // imports that were voided
	VoidedFailed     int64       `json:"voided_failed"`      // of them, those that had failed or not cleaned up
	Refused          int64       `json:"refused"`            // rejected cells, up to the seal
	RefusedFailed    int64       `json:"refused_failed"`     // of them, those that claim a selected slot that did not pass
	RefusedAfterSeal int64       `json:"refused_after_seal"` // rejected cells behind it
	Voids            []VoidShown `json:"voids"`              // the first 20

	Spent     Spend   `json:"spent"`      // every measurement once, voided ones included
	Effective Spend   `json:"effective"`  // unvoided only
	BudgetUSD *string `json:"budget_usd"` // null without one

	Accepted uint64     `json:"accepted"` // accepted decisions, the opening included
	Opened   Moment     `json:"opened"`   // its first decision
	Last     Moment     `json:"last"`     // its last decision, of any outcome
	Sealed   *SealedRow `json:"sealed"`   // null while open
}

// VoidShown is a void as a campaign shows it.
type VoidShown struct {
	Slot      string `json:"slot"` // scenario/ordinal
	ImportKey string `json:"import_key"`
	Index     uint64 `json:"index"`  // of the void's decision
	Failed    bool   `json:"failed"` // the import had failed or not cleaned up
	Actor     string `json:"actor"`
	Reason    string `json:"reason"`
}

// Moment is a decision's place in the ledger and its time.
type Moment struct {
	Index uint64    `json:"index"`
	At    time.Time `json:"at"`
}

// SealedRow says who closed a campaign, and when.
type SealedRow struct {
	Moment
	Actor string `json:"actor"`
}

// Spend is what a set of measurements cost. Sums over nothing that reported
// are null, not 0. Coverage is Reported of Cells.
type Spend struct {
	CostUSD  *string `json:"cost_usd"`
	Tokens   *string `json:"tokens"`
	Reported int64   `json:"reported"` // measurements with a cost in full; fewer than Cells: CostUSD is a lower bound
	Cells    int64   `json:"cells"`    // measurements in all
}

// Scenario is a row of view scenarios, by (Campaign, Position).
type Scenario struct {
	Campaign         string `json:"campaign"`
	Position         int64  `json:"position"` // in the opening's list, from 0
	ID               string `json:"id"`
	Label            string `json:"label"`
	DefinitionDigest string `json:"definition_digest"` // "" when the opening bound none
	GraderDigest     string `json:"grader_digest"`     // likewise
	Cells            int64  `json:"cells"`
	Passed           int64  `json:"passed"`
	Failed           int64  `json:"failed"`
	Missing          int64  `json:"missing"`
}

// CellOutcome is what became of a slot.
type CellOutcome string

// The outcomes of a slot.
const (
	CellMissing CellOutcome = "missing" // no unvoided import
	CellPassed  CellOutcome = "passed"  // status and cleanup passed
	CellFailed  CellOutcome = "failed"  // status or cleanup anything else
)

// Slot is the stored part of a row of view cells, by (Campaign, Position):
// every selected slot has one from the opening on. What was measured is in the
// import that fills it.
type Slot struct {
	Campaign    string      `json:"campaign"`
	Position    int64       `json:"position"` // in the opening's selection, from 0
	ScenarioID  string      `json:"scenario"`
	Ordinal     int64       `json:"ordinal"`
	ExecutionID string      `json:"execution_id"`
	Outcome     CellOutcome `json:"outcome"`
	ImportIndex *uint64     `json:"import_index"` // of the unvoided import, null when missing
}

// Cell is a slot as it is read, with the import that fills it.
type Cell struct {
	Slot
	Import *Import `json:"import"` // null when missing
}

// Import is a row of view imports, by Index. It is written once; a void adds
// the Void.
type Import struct {
	Index          uint64      `json:"index"`
	At             time.Time   `json:"at"`
	Campaign       string      `json:"campaign"`
	ImportKey      string      `json:"import_key"`
	MeasurementKey string      `json:"measurement_key"`
	ScenarioID     string      `json:"scenario"`
	Ordinal        int64       `json:"ordinal"`
	ExecutionID    string      `json:"execution_id"`
	Outcome        CellOutcome `json:"outcome"` // passed or failed
	Status         string      `json:"status"`  // the result's own word
	Cleanup        string      `json:"cleanup"` // "" when the result does not say
	CaseID         string      `json:"case_id"`
	Model          string      `json:"model"`
	Day            string      `json:"day"` // UTC day of usage, 2006-01-02: when the measurement finished

	StartedAt  string   `json:"started_at"`  // as the result writes it
	FinishedAt string   `json:"finished_at"` // as the result writes it
	DurationMS float64  `json:"duration_ms"`
	RunIDs     []string `json:"run_ids"` // the result's; joins checkpoints

	Tokens   *string `json:"tokens"`   // null when unknown
	CostUSD  *string `json:"cost_usd"` // null when unknown
	Coverage string  `json:"coverage"` // the result's own word, or "unavailable"

	WorkflowRunURL string `json:"workflow_run_url"`
	RunID          string `json:"run_id"` // of the CI
	RunAttempt     int64  `json:"run_attempt"`
	ArtifactID     string `json:"artifact_id"`

	ArtifactSHA256      string `json:"artifact_sha256"` // digests are lower hex
	ResultPath          string `json:"result_path"`
	ResultSHA256        string `json:"result_sha256"`
	HostSHA256          string `json:"host_sha256"`
	DefinitionSHA256    string `json:"definition_sha256"`
	DefinitionDigest    string `json:"definition_digest"`
	GraderDigest        string `json:"grader_digest"`
	SuiteDefinitionHash string `json:"suite_definition_hash"`

	Void *Void `json:"void"` // null while it counts
}

// Void is the reversal of an import.
type Void struct {
	Moment
	Actor  string `json:"actor"`
	Reason string `json:"reason"`
}

// ImportVoid adds a Void to the row of the import at Index, which an earlier
// batch wrote.
type ImportVoid struct {
	Index uint64
	Void  Void
}

// Rejection is a row of view rejections, by Index.
type Rejection struct {
	Index      uint64        `json:"index"`
	At         time.Time     `json:"at"`
	Campaign   string        `json:"campaign"` // "" when the subject named no legal campaign
	Kind       domain.Kind   `json:"kind"`     // "" when the subject named no known kind
	Reason     domain.Reason `json:"reason"`
	Field      string        `json:"field"`  // JSON Pointer, "" for the whole
	Detail     string        `json:"detail"` // a sentence for people
	ArrivalID  string        `json:"arrival_id"`
	ImportKey  string        `json:"import_key"` // "" when it was not known yet
	Provenance *Provenance   `json:"provenance"` // of cells, null otherwise
	Claimed    *Claimed      `json:"claimed"`    // of cells, unverified; null when the arrival could not be read, and otherwise
}

// Claimed is what a rejected cell says of itself, which nobody verified. A
// member is null when it could not be read.
type Claimed struct {
	Slot           *string `json:"slot"` // scenario/ordinal
	ExecutionID    *string `json:"execution_id"`
	MeasurementKey *string `json:"measurement_key"`
	Status         *string `json:"status"`
	Cleanup        *string `json:"cleanup"`
	CostUSD        *string `json:"cost_usd"` // decimal, as it was reported
	Tokens         *string `json:"tokens"`   // likewise
	Coverage       *string `json:"coverage"`
	ResultSHA256   *string `json:"result_sha256"` // of the result's bytes
}

// Provenance is where a rejected cell's artifact came from, as far as it was
// read.
type Provenance struct {
	Repository           string `json:"repository"`
	Workflow             string `json:"workflow"`
	WorkflowRef          string `json:"workflow_ref"`
	RunID                string `json:"run_id"`
	RunAttempt           int64  `json:"run_attempt"`
	ArtifactID           string `json:"artifact_id"`
	ArchiveSHA256        string `json:"archive_sha256"`
	TargetSourceRevision string `json:"target_source_revision"`
}

// CheckpointOutcome is what a checkpoint read has come to so far.
type CheckpointOutcome string

// The outcomes of a checkpoint read. Bound is final.
const (
	CheckpointBound    CheckpointOutcome = "bound"
	CheckpointPending  CheckpointOutcome = "pending"
	CheckpointRejected CheckpointOutcome = "rejected"
)

// Checkpoint is a row of view checkpoints, by (Campaign, RunID, TurnID,
// RequestID): the decision that bound the read, else the last one about it.
type Checkpoint struct {
	Campaign  string            `json:"campaign"`
	RunID     string            `json:"run_id"`
	TurnID    string            `json:"turn_id"`
	RequestID string            `json:"request_id"`
	Outcome   CheckpointOutcome `json:"outcome"`
	Index     uint64            `json:"index"`
	At        time.Time         `json:"at"`
	Reason    domain.Reason     `json:"reason"` // "" unless rejected
	Field     string            `json:"field"`  // likewise
	Detail    string            `json:"detail"` // "" when bound

	Authority       json.RawMessage `json:"authority"`        // null unless bound
	AuthoritySHA256 string          `json:"authority_sha256"` // of the authority's bytes here, "" unless bound

	ObservedRecords int64  `json:"observed_records"` // of the whole checkpoint
	ObservedBytes   int64  `json:"observed_bytes"`
	ObservedSHA256  string `json:"observed_sha256"`

	Cells []SlotName `json:"cells"` // read only: slots whose import names the run
}

// SlotName names a slot within its campaign.
type SlotName struct {
	ScenarioID string `json:"scenario"`
	Ordinal    int64  `json:"ordinal"`
}

// Usage is a row of view usage, by (Campaign, Day, Model). In an answer over
// all campaigns Campaign is "" and each measurement counts once, however many
// campaigns imported it.
type Usage struct {
	Campaign  string `json:"campaign"`
	Day       string `json:"day"` // UTC, 2006-01-02: when the measurements finished
	Model     string `json:"model"`
	Spent     Spend  `json:"spent"`     // voided ones included
	Effective Spend  `json:"effective"` // unvoided only
}

// Entry is a row of view entries, by Index: one for every decision.
type Entry struct {
	Index         uint64         `json:"index"`
	At            time.Time      `json:"at"`
	Campaign      string         `json:"campaign"`
	Kind          domain.Kind    `json:"kind"`
	Outcome       domain.Outcome `json:"outcome"`
	Reason        domain.Reason  `json:"reason"`  // "" unless rejected
	Repeats       *uint64        `json:"repeats"` // index that a duplicate repeats
	ArrivalID     string         `json:"arrival_id"`
	ArrivalSHA256 string         `json:"arrival_sha256"` // lower hex, of the arrival's body
	RecordSHA256  string         `json:"record_sha256"`  // lower hex, of the record's bytes
}

// SharedImport is a row of view shared_measurements: an import whose
// measurement was imported by other campaigns too.
type SharedImport struct {
	MeasurementKey string `json:"measurement_key"`
	Campaign       string `json:"campaign"`
	ImportKey      string `json:"import_key"`
	Index          uint64 `json:"index"`
	Voided         bool   `json:"voided"`
}

// Changes are the rows that a batch of decisions changes, each whole and each
// key at most once. They are the same whether they are applied once or again.
// A store writes ImportVoids before Imports, so that a slot that was freed and
// filled again in one batch never holds two.
type Changes struct {
	Decisions int // that made them

	Campaigns   []Campaign   // replaced by ID
	Scenarios   []Scenario   // replaced by (Campaign, Position)
	Slots       []Slot       // replaced by (Campaign, Position)
	ImportVoids []ImportVoid // set on the row of Index
	Imports     []Import     // new, by Index
	Rejections  []Rejection  // new, by Index
	Checkpoints []Checkpoint // replaced by (Campaign, RunID, TurnID, RequestID)
	Usage       []Usage      // replaced by (Campaign, Day, Model)
	Entries     []Entry      // new, by Index
}

// Rows counts the rows.
func (c *Changes) Rows() int {
	return len(c.Campaigns) + len(c.Scenarios) + len(c.Slots) + len(c.ImportVoids) + len(c.Imports) +
		len(c.Rejections) + len(c.Checkpoints) + len(c.Usage) + len(c.Entries)
}

// Only keeps the rows of the given views.
func (c *Changes) Only(views map[View]bool) *Changes {
	only := &Changes{Decisions: c.Decisions}
	if views[ViewCampaigns] {
		only.Campaigns = c.Campaigns
	}
	if views[ViewScenarios] {
		only.Scenarios = c.Scenarios
	}
	if views[ViewCells] {
		only.Slots = c.Slots
	}
	if views[ViewImports] {
		only.ImportVoids, only.Imports = c.ImportVoids, c.Imports
	}
	if views[ViewRejections] {
		only.Rejections = c.Rejections
	}
	if views[ViewCheckpoints] {
		only.Checkpoints = c.Checkpoints
	}
	if views[ViewUsage] {
		only.Usage = c.Usage
	}
	if views[ViewEntries] {
		only.Entries = c.Entries
	}
	return only
}
