package tables

import "github.com/ledgerd/ledgerd/projections"

// Shape is what a table looks like, whatever its rows are.
type Shape struct {
	Columns []string // the key's first
	Key     int
}

// ShapeOf gives the shape of a view's table.
func ShapeOf(view projections.View) Shape { return shapes[view] }

var shapes = map[projections.View]Shape{
	projections.ViewCampaigns:   {Campaigns.Columns, Campaigns.Key},
	projections.ViewScenarios:   {Scenarios.Columns, Scenarios.Key},
	projections.ViewCells:       {Slots.Columns, Slots.Key},
	projections.ViewImports:     {Imports.Columns, Imports.Key},
	projections.ViewRejections:  {Rejections.Columns, Rejections.Key},
	projections.ViewCheckpoints: {Checkpoints.Columns, Checkpoints.Key},
	projections.ViewUsage:       {Usage.Columns, Usage.Key},
	projections.ViewEntries:     {Entries.Columns, Entries.Key},
}
