// Package tables says once how rows lie in the tables of every store: names,
// order and keys of columns, and where a row's values are. Types and indexes
// are each store's own.
//
// Fields are pointers into a row, for writing and for scanning alike. A store
// handles these:
//
//	*string, *int64, *uint64, *float64 and pointers to types based on string
//	**uint64, **int64, **string   NULL when nil
//	*time.Time, **time.Time       UTC, microseconds; NULL when nil
//	Decimal                       an exact number, NULL when nil
//	Texts                         a list of strings, never NULL
//	JSON                          a value as it was printed, NULL when nil
package tables
