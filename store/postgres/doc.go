// Package postgres keeps the views in PostgreSQL (15 or later), for
// deployments with an external database and for people who ask SQL.
//
//	schema ledger           what people read: one SQL view per view, with
//	                        comments, granted to role ledger_reader
//	schema ledger_internal  progress of the views, and which generation each
//	                        of them is of
//	schemas ledger_g<n>     the tables of generation n
//
// Model: tables are made for a fold version, in a generation; another version
// is not migrated but rebuilt. Only ledger_internal has migrations.
//
// Authority: the row 'live' in ledger_internal.progress. Apply and Switch
// change it in the transaction that changes the rows, so that they exclude
// each other; readers take position and generations from it in one snapshot.
//
// Rebuild: a new generation, loaded on one connection that holds an advisory
// lock: the lock and the loading end together. The switch re-points the SQL
// views and the row 'live' in one transaction. Tables that nobody points at
// are dropped after it; a reader whose snapshot is older than that asks again.
package postgres
