package projections

import (
	"context"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

// Fold turns decisions into Changes. It is pure but for reading a campaign's
// earlier decisions from the ledger when it does not hold its state: the same
// ledger gives the same rows, in whatever batches it is taken. It belongs to
// one goroutine. After an error it must be dropped.
type Fold struct {
	ledger events.Log
	cache  *stateCache

	// The batch that Take gives.
	changes     Changes
	opened      int                // scenarios and slots of campaigns that were opened
	held        int                // cells of the touched campaigns, about
	touched     []*touchedCampaign // in the order of their first decision
	byCampaign  map[string]*touchedCampaign
	checkpoints map[checkpointRow]int // places in changes.Checkpoints
}

// touchedCampaign is a campaign whose rows change in this batch. Its state
// stays with it, whatever the cache drops.
type touchedCampaign struct {
	state     *campaignState
	last      Moment
	opened    bool // every scenario and slot is new
	scenarios map[int]struct{}
	slots     map[int]struct{}
	usage     map[usageKey]struct{}
}

type checkpointRow struct {
	campaign string
	key      domain.CheckpointKey
}

// NewFold starts a fold that may begin anywhere in the ledger.
func NewFold(ledger events.Log) *Fold {
	return newFold(ledger, maxCachedCells)
}

func newFold(ledger events.Log, cachedCells int) *Fold {
	return &Fold{
		ledger:      ledger,
		cache:       newStateCache(cachedCells),
		byCampaign:  map[string]*touchedCampaign{},
		checkpoints: map[checkpointRow]int{},
	}
}

// Add folds the next decision, whose record has the given hash, into the
// batch. Errors: domain.ErrLedgerContradicts, errors of a Log.
func (f *Fold) Add(ctx context.Context, d *domain.Decision, recordHash string) error {
	f.changes.Decisions++
	f.changes.Entries = append(f.changes.Entries, entryRow(d, recordHash))
	if d.Outcome == domain.Rejected {
		f.changes.Rejections = append(f.changes.Rejections, rejectionRow(d))
	}
	if d.Accepted == nil {
		return nil // of no open campaign
	}
	touched, err := f.touch(ctx, d, recordHash)
	if err != nil {
		return err
	}
	touched.last = momentOf(d)
	if d.Outcome == domain.Accepted {
		f.addAccepted(touched, d)
	}
	f.addCheckpoint(touched, d)
	return nil
}

// touch brings the state of d's campaign up to d.
func (f *Fold) touch(ctx context.Context, d *domain.Decision, recordHash string) (*touchedCampaign, error) {
	_, opens := d.Latest().(*domain.Opening)
	touched := f.byCampaign[d.Campaign]
	var state *campaignState
	switch {
	case touched != nil:
		state = touched.state
	case opens && d.Outcome == domain.Accepted:
		state = f.cache.get(d.Campaign)
	default:
		var err error
		if state, err = f.load(ctx, d); err != nil {
			return nil, err
		}
	}
	var err error
	if state, err = advance(state, d, foldWhole(recordHash)); err != nil {
		return nil, err
	}
	if accepted := state.campaign.Accepted(); accepted != *d.Accepted {
		return nil, errors.Wrapf(domain.ErrLedgerContradicts, "decision %d of campaign %q counts %d accepted decisions, the ledger holds %d",
			d.Index, d.Campaign, *d.Accepted, accepted)
	}
	if touched == nil {
		touched = &touchedCampaign{state: state, scenarios: map[int]struct{}{}, slots: map[int]struct{}{}, usage: map[usageKey]struct{}{}}
		f.byCampaign[d.Campaign] = touched
		f.touched = append(f.touched, touched)
		f.held += state.cells()
	}
	return touched, nil
}

// load gives the state of d's campaign before d.
func (f *Fold) load(ctx context.Context, d *domain.Decision) (*campaignState, error) {
	if state := f.cache.get(d.Campaign); state != nil {
		return state, nil
	}
	return hydrate(ctx, f.ledger, d)
}

// addAccepted notes the rows that an accepted decision changes.
func (f *Fold) addAccepted(touched *touchedCampaign, d *domain.Decision) {
	switch data := d.Latest().(type) {
	case *domain.Opening:
		touched.opened = true
		f.opened += len(data.Scenarios) + len(data.Selected)
	case *domain.CellImported:
		f.held++
		f.changes.Imports = append(f.changes.Imports, importRow(d, data))
		touched.markCell(data.Cell.ImportKey)
	case *domain.VoidReference:
		f.addVoid(touched.state.measured[data.ImportKey].index, Void{Moment: momentOf(d), Actor: Storable(data.Actor), Reason: Storable(data.Reason)})
		touched.markCell(data.ImportKey)
	}
}

// markCell notes that an import filled or left its slot.
func (t *touchedCampaign) markCell(importKey string) {
	measured := t.state.measured[importKey]
	t.slots[measured.position] = struct{}{}
	t.usage[measured.key] = struct{}{}
	scenario := t.state.campaign.Opening().Selected[measured.position].ScenarioID
	t.scenarios[t.state.scenarios[scenario]] = struct{}{}
}

// addVoid voids an import of this batch in its row, and an earlier one by an
// ImportVoid.
func (f *Fold) addVoid(index uint64, void Void) {
	imports := f.changes.Imports
	for i := len(imports) - 1; i >= 0 && imports[i].Index >= index; i-- {
		if imports[i].Index == index {
			imports[i].Void = &void
			return
		}
	}
	f.changes.ImportVoids = append(f.changes.ImportVoids, ImportVoid{Index: index, Void: void})
}

// addCheckpoint keeps the row of a checkpoint read: the decision that bound
// it, else the last one. A bound row never changes.
func (f *Fold) addCheckpoint(touched *touchedCampaign, d *domain.Decision) {
	row, key, ok := checkpointRowOf(d)
	if !ok || touched.state.bound[key] && row.Outcome != CheckpointBound {
		return
	}
	place, known := f.checkpoints[checkpointRow{d.Campaign, key}]
	if known {
		f.changes.Checkpoints[place] = row
		return
	}
	f.checkpoints[checkpointRow{d.Campaign, key}] = len(f.changes.Checkpoints)
	f.changes.Checkpoints = append(f.changes.Checkpoints, row)
}

// Decisions counts the decisions in the batch so far.
func (f *Fold) Decisions() int { return f.changes.Decisions }

// Weight is about how many rows the batch holds so far.
func (f *Fold) Weight() int {
	return f.changes.Rows() + f.opened + 2*len(f.changes.Imports) // a slot and a scenario each
}

// Held is about how many cells the campaigns have whose rows the next Take
// gives.
func (f *Fold) Held() int { return f.held }

// Take gives the batch's rows and starts the next batch.
func (f *Fold) Take() *Changes {
	changes := f.TakeNew()
	for _, touched := range f.touched {
		touched.appendRows(changes)
		f.cache.put(touched.state.campaign.ID(), touched.state)
	}
	f.cache.trim()
	f.held = 0
	f.touched = nil
	f.byCampaign = map[string]*touchedCampaign{}
	return changes
}

// TakeNew gives the batch's rows but for those that every further decision on
// their campaign replaces, which wait for the next Take: whoever takes many
// batches before anybody reads writes them once.
func (f *Fold) TakeNew() *Changes {
	changes := f.changes
	f.changes = Changes{}
	f.opened = 0
	f.checkpoints = map[checkpointRow]int{}
	return &changes
}
