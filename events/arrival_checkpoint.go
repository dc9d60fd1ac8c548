package events

import (
	"strings"
	"unicode/utf8"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/canonicaljson"
	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// readCheckpoint reads a checkpoint arrival:
//
//	{"publication":{…},"executionWorkspaceId","checkpoint":{"runId","records":[[key,text]…],"recoveryEvidence":{…}},
//	 "observed":{"records","bytes","sha256"}}
//
// The publication has all of [checkpoint.PublicationIDs], each a string. The
// runner's own documents, which are the texts of the records and the recovery
// evidence, may hold whatever the runner writes.
func readCheckpoint(data []byte, read *domain.CheckpointRead) *domain.Refusal {
	return readBody(data, read, checkpointMembers)
}

var checkpointMembers = []member[domain.CheckpointRead]{
	{name: "publication", read: func(b *body, r *domain.CheckpointRead) *domain.Refusal {
		var ids []strictjson.Member
		refusal := object(b, &ids, publicationMembers)
		r.Publication = strictjson.ObjectValue(ids...)
		return refusal
	}},
	{name: "executionWorkspaceId", read: func(b *body, r *domain.CheckpointRead) *domain.Refusal {
		return b.textValue(&r.ExecutionWorkspaceID)
	}},
	{name: "checkpoint", read: func(b *body, r *domain.CheckpointRead) *domain.Refusal {
		return object(b, &r.Checkpoint, sliceMembers)
	}},
	{name: "observed", read: func(b *body, r *domain.CheckpointRead) *domain.Refusal {
		return object(b, &r.Observed, observedMembers)
	}},
}

// publicationMembers read one member for each id.
var publicationMembers = func() []member[[]strictjson.Member] {
	var members []member[[]strictjson.Member]
	for _, name := range checkpoint.PublicationIDs() {
		members = append(members, member[[]strictjson.Member]{name: name, read: func(b *body, ids *[]strictjson.Member) *domain.Refusal {
			var id strictjson.Value
			refusal := b.textValue(&id)
			*ids = append(*ids, strictjson.Member{Name: name, Value: id})
			return refusal
		}})
	}
	return members
}()

var sliceMembers = []member[checkpoint.Checkpoint]{
	{name: "runId", read: func(b *body, c *checkpoint.Checkpoint) *domain.Refusal { return b.textValue(&c.RunID) }},
	{name: "records", read: func(b *body, c *checkpoint.Checkpoint) *domain.Refusal { return b.records(&c.Records) }},
	{name: "recoveryEvidence", read: func(b *body, c *checkpoint.Checkpoint) *domain.Refusal {
		return b.tree(&c.RecoveryEvidence)
	}},
}

var observedMembers = []member[checkpoint.Observed]{
	{name: "records", read: func(b *body, o *checkpoint.Observed) *domain.Refusal { return b.count(&o.Records) }},
	{name: "bytes", read: func(b *body, o *checkpoint.Observed) *domain.Refusal { return b.count(&o.Bytes) }},
	{name: "sha256", read: func(b *body, o *checkpoint.Observed) *domain.Refusal { return b.digest(&o.SHA256) }},
}

// textValue reads a string as a value.
func (b *body) textValue(into *strictjson.Value) *domain.Refusal {
	*into = b.value
	return b.want(strictjson.String)
}

// tree reads an object whose members are another's.
func (b *body) tree(into *strictjson.Value) *domain.Refusal {
	*into = b.value
	return b.want(strictjson.Object)
}

// records reads an array of pairs of key and text.
func (b *body) records(into *[]checkpoint.Record) *domain.Refusal {
	*into = []checkpoint.Record{}
	return b.list(func(int) *domain.Refusal {
		var record checkpoint.Record
		refusal := b.record(&record)
		*into = append(*into, record)
		return refusal
	})
}

func (b *body) record(into *checkpoint.Record) *domain.Refusal {
	parts := 0
	refusal := b.list(func(i int) *domain.Refusal {
		parts++
		switch i {
		case 0:
			return b.text(&into.Key)
		case 1:
			return b.text(&into.Text)
		}
		return malformed(b.pointer(), "a record is a key and a text and nothing more")
	})
	if refusal == nil && parts < 2 {
		return malformed(b.pointer(), "a record is a key and a text, and has %d of them", parts)
	}
	return refusal
}

// count reads an integer that is not negative.
func (b *body) count(into *int64) *domain.Refusal {
	refusal := b.integer(into)
	if refusal == nil && *into < 0 {
		return malformed(b.pointer(), "it must not be negative and is %d", *into)
	}
	return refusal
}

// digestDigits is how many hex digits SHA-256 has.
const digestDigits = 64

// digest reads a SHA-256 in lower hex.
func (b *body) digest(into *string) *domain.Refusal {
	refusal := b.text(into)
	if refusal == nil && (len(*into) != digestDigits || strings.Trim(*into, "0123456789abcdef") != "") {
		return malformed(b.pointer(), "it must be a SHA-256 in %d lower hex digits", digestDigits)
	}
	return refusal
}

// ErrCheckpointBody: the read cannot be written as an arrival that the ledger
// would take.
var ErrCheckpointBody = errors.New("events: the checkpoint cannot be written as an arrival")

// EncodeCheckpoint prints a checkpoint arrival's body, which [DecodeArrival]
// reads back to the same read. Errors: ErrTooLarge when it is larger than an
// arrival may be, ErrCheckpointBody with the place that the ledger would
// refuse.
func EncodeCheckpoint(read *domain.CheckpointRead) ([]byte, error) {
	for i, record := range read.Checkpoint.Records {
		if !utf8.ValidString(record.Key) || !utf8.ValidString(record.Text) {
			return nil, errors.WithHint(errors.Wrapf(ErrCheckpointBody, "record %d (%s) is not UTF-8", i, excerpt(record.Key)),
				"JSON cannot carry it: mend the runner's records")
		}
	}
	out := canonicaljson.Append([]byte(`{"publication":`), read.Publication)
	out = canonicaljson.Append(append(out, `,"executionWorkspaceId":`...), read.ExecutionWorkspaceID)
	out = canonicaljson.Append(append(out, `,"checkpoint":{"runId":`...), read.Checkpoint.RunID)
	out = appendRecords(append(out, `,"records":`...), read.Checkpoint.Records)
	out = canonicaljson.Append(append(out, `,"recoveryEvidence":`...), read.Checkpoint.RecoveryEvidence)
	out = canonicaljson.AppendNumber(append(out, `},"observed":{"records":`...), float64(read.Observed.Records))
	out = canonicaljson.AppendNumber(append(out, `,"bytes":`...), float64(read.Observed.Bytes))
	out = canonicaljson.AppendString(append(out, `,"sha256":`...), read.Observed.SHA256)
	out = append(out, "}}"...)
	if len(out) > MaxArrivalBytes {
		return nil, errors.WithHint(errors.Wrapf(ErrTooLarge, "the slice of %d records prints %d bytes, %d are carried", len(read.Checkpoint.Records), len(out), MaxArrivalBytes),
			"a slice holds the rows about the request and whatever is not JSON: look for rows that are not JSON")
	}
	if refusal := readCheckpoint(out, &domain.CheckpointRead{}); refusal != nil {
		return nil, errors.WithHintf(errors.Wrapf(ErrCheckpointBody, "%s: %s", refusal.Field, refusal.Message),
			"the publication needs a string for each of %v", checkpoint.PublicationIDs())
	}
	return out, nil
}

func appendRecords(out []byte, records []checkpoint.Record) []byte {
	out = append(out, '[')
	for i, record := range records {
		if i > 0 {
			out = append(out, ',')
		}
		out = canonicaljson.AppendString(append(out, '['), record.Key)
		out = canonicaljson.AppendString(append(out, ','), record.Text)
		out = append(out, ']')
	}
	return append(out, ']')
}
