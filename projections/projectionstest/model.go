package projectionstest

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/projections"
)

// Model is the live half of a Store in memory. What it cannot do is a rebuild.
type Model struct {
	mu       sync.Mutex
	position projections.Position
	version  int
	fault    projections.Fault
	applied  int // batches

	campaigns   map[string]projections.Campaign
	scenarios   map[slotKey]projections.Scenario
	slots       map[slotKey]projections.Slot
	imports     map[uint64]projections.Import
	rejections  map[uint64]projections.Rejection
	checkpoints map[checkpointKey]projections.Checkpoint
	usage       map[usageKey]projections.Usage
	entries     map[uint64]projections.Entry
}

type slotKey struct {
	campaign string
	position int64
}

type checkpointKey struct{ campaign, run, turn, request string }

type usageKey struct{ campaign, day, model string }

// NewModel makes empty views.
func NewModel() *Model {
	return &Model{
		version:     projections.FoldVersion,
		campaigns:   map[string]projections.Campaign{},
		scenarios:   map[slotKey]projections.Scenario{},
		slots:       map[slotKey]projections.Slot{},
		imports:     map[uint64]projections.Import{},
		rejections:  map[uint64]projections.Rejection{},
		checkpoints: map[checkpointKey]projections.Checkpoint{},
		usage:       map[usageKey]projections.Usage{},
		entries:     map[uint64]projections.Entry{},
	}
}

// SetFault sets the hook that Apply asks; nil takes it away.
func (m *Model) SetFault(fault projections.Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = fault
}

// SetVersion says which fold made the rows.
func (m *Model) SetVersion(version int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.version = version
}

// SetPosition moves the position without the rows: damage.
func (m *Model) SetPosition(position projections.Position) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.position = position
}

// Applied counts the batches that were applied.
func (m *Model) Applied() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.applied
}

// Version is the version that was set, or the fold's.
func (m *Model) Version(context.Context) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.version, nil
}

// Position is where the rows are.
func (m *Model) Position(context.Context) (projections.Position, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.position, nil
}

// Build cannot be done here.
func (m *Model) Build(context.Context, ...projections.View) (projections.Build, error) {
	return nil, errors.AssertionFailedf("projectionstest: a model is not rebuilt")
}

// Close does nothing.
func (m *Model) Close() error { return nil }

// Apply puts rows into the maps.
func (m *Model) Apply(ctx context.Context, from, to projections.Position, changes *projections.Changes) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case m.version != projections.FoldVersion:
		return projections.ErrAnotherVersion
	case m.position != from:
		return projections.ErrMoved
	}
	if err := m.fault.At(projections.BeforeApplyCommit); err != nil {
		return err
	}
	m.position = to
	m.applied++
	if err := m.put(changes); err != nil {
		return err
	}
	return m.fault.At(projections.AfterApplyCommit)
}

func (m *Model) put(changes *projections.Changes) error {
	for _, row := range changes.Campaigns {
		m.campaigns[row.ID] = row
	}
	for _, row := range changes.Scenarios {
		m.scenarios[slotKey{row.Campaign, row.Position}] = row
	}
	for _, row := range changes.Slots {
		m.slots[slotKey{row.Campaign, row.Position}] = row
	}
	for _, void := range changes.ImportVoids {
		row, ok := m.imports[void.Index]
		if !ok || row.Void != nil {
			return errors.AssertionFailedf("projectionstest: import %d, which is voided, is not there or voided already", void.Index)
		}
		row.Void = &void.Void
		m.imports[void.Index] = row
	}
	for _, row := range changes.Checkpoints {
		m.checkpoints[checkpointKey{row.Campaign, row.RunID, row.TurnID, row.RequestID}] = row
	}
	for _, row := range changes.Usage {
		m.usage[usageKey{row.Campaign, row.Day, row.Model}] = row
	}
	return m.putNew(changes)
}

// putNew refuses a row that is there already.
func (m *Model) putNew(changes *projections.Changes) error {
	for _, row := range changes.Imports {
		if err := putOnce(m.imports, row.Index, row); err != nil {
			return err
		}
	}
	for _, row := range changes.Rejections {
		if err := putOnce(m.rejections, row.Index, row); err != nil {
			return err
		}
	}
	for _, row := range changes.Entries {
		if err := putOnce(m.entries, row.Index, row); err != nil {
			return err
		}
	}
	return nil
}

func putOnce[T any](rows map[uint64]T, index uint64, row T) error {
	if _, again := rows[index]; again {
		return errors.AssertionFailedf("projectionstest: row %d is new and there already", index)
	}
	rows[index] = row
	return nil
}

// sorted gives the rows of a map that keep wants, by key.
func sorted[K comparable, T any](rows map[K]T, compare func(a, b T) int, keep func(*T) bool) []T {
	list := []T{}
	for _, row := range rows {
		if keep(&row) {
			list = append(list, row)
		}
	}
	slices.SortFunc(list, compare)
	return list
}

// Rows gives every row, sorted by key.
func (m *Model) Rows() *projections.Changes {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &projections.Changes{
		Campaigns: sorted(m.campaigns, func(a, b projections.Campaign) int { return cmp.Compare(a.ID, b.ID) }, all),
		Scenarios: sorted(m.scenarios, func(a, b projections.Scenario) int {
			return cmp.Or(cmp.Compare(a.Campaign, b.Campaign), cmp.Compare(a.Position, b.Position))
		}, all),
		Slots: sorted(m.slots, func(a, b projections.Slot) int {
			return cmp.Or(cmp.Compare(a.Campaign, b.Campaign), cmp.Compare(a.Position, b.Position))
		}, all),
		Imports:     sorted(m.imports, func(a, b projections.Import) int { return cmp.Compare(a.Index, b.Index) }, all),
		Rejections:  sorted(m.rejections, func(a, b projections.Rejection) int { return cmp.Compare(a.Index, b.Index) }, all),
		Checkpoints: sorted(m.checkpoints, func(a, b projections.Checkpoint) int { return cmp.Compare(a.Index, b.Index) }, all),
		Usage: sorted(m.usage, func(a, b projections.Usage) int {
			return cmp.Or(cmp.Compare(a.Campaign, b.Campaign), cmp.Compare(a.Day, b.Day), cmp.Compare(a.Model, b.Model))
		}, all),
		Entries: sorted(m.entries, func(a, b projections.Entry) int { return cmp.Compare(a.Index, b.Index) }, all),
	}
}

func all[T any](*T) bool { return true }
