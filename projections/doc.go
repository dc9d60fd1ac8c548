// Package projections folds the ledger's decisions into read-only views.
//
//	LEDGER ─ reader ─▶ decode ×n ─▶ fold ─▶ Changes ─▶ Store.Apply ─▶ readers
//	         (chunks)  (parallel)   (in order, (whole     (rows and
//	                                 pure)      rows)      position in one
//	                                                       transaction)
//
// Model: a projection is a pure fold from decisions to row changes. The fold
// holds the same campaign state as the writer (domain.Fold) in a bounded cache
// and prints it as whole rows, so that a store never computes: it replaces
// rows by their key. Money is exact for the same reason; it is added up in one
// place, domain.Account.
//
// Authority: the ledger. A [Store] holds rows and the [Position] they were
// folded up to, which move together in one transaction, guarded by
// compare-and-swap. Two runners on one store can waste each other's work and
// never double or lose a row. Views carry [FoldVersion]: rows of another
// version are rebuilt before they are served. A rebuild ([Rebuild]) works
// beside the live rows and switches in one step.
//
// Failure: a store or stream that cannot be reached is tried again with
// bounded backoff, from the stored position. A stream that ends before the
// position, has another identity or another record hash there, or whose chain
// breaks, is not the one the rows came from: the [Runner] stops and says what
// to do, and the rows stay readable.
package projections
