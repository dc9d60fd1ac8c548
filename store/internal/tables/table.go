package tables

import (
	"encoding/json"

	"github.com/ledgerd/ledgerd/projections"
)

// Decimal points at an exact number in plain notation; nil is NULL.
type Decimal struct{ Into **string }

// Texts points at a list of strings.
type Texts struct{ Into *[]string }

// JSON points at a JSON value that keeps its bytes; nil is NULL.
type JSON struct{ Into *[]byte }

// Table is how rows of a view are stored. R is a stored row, T a row.
type Table[T, R any] struct {
	View    projections.View
	Columns []string // the key's first
	Key     int      // how many columns are the key
	Pack    func(*T) *R
	Unpack  func(*R) T
	Fields  func(*R) []any // in the order of Columns
}

// Values gives a row's fields for writing.
func (t *Table[T, R]) Values(row *T) []any { return t.Fields(t.Pack(row)) }

// same packs rows that are stored as they are.
func same[T any](row *T) *T { return row }

func value[T any](row *T) T { return *row }

func printJSON(value any) []byte {
	printed, err := json.Marshal(value)
	if err != nil {
		panic("tables: print a row: " + err.Error()) // strings and integers only
	}
	return printed
}

// parseJSON reads what printJSON printed.
func parseJSON[T any](printed []byte) T {
	var value T
	if err := json.Unmarshal(printed, &value); err != nil {
		panic("tables: read a row: " + err.Error())
	}
	return value
}
