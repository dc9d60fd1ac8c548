package audit

import (
	"fmt"
	"strings"
)

// Problem says what kind of damage a finding is, for machines.
type Problem string

// The problems.
const (
	ProblemFile      Problem = "file"      // a file is missing, cut off or is not what it was
	ProblemMissing   Problem = "missing"   // sequences are not there
	ProblemRecord    Problem = "record"    // the bytes are no canonical record
	ProblemChain     Problem = "chain"     // a record does not name the hash of the one before it
	ProblemPlace     Problem = "place"     // a record is not at its index, or not under its subject
	ProblemEnvelope  Problem = "envelope"  // the headers around a record are not a decision's
	ProblemRules     Problem = "rules"     // the rule version fell, or is unknown here
	ProblemOutcome   Problem = "outcome"   // an outcome does not follow from the records before it
	ProblemEvidence  Problem = "evidence"  // an arrival is not the one that was decided
	ProblemDocument  Problem = "document"  // a document is not the one that was imported
	ProblemTreeHead  Problem = "tree_head" // a signed head covers other records
	ProblemLostEnd   Problem = "lost_end"  // somebody has seen more than there is
	ProblemRewritten Problem = "rewritten" // somebody has seen another record there
	ProblemManifest  Problem = "manifest"  // a backup or an export is not what it says of itself
)

// Finding is one thing that is wrong, and where.
type Finding struct {
	Problem  Problem `json:"problem"`
	Stream   string  `json:"stream,omitempty"`   // ARRIVALS or LEDGER
	Sequence uint64  `json:"sequence,omitempty"` // of the stream, from 1; the record's index is one less
	File     string  `json:"file,omitempty"`
	Detail   string  `json:"detail"` // a sentence for people
}

// String is the finding in one line.
func (f Finding) String() string {
	var where []string
	if f.Stream != "" && f.Sequence > 0 {
		where = append(where, fmt.Sprintf("%s sequence %d", f.Stream, f.Sequence))
	} else if f.Stream != "" {
		where = append(where, f.Stream)
	}
	if f.File != "" {
		where = append(where, f.File)
	}
	return strings.Join(append(where, f.Detail), ": ")
}

// MaxFindings bounds how many findings a result holds: a damaged stream would
// give one a record. All are counted.
const MaxFindings = 100

// findings collects what is found, in the order of the walk.
type findings struct {
	kept  []Finding
	total int
}

func (f *findings) add(found ...Finding) {
	f.total += len(found)
	room := MaxFindings - len(f.kept)
	f.kept = append(f.kept, found[:min(len(found), max(room, 0))]...)
}
