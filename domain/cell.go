package domain

import "github.com/ledgerd/ledgerd/domain/strictjson"

// CellSchema is the schema of a validated cell.
const CellSchema = "paperclip.chat-remote-cell-import/v1"

// Cell is a validated cell: its identity and the digests of what it stands on.
type Cell struct {
	Schema           string       `json:"schema"`
	IntentCampaignID string       `json:"intentCampaignId"`
	ImportKey        string       `json:"importKey"`      // runId/runAttempt/executionId
	MeasurementKey   string       `json:"measurementKey"` // accounting campaign/attempt/executionId
	ArtifactSHA256   string       `json:"artifactSha256"`
	ScenarioID       string       `json:"scenarioId"`
	Ordinal          int64        `json:"ordinal"`
	SourceRevision   string       `json:"sourceRevision"`
	ResultPath       string       `json:"resultPath"`
	ResultSHA256     string       `json:"resultSha256"`
	HostSHA256       string       `json:"hostSha256"`
	DefinitionSHA256 string       `json:"definitionSha256"`
	DefinitionDigest string       `json:"definitionDigest"`
	GraderDigest     string       `json:"graderDigest"`
	DatabaseLane     DatabaseLane `json:"databaseLane"`
}

// Slot is the place in the grid that the cell fills.
func (c *Cell) Slot() Slot { return Slot{ScenarioID: c.ScenarioID, Ordinal: c.Ordinal} }

// DatabaseLane identifies the database that a cell ran against.
type DatabaseLane struct {
	Lane         string `json:"lane"`
	Image        string `json:"image"`
	ImageID      string `json:"imageId"`
	Version      string `json:"version"`
	Architecture string `json:"architecture"`
}

// Usage is what a cell cost. Unknown is null, never 0.
type Usage struct {
	Tokens   *float64 `json:"tokens"`
	CostUSD  *float64 `json:"costUsd"`
	Coverage string   `json:"coverage"` // the framework's own word, or "unavailable"
}

// CellFacts are the result's facts that projections show beside the cell.
type CellFacts struct {
	ExecutionID         string   `json:"executionId"`
	Status              string   `json:"status"`  // passed or failed
	Cleanup             string   `json:"cleanup"` // "" when the result does not say
	CaseID              string   `json:"caseId"`
	ProfileID           string   `json:"profileId"`
	Provider            string   `json:"provider"`
	Model               string   `json:"model"`
	SuiteDefinitionHash string   `json:"suiteDefinitionHash"`
	WorkflowRunURL      string   `json:"workflowRunUrl"`
	StartedAt           string   `json:"startedAt"`  // as the result writes it
	FinishedAt          string   `json:"finishedAt"` // as the result writes it
	DurationMS          float64  `json:"durationMs"`
	RunIDs              []string `json:"runIds"` // joins cells to checkpoints; at most maxRunIDs
}

// Measured is what validation makes of a cell's evidence.
type Measured struct {
	Cell  Cell
	Facts CellFacts
	Usage Usage

	result strictjson.Value // what a qualification is compared with
}
