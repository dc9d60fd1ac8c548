// Package checkpoint binds a read of a runner's durable checkpoint. It answers
// one question: was the result of this one tool call, on this approved
// request, delivered to this agent for this task?
//
// Model: a [Checkpoint] is keyed JSON records; a [Publication] is the ids that
// are claimed. [Project] answers [Bound] with an [Authority] of ids, sequence
// numbers and digests, [Pending] while it may still happen, or [Rejected] as
// soon as anything contradicts. There is no fourth answer and no partial one.
//
// Authority: the records alone. The functions are pure, and whoever has the
// same records comes to the same answer, so nobody has to trust a producer's.
// [Slice] gives the few records that decide; [Observe] counts and digests the
// whole that they came from.
//
// Failure: bad data is a [Result], never an error or a panic. Values compare
// as JavaScript's === does: types are exact, numbers compare by value, and
// what is missing equals only what is missing.
package checkpoint
