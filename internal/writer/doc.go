// Package writer is the ledger's single writer: it answers every arrival with
// exactly one decision.
//
//	ARRIVALS ─ reader ─▶ prepare ×n ─▶ decider ─▶ appender ─▶ LEDGER
//	           (chunks)  (decode,      (in order,  (one batch
//	                      hash,         pure)       in flight)
//	                      parse)
//
// Model: the ledger itself holds the writer's position. The decision at LEDGER
// sequence n answers the arrival at ARRIVALS sequence n, so a writer that
// starts reads the last record and goes on behind it; it keeps nothing of its
// own.
//
// Authority: whoever appends next behind the sequence it expects. Two writers
// can waste each other's work and can never interleave, because each batch is
// stored whole behind the expected sequence or not at all. There is no lock to
// lose.
//
// Failure: after any append that was not acknowledged the writer drops every
// speculative decision, reads the tail and asks whose it is. Its own: it goes
// on. Another writer's: it stands aside ([ErrStoodAside]). A tail that moved
// back, a gap or a broken chain: it stops ([follow.ErrDamaged]), because going on
// would bury the damage under new records. Bad data never stops it: whatever
// cannot be read is decided as malformed.
package writer
