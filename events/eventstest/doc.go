// Package eventstest tests code that uses an [events.Log], and logs
// themselves.
//
// Model: [Log] is a stream in memory that behaves as the JetStream one does
// and breaks on demand: a hook decides for each append whether it is stored
// and, apart from that, what its caller is told, so that a lost
// acknowledgement is one row of a table. [Conformance] is the suite that both
// implementations pass.
//
// Authority: the contract is [events.Log]'s; the suite only holds it. Times
// are made up, one second a message, so that tests decide the same each run.
//
// Failure: whatever a test breaks stays broken until it mends it.
package eventstest
