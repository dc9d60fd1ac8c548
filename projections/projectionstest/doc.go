// Package projectionstest makes ledgers for tests of the read side, and a
// model of the views that is too simple to be wrong.
//
// A [Ledger] holds real decisions: arrivals decided by the domain, chained and
// stored in an in-memory log. A [Model] keeps rows in maps and answers every
// query by looking at all of them.
package projectionstest
