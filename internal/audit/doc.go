// Package audit checks a ledger from outside: it decides every arrival again
// and compares ([Replay]), and it walks the records, their chain, their tree
// and the evidence behind them ([Verify]).
//
//	         ┌ Log      beside a server, by a reader's credentials
//	Source ──┤ storefile  the files of a stopped server, without starting one
//	         ┤ backup     what `ledgerd backup` wrote
//	         └ export     JSON Lines, for people without NATS
//
// Model: a [Source] gives what the two streams hold, one [Pair] a sequence, in
// order, up to an end that does not move. Replay and Verify are folds over it:
// what needs no order (decoding, hashing, printing) runs in parallel, what
// needs it (deciding, the chain, the tree) runs in order.
//
// Authority: none. Nothing here writes to a ledger, and nothing is believed
// because the writer said it: a record counts because the rules give the same
// bytes again, a stream because its hashes agree.
//
// Failure: what is wrong with a ledger is a result, not an error: a
// [Difference] or [Finding]s, each with its place. An error means that the
// source could not be read to the end, so that nothing is known.
package audit
