package checkpoint

import "fmt"

// Outcome is the answer to a read.
type Outcome string

// The outcomes.
const (
	Bound    Outcome = "bound"    // delivered, and the authority says what exactly
	Pending  Outcome = "pending"  // nothing contradicts, and something is still missing
	Rejected Outcome = "rejected" // something contradicts, for good
)

// Reason is the code of a rejection.
type Reason string

// The reasons.
const (
	Malformed    Reason = "checkpoint_malformed"    // not in the form that a checkpoint has
	Limit        Reason = "checkpoint_limit"        // beyond MaxRecords or MaxBytes
	Contradicted Reason = "checkpoint_contradicted" // the records or the claim say otherwise
)

// Result is what a read comes to.
type Result struct {
	Outcome   Outcome
	Authority *Authority // of a bound read, else nil
	Reason    Reason     // of a rejected read, else ""
	// Field says where a rejected read fails, as a JSON Pointer from
	// {publication, executionWorkspaceId, checkpoint: {runId, records:
	// [[key, text]…], recoveryEvidence}}, and on into the text of a record.
	Field   string
	Message string // a sentence a person can act on; "" when bound
}

// fault is why a read is rejected.
type fault struct {
	reason  Reason
	field   string
	message string
}

func faulty(reason Reason, field, format string, arguments ...any) *fault {
	return &fault{reason: reason, field: field, message: fmt.Sprintf(format, arguments...)}
}

// firstOf gives the first fault there is, nil when there is none.
func firstOf(faults ...*fault) *fault {
	for _, f := range faults {
		if f != nil {
			return f
		}
	}
	return nil
}

func (f *fault) result() Result {
	return Result{Outcome: Rejected, Reason: f.reason, Field: f.field, Message: f.message}
}

func pending(message string) *Result { return &Result{Outcome: Pending, Message: message} }
