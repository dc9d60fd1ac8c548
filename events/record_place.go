package events

import (
	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
)

// Why a message of LEDGER does not hold the record that it should.
var (
	// ErrRecordMisplaced: the record belongs to another sequence or subject.
	ErrRecordMisplaced = errors.New("events: a record is not in its place")
	// ErrChainBroken: the record does not continue the one before it.
	ErrChainBroken = errors.New("events: the chain of records is broken")
)

// ReadRecord reads the decision that a message of LEDGER holds, and makes sure
// that it is there where it belongs. Whoever reads LEDGER reads it with this
// function, so that everybody refuses the same. What remains for the reader is
// the chain ([Link.Follows]), when it reads one record after another.
//
// Errors: [domain.ErrUnknownRules] for a record of later rules, whatever else
// it holds; [ErrRecordMalformed]; [ErrRecordMisplaced].
func ReadRecord(m *Message) (*domain.Decision, error) {
	d, err := DecodeRecord(m.Data)
	if err != nil {
		return nil, errors.Wrapf(err, "events: LEDGER sequence %d", m.Seq)
	}
	return d, CheckPlace(m, d)
}

// ReadRecordAt is [ReadRecord] for a record that was handed on without its
// subject.
func ReadRecordAt(seq uint64, record []byte) (*domain.Decision, error) {
	d, err := DecodeRecord(record)
	if err != nil {
		return nil, errors.Wrapf(err, "events: LEDGER sequence %d", seq)
	}
	return d, checkSequence(seq, d.Index)
}

// CheckPlace makes sure that a message's record belongs to its sequence and
// subject. Error: ErrRecordMisplaced.
func CheckPlace(m *Message, d *domain.Decision) error {
	if err := checkSequence(m.Seq, d.Index); err != nil {
		return err
	}
	if subject := DecisionSubject(d); subject != m.Subject {
		return errors.Wrapf(ErrRecordMisplaced, "LEDGER sequence %d holds a record for subject %s under %s", m.Seq, subject, excerpt(m.Subject))
	}
	return nil
}

func checkSequence(seq, index uint64) error {
	if seq == 0 || index != seq-1 {
		return errors.Wrapf(ErrRecordMisplaced, "LEDGER sequence %d holds the record with index %d", seq, index)
	}
	return nil
}

// Link is the beginning of a record. Records of every version begin alike:
//
//	{"v":1,"index":41,"prev":"…64 hex digits…",
//
// so that chain and tree are the same whatever rules the records follow.
type Link struct {
	V     int
	Index uint64
	Prev  string
}

// ReadLink reads the beginning of a record of any version, also of one that
// this program does not know. Error: ErrRecordMalformed.
func ReadLink(record []byte) (Link, error) {
	s := scanner{rest: record}
	l := s.link()
	if s.wanted == "" && (l.V < 1 || !isDigest(l.Prev)) {
		s.fail("a rule version and the SHA-256 of the record before")
	}
	if s.wanted != "" {
		return Link{}, errors.Wrapf(ErrRecordMalformed, "at byte %d: want %s", len(record)-len(s.rest), s.wanted)
	}
	return l, nil
}

// ReadLinkOf reads the beginning of the record that a message of LEDGER holds.
// Errors: ErrRecordMalformed, ErrRecordMisplaced.
func ReadLinkOf(m *Message) (Link, error) {
	l, err := ReadLink(m.Data)
	if err != nil {
		return Link{}, errors.Wrapf(err, "events: LEDGER sequence %d", m.Seq)
	}
	return l, checkSequence(m.Seq, l.Index)
}

// LinkOf is the link of a decision that was read.
func LinkOf(d *domain.Decision) Link { return Link{V: d.V, Index: d.Index, Prev: d.Prev} }

// Follows makes sure that a record continues the record with a hash at a
// sequence; at sequence 0 no record is needed. Error: ErrChainBroken.
func (l Link) Follows(seq uint64, hash string) error {
	if seq == 0 {
		hash = GenesisHash
	}
	switch {
	case l.Index != seq:
		return errors.Wrapf(ErrChainBroken, "LEDGER sequence %d follows sequence %d", l.Index+1, seq)
	case l.Prev != hash:
		return errors.Wrapf(ErrChainBroken, "LEDGER sequence %d names %s as the record before it, which has hash %s", l.Index+1, l.Prev, hash)
	}
	return nil
}
