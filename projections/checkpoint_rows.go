package projections

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/go-json-experiment/json"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/checkpoint"
)

// checkpointRowOf gives the row that a decision on a checkpoint read makes,
// and the read it is about; false for other decisions and for a read that
// could not be named.
func checkpointRowOf(d *domain.Decision) (Checkpoint, domain.CheckpointKey, bool) {
	switch data := d.Latest().(type) {
	case *domain.CheckpointBound:
		row := newCheckpointRow(d, data.Key, data.Observed)
		row.Outcome = CheckpointBound
		row.Authority, row.AuthoritySHA256 = authorityOf(data.Authority)
		return row, data.Key, true
	case *domain.CheckpointReference:
		row := newCheckpointRow(d, data.Key, data.Observed)
		row.Outcome = CheckpointPending
		if d.Outcome == domain.Rejected {
			row.Outcome = CheckpointRejected
		}
		return row, data.Key, data.Key != domain.CheckpointKey{}
	}
	return Checkpoint{}, domain.CheckpointKey{}, false
}

func newCheckpointRow(d *domain.Decision, key domain.CheckpointKey, observed checkpoint.Observed) Checkpoint {
	return Checkpoint{
		Campaign:        d.Campaign,
		RunID:           Storable(key.RunID),
		TurnID:          Storable(key.TurnID),
		RequestID:       Storable(key.RequestID),
		Index:           d.Index,
		At:              storedTime(d.Arrival.Time),
		Reason:          d.Reason,
		Field:           Storable(d.Field),
		Detail:          Storable(d.Detail),
		ObservedRecords: observed.Records,
		ObservedBytes:   observed.Bytes,
		ObservedSHA256:  Storable(observed.SHA256),
	}
}

// authorityOf prints an authority as its record does, with its strings as the
// views keep them, and hashes that.
func authorityOf(authority *checkpoint.Authority) ([]byte, string) {
	printed, err := json.Marshal(authority, json.Deterministic(true))
	if err != nil {
		panic("projections: print an authority that a record printed: " + err.Error()) // strings and integers only
	}
	stored := storableJSON(printed)
	sum := sha256.Sum256(stored)
	return stored, hex.EncodeToString(sum[:])
}
