package checkpoint

import "github.com/ledgerd/ledgerd/domain/strictjson"

// Limits of a checkpoint.
const (
	// MaxRecords is how many records it may have, of whatever key.
	MaxRecords = 20_000
	// MaxBytes is how many bytes of UTF-8 its event:<n> and command:<n>
	// records may hold together. Keys and other records do not count.
	MaxBytes = 32 << 20
)

// Checkpoint is what a runner keeps of one run.
type Checkpoint struct {
	RunID            strictjson.Value // a string, or the read is refused
	Records          []Record         // in the order they are kept
	RecoveryEvidence strictjson.Value // runnerInstanceId, normalizedSessionId, authenticatedConnectionCount, highestRecordedSourceSeq
}

// Record is a keyed JSON text. The keys that matter are header, event:<n> and
// command:<n>; others are never parsed.
type Record struct {
	Key  string
	Text string
}

// Publication is the ids that a read claims: an object with the names of
// [PublicationIDs]. Of what is no object every id is missing.
type Publication = strictjson.Value

// PublicationIDs names every id that a publication claims.
func PublicationIDs() []string {
	return []string{
		"companyId", "issueId", "agentId", "environmentId", "runId", "sessionId", "sourceInstanceId",
		"turnId", "observerLeaseId", "requestId", "toolCallId", "actionSha256",
	}
}
