package jetstream

import (
	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
)

// How the room on disk is shared, so that running out of it stops intake
// first: whatever ARRIVALS took, LEDGER can still answer.
//
// An answer is never much larger than what it answers. A record repeats some
// of its arrival, each part at most twice and never longer than it arrived; an
// opened campaign is its arrival with the policy and every default written
// out, and the slots named in its seal were named there before. What does not
// come from the arrival (names of fields, digests, the sentence of a refusal,
// keys of an import that a void names, the message around the record) is
// bounded by answerFixedBytes. So for any arrivals
//
//	bytes of answers ≤ answerFactor · bytes of arrivals + answerFixedBytes · number of arrivals
//
// and ARRIVALS is bounded in bytes and in number so that the right side is
// LEDGER's room at most.
const (
	answerFactor     = 2
	answerFixedBytes = 8 << 10

	// ARRIVALS takes one part in arrivalsShare of the room. Answers to full
	// ARRIVALS take answerFactor more; what is left is for the fixed part of
	// each answer. With five shares, a full ARRIVALS holds both its bytes and
	// its number at about 4 KiB an arrival, a little less than a cell.
	arrivalsShare = 5

	// spareShare: one part in so many is left to what is no message of ours:
	// indexes, and batches on their way.
	spareShare = 32

	// minStoreBytes holds one of the largest arrivals and its answer, with room.
	minStoreBytes = 64 << 20
)

// Limits say how the streams are made.
type Limits struct {
	LedgerID   string // names the ledger; becomes the streams' identity
	Replicas   int    // 1, 3 or 5
	StoreBytes int64  // what both streams together may keep on each server
}

// share is what a stream may keep.
type share struct {
	arrivalsBytes, arrivalsMessages, ledgerBytes int64
}

func (l Limits) check() error {
	switch {
	case l.LedgerID == "":
		return errors.AssertionFailedf("jetstream: a ledger needs an id")
	case l.Replicas < 1:
		return errors.AssertionFailedf("jetstream: a stream needs a replica")
	case l.StoreBytes < minStoreBytes:
		return errors.WithHintf(errors.Wrapf(ErrTooLittleRoom, "%d bytes", l.StoreBytes), "give the streams %d bytes or more", minStoreBytes)
	}
	return nil
}

// room is what both streams together may keep.
func (l Limits) room() int64 { return l.StoreBytes - l.StoreBytes/spareShare }

func (l Limits) share() share {
	room := l.room()
	arrivals := room / arrivalsShare
	ledger := room - arrivals
	return share{
		arrivalsBytes:    arrivals,
		arrivalsMessages: (ledger - answerFactor*arrivals) / answerFixedBytes,
		ledgerBytes:      ledger,
	}
}

// answers is the most that the answers to full ARRIVALS take.
func (s share) answers() int64 {
	return answerFactor*s.arrivalsBytes + answerFixedBytes*s.arrivalsMessages
}

// maxMessageBytes is the largest message of ARRIVALS, headers included.
const maxMessageBytes = events.MaxArrivalBytes + events.MaxHeaderBytes

// maxRecordMessageBytes is the largest message of LEDGER, headers included.
const maxRecordMessageBytes = events.MaxRecordBytes + events.MaxHeaderBytes
