package checkpoint

import (
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// Project answers whether the checkpoint shows what the publication claims,
// within the execution workspace with the given id. The order of its checks
// decides between pending and rejected: what comes later is not looked at
// while something earlier is still missing.
func Project(cp Checkpoint, publication Publication, workspaceID strictjson.Value, profile Profile) Result {
	return project(cp, publication, workspaceID, profile, scan(cp, publication.Get("requestId")))
}

// binding is a read on its way through the checks.
type binding struct {
	publication Publication
	workspace   strictjson.Value
	profile     Profile
	evidence    node
	identity    node
	rows        *scanned
}

func project(cp Checkpoint, publication Publication, workspaceID strictjson.Value, profile Profile, rows *scanned) Result {
	b := &binding{
		publication: publication,
		workspace:   workspaceID,
		profile:     profile,
		evidence:    node{Value: cp.RecoveryEvidence, path: "/checkpoint/recoveryEvidence", of: "recoveryEvidence"},
		rows:        rows,
	}
	if f := b.open(cp); f != nil {
		return f.result()
	}
	result, f := b.bind()
	if f != nil {
		return f.result()
	}
	return *result
}

// open checks the claim's frame and reads the header.
func (b *binding) open(cp Checkpoint) *fault {
	if lease, ok := b.publication.Get("observerLeaseId").Text(); !ok || lease == "" {
		return faulty(Malformed, "/publication/observerLeaseId", "observerLeaseId must be a string that is not empty and is %s",
			show(b.publication.Get("observerLeaseId")))
	}
	run := node{Value: strictjson.ObjectValue(strictjson.Member{Name: "runId", Value: cp.RunID}), path: "/checkpoint", of: "the checkpoint"}
	if f := run.is("runId", b.claimed("runId")); f != nil {
		return f
	}
	if len(cp.Records) > MaxRecords {
		return faulty(Limit, "/checkpoint/records", "the checkpoint has %d records and may have %d", len(cp.Records), MaxRecords)
	}
	if b.rows.repeated != nil {
		return b.rows.repeated
	}
	var f *fault
	if b.identity, f = readHeader(cp, b.rows.header); f != nil {
		return f
	}
	if f = b.checkIdentity(); f != nil {
		return f
	}
	return b.rows.rowFault
}

// bind goes from the turn to the delivery.
func (b *binding) bind() (*Result, *fault) {
	approved, waits, f := b.approval()
	if f != nil || waits != nil {
		return waits, f
	}
	input, waits, f := b.toolInput(approved)
	if f != nil || waits != nil {
		return waits, f
	}
	delivered, waits, f := b.delivery(approved, input)
	if f != nil || waits != nil {
		return waits, f
	}
	return &Result{Outcome: Bound, Authority: b.authority(approved, input, delivered)}, nil
}

// claimed is what the publication says an id is.
func (b *binding) claimed(name string) wanted {
	return wanted{b.publication.Get(name), "the publication's " + name}
}

// identified is what the header says an id is.
func (b *binding) identified(name string) wanted {
	return wanted{b.identity.Get(name), "the header's " + name}
}
