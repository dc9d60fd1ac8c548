package projections

import (
	"context"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/campaigns"
)

// Fold turns decisions into Changes. It is pure but for reading a campaign's
// earlier decisions from the ledger when it does not hold its state: the same
// ledger gives the same rows, in whatever batches it is taken. It belongs to
// one goroutine. After an error it must be dropped.
type Fold struct {
	campaigns *campaigns.Cache
	last      uint64 // sequence of the last decision

	// The batch that Take gives.
	changes     Changes
	opened      int                // scenarios and slots of campaigns that were opened
	held        int                // bytes of the touched campaigns' states, about
	touched     []*touchedCampaign // in the order of their first decision
	byCampaign  map[string]*touchedCampaign
	checkpoints map[checkpointRow]int // places in changes.Checkpoints
}

// touchedCampaign is a campaign whose rows change in this batch.
type touchedCampaign struct {
	*campaigns.Entry
	last      Moment
	opened    bool // every scenario and slot is new
	scenarios map[int]struct{}
	slots     map[int]struct{}
	usage     map[domain.UsageKey]struct{}
}

type checkpointRow struct {
	campaign string
	key      domain.CheckpointKey
}

// NewFold starts a fold that may begin anywhere in the ledger.
func NewFold(ledger events.Log) *Fold {
	return newFold(ledger, cacheBytes)
}

// cacheBytes bounds the states that a fold holds. What was dropped is read
// again from the ledger when a decision needs it.
const cacheBytes = 128 << 20

func newFold(ledger events.Log, cacheBytes int) *Fold {
	return &Fold{
		campaigns:   campaigns.New(ledger, cacheBytes),
		byCampaign:  map[string]*touchedCampaign{},
		checkpoints: map[checkpointRow]int{},
	}
}

// Add folds the next decision, whose record has the given hash, into the
// batch. Errors: domain.ErrLedgerContradicts, errors of a Log.
func (f *Fold) Add(ctx context.Context, d *domain.Decision, recordHash string) error {
	f.changes.Decisions++
	f.last = d.Arrival.Seq
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
		if err := f.addAccepted(touched, d); err != nil {
			return err
		}
	}
	f.addCheckpoint(touched, d)
	return nil
}

// touch brings the state of d's campaign up to d.
func (f *Fold) touch(ctx context.Context, d *domain.Decision, recordHash string) (*touchedCampaign, error) {
	touched := f.byCampaign[d.Campaign]
	if touched == nil {
		entry, err := f.load(ctx, d)
		if err != nil {
			return nil, err
		}
		touched = &touchedCampaign{Entry: entry, scenarios: map[int]struct{}{}, slots: map[int]struct{}{}, usage: map[domain.UsageKey]struct{}{}}
		f.byCampaign[d.Campaign] = touched
		f.touched = append(f.touched, touched)
		f.held += entry.Weight()
	}
	before := touched.Weight()
	if err := f.campaigns.Fold(touched.Entry, d, recordHash); err != nil {
		return nil, err
	}
	f.held += touched.Weight() - before
	if touched.State == nil || touched.State.Accepted() != *d.Accepted {
		return nil, errors.Wrapf(domain.ErrLedgerContradicts, "decision %d of campaign %q counts %d accepted decisions, the ledger holds others",
			d.Index, d.Campaign, *d.Accepted)
	}
	return touched, nil
}

// load gives the state of d's campaign before d.
func (f *Fold) load(ctx context.Context, d *domain.Decision) (*campaigns.Entry, error) {
	if _, opens := d.Latest().(*domain.Opening); opens && d.Outcome == domain.Accepted {
		return f.campaigns.Begin(d.Campaign), nil
	}
	return f.campaigns.Load(ctx, d.Campaign, d.Index)
}

// addAccepted notes the rows that an accepted decision changes.
func (f *Fold) addAccepted(touched *touchedCampaign, d *domain.Decision) error {
	switch data := d.Latest().(type) {
	case *domain.Opening:
		touched.opened = true
		f.opened += len(data.Scenarios) + len(data.Selected)
	case *domain.CellImported:
		f.changes.Imports = append(f.changes.Imports, importRow(d, data))
		return touched.markCell(d, data.Cell.ImportKey)
	case *domain.VoidReference:
		imported, _ := touched.State.Import(data.ImportKey) // Fold found it
		f.addVoid(imported.Index, Void{Moment: momentOf(d), Actor: Storable(data.Actor), Reason: Storable(data.Reason)})
		return touched.markCell(d, data.ImportKey)
	}
	return nil
}

// markCell notes that an import filled or left its slot.
func (t *touchedCampaign) markCell(d *domain.Decision, importKey string) error {
	imported, _ := t.State.Import(importKey) // Fold found it
	position, scenario, ok := t.State.PositionOf(imported.Slot)
	if !ok {
		return errors.Wrapf(domain.ErrLedgerContradicts, "decision %d is on a slot that campaign %q did not select", d.Index, d.Campaign)
	}
	t.slots[position] = struct{}{}
	t.scenarios[scenario] = struct{}{}
	t.usage[imported.UsageKey()] = struct{}{}
	return nil
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
	if !ok || touched.State.Bound(key) && row.Outcome != CheckpointBound {
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

// Held is about how many bytes the campaigns' states take whose rows the next
// Take gives.
func (f *Fold) Held() int { return f.held }

// Take gives the batch's rows and starts the next batch.
func (f *Fold) Take() *Changes {
	changes := f.TakeNew()
	for _, touched := range f.touched {
		touched.appendRows(changes)
	}
	f.campaigns.Evict(f.last)
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

func momentOf(d *domain.Decision) Moment {
	return Moment{Index: d.Index, At: storedTime(d.Arrival.Time)}
}
