package events

import (
	"strings"

	"github.com/ledgerd/ledgerd/domain"
)

// DecodeArrival reads a message of the ARRIVALS stream. It never fails:
// whatever is wrong with the message is Malformed, with a field and a
// sentence, and is decided like every other arrival. A field is a JSON Pointer
// into the body, or the name of a header, or "subject".
//
// What a gate looks at is left to the gates: a member of provenance and a
// document's path and sha256 may be missing or of another type, and are then
// the zero value.
//
// What an arrival may hold belongs to the rules that decide it. DecodeArrival
// reads by those of [domain.RuleVersion], DecodeArrivalBy by those of v.
func DecodeArrival(m *Message) *domain.Arrival { return DecodeArrivalBy(domain.RuleVersion, m) }

// DecodeArrivalBy is [DecodeArrival] by the rules of version v.
func DecodeArrivalBy(v int, m *Message) *domain.Arrival {
	return arrivalDecoders[min(max(v, 1), len(arrivalDecoders))-1](m)
}

// arrivalDecoders by rule version, from 1 on. A version behind the last one
// here reads arrivals as the last one does.
var arrivalDecoders = []func(*Message) *domain.Arrival{decodeArrivalV1}

func decodeArrivalV1(m *Message) *domain.Arrival {
	a := &domain.Arrival{
		Seq:    m.Seq,
		ID:     strings.ToValidUTF8(m.Header.Get(HeaderID), "\ufffd"), // a record must be able to hold it
		SHA256: RecordHash(m.Data),
		Time:   m.Time.UTC(),
	}
	var legal bool
	a.Campaign, a.Kind, legal = ParseArrivalSubject(m.Subject)
	if !legal {
		a.Malformed = malformed("subject", "the subject %s must be %s<campaign>.<kind> with a legal campaign id and a known kind",
			excerpt(m.Subject), arrivalsRoot)
		return a
	}
	if a.Malformed = checkEnvelope(m.Header, a.Kind); a.Malformed != nil {
		return a
	}
	if a.Malformed = decodeBody(a, m.Data); a.Malformed != nil {
		a.Opening, a.Cell, a.Checkpoint, a.Void, a.Seal = nil, nil, nil, nil, nil
	}
	return a
}

// decodeBody reads the kind's data.
func decodeBody(a *domain.Arrival, data []byte) *domain.Refusal {
	if len(data) > MaxArrivalBytes {
		return malformed("", "the body is %d bytes and may be %d", len(data), MaxArrivalBytes)
	}
	switch a.Kind {
	case domain.KindCampaign:
		a.Opening = &domain.Opening{}
		return readOpening(data, a.Opening)
	case domain.KindCell:
		a.Cell = &domain.CellEvidence{}
		return readBody(data, a.Cell, cellMembers)
	case domain.KindCheckpoint:
		a.Checkpoint = &domain.CheckpointRead{}
		return readCheckpoint(data, a.Checkpoint)
	case domain.KindVoid:
		a.Void = &domain.VoidRequest{}
		return readBody(data, a.Void, voidMembers)
	default:
		a.Seal = &domain.SealRequest{}
		return readBody(data, a.Seal, sealMembers)
	}
}

var voidMembers = []member[domain.VoidRequest]{
	text("importKey", func(v *domain.VoidRequest) *string { return &v.ImportKey }),
	said("actor", func(v *domain.VoidRequest) *string { return &v.Actor }),
	said("reason", func(v *domain.VoidRequest) *string { return &v.Reason }),
}

var sealMembers = []member[domain.SealRequest]{
	said("actor", func(s *domain.SealRequest) *string { return &s.Actor }),
}
