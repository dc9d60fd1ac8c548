package domain

import (
	"strings"
	"time"
)

// GenesisHash is what the first record of a chain holds as the hash of the one
// before it.
var GenesisHash = strings.Repeat("0", sha256HexDigits)

// Decision is the ledger's single answer to one arrival. Its fields are the
// record's, in the record's order.
type Decision struct {
	V        int        `json:"v"`        // rule version
	Index    uint64     `json:"index"`    // arrival.seq - 1
	Prev     string     `json:"prev"`     // lower hex SHA-256 of the previous record's bytes; 64 zeros at first
	Arrival  ArrivalRef `json:"arrival"`  // what it answers
	Campaign string     `json:"campaign"` // "" when the subject named no legal campaign
	Kind     Kind       `json:"kind"`     // "" when the subject named no known kind
	Outcome  Outcome    `json:"outcome"`
	Reason   Reason     `json:"reason"`  // "" unless rejected
	Field    string     `json:"field"`   // JSON Pointer, "" for the whole
	Detail   string     `json:"detail"`  // a sentence for people, "" when accepted
	Repeats  *uint64    `json:"repeats"` // index that a duplicate repeats

	// Of the campaign, up to and with this decision; null while it is unknown.
	Accepted      *uint64 `json:"accepted"`      // its accepted decisions
	Refused       *uint64 `json:"refused"`       // its rejected cells
	RefusedFailed *uint64 `json:"refusedFailed"` // of them, those that claim a selected slot that did not pass
	CampaignIndex *uint64 `json:"campaignIndex"` // 0 for its opening, then one more for each decision about it
	CampaignPrev  *string `json:"campaignPrev"`  // lower hex SHA-256 of its previous record; [GenesisHash] at the opening

	Data Data `json:"data"` // what folds need; null when there is nothing
}

// ArrivalRef names the arrival that a decision answers.
type ArrivalRef struct {
	Seq    uint64    `json:"seq"`
	ID     string    `json:"id"`
	SHA256 string    `json:"sha256"`
	Time   time.Time `json:"time"` // printed in UTC with nine fractional digits
}

// Data is what a decision tells its folds: its payload. Payload types belong to
// a version ([Rules]). Those of version 1, by kind and outcome:
//
//	campaign    accepted             *Opening, expanded
//	cell        accepted             *CellImported
//	cell        duplicate            *CellReference
//	cell        rejected             *CellRefused
//	void        any                  *VoidReference
//	seal        accepted             *Seal
//	seal        duplicate, rejected  *SealRequest
//	checkpoint  accepted             *CheckpointBound
//	checkpoint  other                *CheckpointReference
//
// A refused campaign, a malformed arrival and whatever is meant for an unknown
// campaign have none, unless it is a cell.
type Data interface {
	// Latest gives the same facts as the payload type that folds, views and
	// receipts read: of an older version's payload the latest type, else itself.
	Latest() Data
}

// Latest is d's Data for whoever reads it, whatever version d has. Data itself
// is for printing d again. nil when there is none.
func (d *Decision) Latest() Data {
	if d.Data == nil {
		return nil
	}
	return d.Data.Latest()
}

// CellImported is an accepted cell.
type CellImported struct {
	Cell       Cell       `json:"cell"`
	Result     CellFacts  `json:"result"`
	Usage      Usage      `json:"usage"`
	Provenance Provenance `json:"provenance"`
}

// CellReference names a cell that was imported before.
type CellReference struct {
	ImportKey      string     `json:"importKey"`
	MeasurementKey string     `json:"measurementKey"`
	ScenarioID     string     `json:"scenarioId"`
	Ordinal        int64      `json:"ordinal"`
	Provenance     Provenance `json:"provenance"`
}

// VoidReference names the import that a void is about.
type VoidReference struct {
	ImportKey      string `json:"importKey"`
	MeasurementKey string `json:"measurementKey"` // "" when the import is unknown
	ScenarioID     string `json:"scenarioId"`     // likewise
	Ordinal        int64  `json:"ordinal"`        // likewise, then 0
	Actor          string `json:"actor"`
	Reason         string `json:"reason"`
}

// Seal is a campaign's end: the verdict that the seal froze.
type Seal struct {
	Actor   string  `json:"actor"`
	Verdict Verdict `json:"verdict"`
	Tally   Tally   `json:"tally"`
}

// Latest is the payload itself.
func (p *Opening) Latest() Data { return p }

// Latest is the payload itself.
func (p *CellImported) Latest() Data { return p }

// Latest is the payload itself.
func (p *CellReference) Latest() Data { return p }

// Latest is the payload itself.
func (p *VoidReference) Latest() Data { return p }

// Latest is the payload itself.
func (p *Seal) Latest() Data { return p }

// Latest is the payload itself.
func (p *SealRequest) Latest() Data { return p }

// Latest is the payload itself.
func (p *CheckpointBound) Latest() Data { return p }

// Latest is the payload itself.
func (p *CheckpointReference) Latest() Data { return p }
