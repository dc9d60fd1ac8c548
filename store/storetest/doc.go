// Package storetest is the suite that every projections.Store passes.
//
// Stores are held against projectionstest.Model, driven by real decisions:
// whatever was applied, in whatever batches, every query must be answered as
// the model answers it.
package storetest
