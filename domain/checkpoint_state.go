package domain

import (
	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// CheckpointRead is a checkpoint arrival's data: what is claimed, and the
// slice of the checkpoint that the claim is decided by.
type CheckpointRead struct {
	Publication          checkpoint.Publication
	ExecutionWorkspaceID strictjson.Value
	Checkpoint           checkpoint.Checkpoint
	Observed             checkpoint.Observed // of the whole checkpoint, not of the slice
}

// CheckpointKey says which read a checkpoint is about, within its campaign.
type CheckpointKey struct {
	RunID     string `json:"runId"`
	TurnID    string `json:"turnId"`
	RequestID string `json:"requestId"`
}

// CheckpointBound is an accepted checkpoint: the authority that was bound.
type CheckpointBound struct {
	Key       CheckpointKey         `json:"key"`
	Authority *checkpoint.Authority `json:"authority"`
	Observed  checkpoint.Observed   `json:"observed"`
}

// CheckpointReference names a checkpoint read that bound nothing.
type CheckpointReference struct {
	Key      CheckpointKey       `json:"key"`
	Observed checkpoint.Observed `json:"observed"`
}

// boundCheckpoint is what later reads of the same key are compared with.
type boundCheckpoint struct {
	index     uint64
	authority checkpoint.Authority
}

func (c *Campaign) foldCheckpoint(d *Decision, data *CheckpointBound) error {
	if _, bound := c.checkpoints[data.Key]; bound || data.Authority == nil {
		return errors.Wrapf(ErrLedgerContradicts, "decision %d binds a checkpoint of campaign %q again, or to nothing", d.Index, c.id)
	}
	c.checkpoints[data.Key] = boundCheckpoint{index: d.Index, authority: *data.Authority}
	return nil
}
