package projections

// FoldVersion is the version of the fold and of its rows. Raise it with every
// change that makes the same ledger give other rows or other columns: stores
// rebuild views of another version before they serve them.
const FoldVersion = 2

// View names a table of rows that the fold makes, and that can be rebuilt by
// itself. (shared_measurements is a query over imports and has no rows.)
type View string

// The views.
const (
	ViewCampaigns   View = "campaigns"
	ViewScenarios   View = "scenarios"
	ViewCells       View = "cells"
	ViewImports     View = "imports"
	ViewRejections  View = "rejections"
	ViewCheckpoints View = "checkpoints"
	ViewUsage       View = "usage"
	ViewEntries     View = "entries"
)

// Views lists every view, in the order in which their rows are written.
func Views() []View {
	return []View{ViewCampaigns, ViewScenarios, ViewCells, ViewImports, ViewRejections, ViewCheckpoints, ViewUsage, ViewEntries}
}

// Known reports whether v is one of [Views].
func (v View) Known() bool {
	for _, known := range Views() {
		if v == known {
			return true
		}
	}
	return false
}
