package events

import (
	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// ProjectionInput is a checkpoint read as a stand-alone projection takes it:
// nothing is demanded of the values, since the projection itself judges what
// is missing or of another type.
type ProjectionInput struct {
	Checkpoint           checkpoint.Checkpoint
	Publication          checkpoint.Publication
	ExecutionWorkspaceID strictjson.Value
}

// DecodeProjection reads an input of a stand-alone projection:
//
//	{"checkpoint":{"runId","records":[[key,text]…],"recoveryEvidence"},"publication","executionWorkspaceId"}
//
// Refusals are [ReasonInputMalformed].
func DecodeProjection(raw []byte) (*ProjectionInput, *domain.Refusal) {
	var input ProjectionInput
	if refusal := readBody(raw, &input, projectionMembers); refusal != nil {
		return nil, &domain.Refusal{Reason: ReasonInputMalformed, Field: refusal.Field, Message: refusal.Message}
	}
	return &input, nil
}

var projectionMembers = []member[ProjectionInput]{
	{name: "checkpoint", read: func(b *body, p *ProjectionInput) *domain.Refusal {
		return object(b, &p.Checkpoint, wholeMembers)
	}},
	anyValue("publication", func(p *ProjectionInput) *strictjson.Value { return &p.Publication }),
	anyValue("executionWorkspaceId", func(p *ProjectionInput) *strictjson.Value { return &p.ExecutionWorkspaceID }),
}

var wholeMembers = []member[checkpoint.Checkpoint]{
	anyValue("runId", func(c *checkpoint.Checkpoint) *strictjson.Value { return &c.RunID }),
	{name: "records", read: func(b *body, c *checkpoint.Checkpoint) *domain.Refusal { return b.records(&c.Records) }},
	anyValue("recoveryEvidence", func(c *checkpoint.Checkpoint) *strictjson.Value { return &c.RecoveryEvidence }),
}

// anyValue is a member that may be anything, or missing.
func anyValue[T any](name string, of func(*T) *strictjson.Value) member[T] {
	return member[T]{name: name, optional: true, read: func(b *body, into *T) *domain.Refusal {
		*of(into) = b.value
		return nil
	}}
}
