// Package observer reads a runner's Postgres and answers whether a claimed
// checkpoint read is bound.
//
// Model: one read is one read-only, repeatable-read transaction on one
// connection. It proves first that the claim's lease, run, issue and workspace
// belong together, then that the run's own profile says so, then loads the
// checkpoint and projects it ([checkpoint.Examine]). [Poll] reads until the
// answer is final or time is up.
//
// Authority: none. What is published is a slice of the records; the ledger
// projects that again. The role it connects as needs SELECT on the tables and
// nothing more.
//
// Failure: [ErrUnavailable] and [ErrSlow] may pass and are tried again by
// Poll; every other error is for a person. A claim that no row, or more than
// one, stands for is refused, not pending.
package observer
