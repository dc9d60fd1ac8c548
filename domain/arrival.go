package domain

import (
	"time"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// Arrival is a fact that a producer published, decoded. Of Opening, Cell,
// Checkpoint, Void and Seal exactly the one that Kind names is set, unless
// Malformed says why the arrival could not be read.
type Arrival struct {
	Seq      uint64    // sequence on ARRIVALS, from 1
	ID       string    // ce-id, "" when the header is missing
	SHA256   string    // lower hex SHA-256 of the body
	Time     time.Time // when the stream stored it
	Campaign string    // from the subject; "" when its token is no legal campaign id
	Kind     Kind      // from the subject; "" when its token is no known kind

	Malformed *Refusal // reason arrival_malformed, or nil

	Opening    *Opening
	Cell       *CellEvidence
	Checkpoint *CheckpointRead
	Void       *VoidRequest
	Seal       *SealRequest
}

// CellEvidence is a cell arrival's data: where the artifact came from, and the
// three documents found in it.
type CellEvidence struct {
	Provenance    Provenance
	Result        Document
	Host          Document
	Definition    Document
	Qualification *Qualification // nil: the ledger derives it from the cell
}

// Provenance is what the CI's authenticated API says of an artifact; nothing
// in it comes from the archive. A value that is missing or of another JSON
// type is the zero value here, which no gate lets pass.
type Provenance struct {
	Repository           string `json:"repository"`
	Workflow             string `json:"workflow"`
	WorkflowRef          string `json:"workflowRef"`
	RunID                string `json:"runId"`      // ASCII digits
	RunAttempt           int64  `json:"runAttempt"` // 1; anything else is an unreviewed re-run
	ArtifactID           string `json:"artifactId"` // ASCII digits
	ArchiveSHA256        string `json:"archiveSha256"`
	TargetSourceRevision string `json:"targetSourceRevision"` // 40 lower hex
}

// Qualification is a producer's own statement of what a cell comes to. It is
// kept as it was written, since it must equal the cell exactly.
type Qualification struct {
	Attempt    strictjson.Value
	Completion strictjson.Value
}

// VoidRequest asks that an import no longer counts.
type VoidRequest struct {
	ImportKey string `json:"importKey"`
	Actor     string `json:"actor"`
	Reason    string `json:"reason"`
}

// SealRequest asks that a campaign is closed.
type SealRequest struct {
	Actor string `json:"actor"`
}
