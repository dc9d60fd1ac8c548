package events

import (
	"strconv"

	"github.com/ledgerd/ledgerd/domain"
)

// Headers of a decision that depend on the process that wrote it. They are not
// part of the record.
const (
	HeaderEpoch = "Ledgerd-Epoch" // random for each process
	HeaderHost  = "Ledgerd-Host"  // for people
)

// DecisionType is the ce-type of every decision of this record format.
const DecisionType = "ledgerd.decision.v1"

// decisionSource is the ce-source of a decision: the stream it is in.
const decisionSource = "/ledgerd/" + LedgerStream

// NewDecisionMessage wraps a record for the LEDGER stream: a CloudEvent whose
// id is the record's index.
func NewDecisionMessage(d *domain.Decision, record []byte, epoch, host string) Outgoing {
	return Outgoing{
		Subject: DecisionSubject(d),
		Header: Header{
			HeaderSpecVersion: {specVersion},
			HeaderID:          {strconv.FormatUint(d.Index, 10)},
			HeaderSource:      {decisionSource},
			HeaderType:        {DecisionType},
			HeaderContentType: {contentType},
			HeaderEpoch:       {epoch},
			HeaderHost:        {host},
		},
		Data: record,
	}
}
