// Package follow follows a log: whoever reads a stream in order and keeps what
// came of it does so here.
//
//	log ─ read ─▶ prepare ×n ─▶ step ─▶ commit
//	              (parallel)    (in     (one batch at
//	                             order)  a time, beside
//	                                     further steps)
//
// Model: [Run] reads a log behind a position, prepares each message on all
// processors, steps through them in order, and commits what gathered as one
// batch while the next one gathers. A [Follower] says what these three are.
// What is read ahead of the steps is bounded by messages and bytes. The stages
// can also be put together one by one ([Pipeline]).
//
// Authority: the log. A [Position] names the record that was committed last;
// before a follower goes on, [CheckLedger] makes sure that the log still holds
// that record. The followed [Status] can be waited for.
//
// Failure: what was stepped before an error is committed before [Run] returns
// it. [Retry] starts again from what was committed. A log that is not the one
// that was followed ([ErrForeignLedger]) or that contradicts itself
// ([ErrDamaged]) ends a follower for good.
package follow
