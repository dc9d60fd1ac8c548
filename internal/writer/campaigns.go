package writer

import (
	"context"

	"github.com/cockroachdb/errors"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

const (
	// maxCampaigns bounds how many campaigns are kept in memory, the unknown
	// ones included.
	maxCampaigns = 4096
	// maxAccepted bounds the accepted decisions behind those states: about
	// 1 KiB each, so some 400 MiB.
	maxAccepted = 400_000
)

// campaigns keeps the states that were used last. It belongs to the decider.
//
// A state is pinned while a decision on it is in flight: hydrating reads what
// is stored, and would miss that decision. The order of use is the order of
// deciding, so when the oldest entry is pinned all are.
type campaigns struct {
	ledger   events.Log
	entries  *simplelru.LRU[string, *entry]
	max      int
	accepted uint64 // over all entries
}

type entry struct {
	state    *domain.Campaign // nil: unknown
	lastSeq  uint64           // last decision made on it
	accepted uint64           // its share of campaigns.accepted
}

func newCampaigns(ledger events.Log, limit int) (*campaigns, error) {
	// The size is never reached: evict runs first and knows what is pinned.
	entries, err := simplelru.NewLRU[string, *entry](1<<31-1, nil)
	return &campaigns{ledger: ledger, entries: entries, max: limit}, errors.Wrap(err, "writer: make the campaign cache")
}

// load gives a campaign's entry, hydrated from the stored decisions up to
// committed if it is not in memory.
func (c *campaigns) load(ctx context.Context, id string, committed uint64) (*entry, error) {
	if found, ok := c.entries.Get(id); ok {
		return found, nil
	}
	state, err := events.Hydrate(ctx, c.ledger, id, committed)
	if err != nil {
		return nil, err
	}
	loaded := &entry{state: state}
	c.weigh(loaded)
	c.entries.Add(id, loaded)
	return loaded, nil
}

// fold applies a decision that was just made, stored or not.
func (c *campaigns) fold(e *entry, d *domain.Decision, recordHash string) error {
	state, err := domain.Fold(e.state, d, recordHash)
	if err != nil {
		return err
	}
	e.state = state
	e.lastSeq = d.Arrival.Seq
	c.weigh(e)
	return nil
}

func (c *campaigns) weigh(e *entry) {
	c.accepted -= e.accepted
	e.accepted = 0
	if e.state != nil {
		e.accepted = e.state.Accepted()
	}
	c.accepted += e.accepted
}

// evict drops the states used longest ago, but none with a decision behind
// committed still in flight.
func (c *campaigns) evict(committed uint64) {
	for c.entries.Len() > c.max || c.accepted > maxAccepted && c.entries.Len() > 1 {
		_, oldest, _ := c.entries.GetOldest()
		if oldest.lastSeq > committed {
			return
		}
		c.entries.RemoveOldest()
		c.accepted -= oldest.accepted
	}
}
