// Package observertest makes a runner's database for tests: the tables that an
// observer reads, the rows of runs in them, and a role that may only select.
//
// Each [Database] is one database of a real Postgres; [Database.Add] writes a
// run whose claim is owned, and [Database.Keep] what its runner has kept. Its
// schema "other" has records tables for what must fail: other.writing tries
// to write, other.slow takes a minute.
package observertest
