// Package events says what is on the two streams and how they are read and
// written.
//
// Model: ARRIVALS holds the facts that producers published, LEDGER the
// writer's decisions. The decision at LEDGER sequence n answers the arrival at
// ARRIVALS sequence n. Both are CloudEvents in the NATS binding's binary mode:
// the envelope in headers, a JSON body.
//
// Authority: the bytes of a record are canonical ([EncodeRecord]): the same
// decision prints the same bytes for every replay, and each record holds the
// SHA-256 of the one before it. What depends on the process that wrote it is a
// header.
//
// Failure: a [Log] never hides damage. Readers check contiguity and answer
// [ErrGap]; an append says whether it certainly was not stored ([ErrMoved]) or
// whether nobody knows ([ErrStateUnknown]).
package events
