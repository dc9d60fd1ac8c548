package domain

import (
	"fmt"

	"github.com/ledgerd/ledgerd/domain/checkpoint"
)

// decideCheckpoint binds the read again from its slice: the ledger trusts no
// producer's conclusion.
func (c *Campaign) decideCheckpoint(d *Decision, read *CheckpointRead) {
	key, refusal := checkpointKey(read)
	reference := &CheckpointReference{Key: key, Observed: read.Observed}
	d.Data = reference
	if refusal == nil {
		refusal = read.refuseObserved()
	}
	if refusal != nil {
		d.reject(refusal)
		return
	}
	result := checkpoint.Project(read.Checkpoint, read.Publication, read.ExecutionWorkspaceID, checkpoint.KimiContext())
	bound, isBound := c.checkpoints[key]
	switch {
	case result.Outcome == checkpoint.Rejected:
		d.reject(refuse(Reason(result.Reason), result.Field, result.Message))
	case result.Outcome == checkpoint.Pending && !isBound:
		d.Outcome = Pending
		d.Detail = cut(result.Message)
	case result.Outcome == checkpoint.Pending:
		d.repeat(bound.index, reference)
	case !isBound:
		c.acceptCheckpoint(d, key, read, result.Authority)
	case bound.authority == *result.Authority:
		d.repeat(bound.index, reference)
	default:
		d.reject(refuse(ReasonCheckpointConflict, "", fmt.Sprintf(
			"decision %d bound this request to another authority, and a bound read is never replaced", bound.index)))
	}
}

func (c *Campaign) acceptCheckpoint(d *Decision, key CheckpointKey, read *CheckpointRead, authority *checkpoint.Authority) {
	if field, ok := authority.LongerThan(MaxStringBytes); ok {
		d.reject(refuse(ReasonCheckpointLimit, field, fmt.Sprintf(
			"an id of the authority is longer than %d bytes, more than a record repeats", MaxStringBytes)))
		return
	}
	d.accept(&CheckpointBound{Key: key, Authority: authority, Observed: read.Observed})
}

// maxCheckpointIDBytes bounds the ids that a read is known by.
const maxCheckpointIDBytes = 240

// checkpointKey reads the three ids that name the read. Without them the
// ledger could not tell one read from another.
func checkpointKey(read *CheckpointRead) (CheckpointKey, *Refusal) {
	var key CheckpointKey
	for _, id := range []struct {
		name string
		into *string
	}{
		{"runId", &key.RunID}, {"turnId", &key.TurnID}, {"requestId", &key.RequestID},
	} {
		text, ok := read.Publication.Get(id.name).Text()
		if !ok || text == "" || len(text) > maxCheckpointIDBytes {
			return CheckpointKey{}, refuse(ReasonCheckpointMalformed, "/publication/"+id.name, fmt.Sprintf(
				"%s must be a string of 1 to %d bytes: it names the read within its campaign", id.name, maxCheckpointIDBytes))
		}
		*id.into = text
	}
	return key, nil
}

// refuseObserved checks what the producer says of the whole checkpoint: within
// the limits, and with no fewer records than the slice that came of it.
func (r *CheckpointRead) refuseObserved() *Refusal {
	switch {
	case r.Observed.Records > checkpoint.MaxRecords:
		return refuse(ReasonCheckpointLimit, "/observed/records", fmt.Sprintf(
			"the checkpoint has %d records and may have %d", r.Observed.Records, checkpoint.MaxRecords))
	case r.Observed.Bytes > checkpoint.MaxBytes:
		return refuse(ReasonCheckpointLimit, "/observed/bytes", fmt.Sprintf(
			"the checkpoint's rows hold %d bytes and may hold %d", r.Observed.Bytes, checkpoint.MaxBytes))
	case r.Observed.Records < int64(len(r.Checkpoint.Records)):
		return refuse(ReasonCheckpointMalformed, "/observed/records", fmt.Sprintf(
			"the slice has %d records, more than the %d of the whole", len(r.Checkpoint.Records), r.Observed.Records))
	}
	return nil
}
