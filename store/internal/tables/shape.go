package tables

import (
	"cmp"
	"strings"

	"github.com/ledgerd/ledgerd/projections"
)

// Shape is what a table looks like, whatever its rows are.
type Shape struct {
	Columns []string // the key's first
	Key     int
	JSON    map[string]bool // the columns that hold JSON values
}

// ShapeOf gives the shape of a view's table.
func ShapeOf(view projections.View) Shape { return shapes[view] }

var shapes = map[projections.View]Shape{
	projections.ViewCampaigns:   shapeOf(&Campaigns),
	projections.ViewScenarios:   shapeOf(&Scenarios),
	projections.ViewCells:       shapeOf(&Slots),
	projections.ViewImports:     shapeOf(&Imports),
	projections.ViewRejections:  shapeOf(&Rejections),
	projections.ViewCheckpoints: shapeOf(&Checkpoints),
	projections.ViewUsage:       shapeOf(&Usage),
	projections.ViewEntries:     shapeOf(&Entries),
}

func shapeOf[T, R any](table *Table[T, R]) Shape {
	shape := Shape{Columns: table.Columns, Key: table.Key, JSON: map[string]bool{}}
	for i, field := range table.Fields(new(R)) {
		if _, json := field.(JSON); json {
			shape.JSON[table.Columns[i]] = true
		}
	}
	return shape
}

// CompareKeys orders keys as every store does: texts by their bytes. A nil key,
// the end of a table, comes last.
func CompareKeys(a, b []any) int {
	if a == nil || b == nil {
		return cmp.Compare(len(b), len(a))
	}
	for i := range a {
		order := 0
		switch left := a[i].(type) {
		case int64:
			order = cmp.Compare(left, b[i].(int64)) // the same column, so the same type
		case string:
			order = strings.Compare(left, b[i].(string))
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

// KeyJSON prints a key as an object.
func KeyJSON(shape Shape, key []any) string { return RowJSON(shape.Columns[:shape.Key], key) }

// RowJSON prints a row as an object.
func RowJSON(columns []string, row []any) string {
	object := make(map[string]any, len(columns))
	for i, column := range columns {
		object[column] = row[i]
	}
	return string(printJSON(object))
}
