// Package campaigns keeps the states of the campaigns that are in use.
//
// Model: a state is the fold of a campaign's decisions ([domain.Fold]). A
// [Cache] holds those that were used last, within a bound in bytes, and reads
// another one again from LEDGER ([events.Hydrate]) when a decision needs it.
// The writer and each fold of the views have one.
//
// Authority: LEDGER. A state that is dropped loses nothing.
//
// Failure: a campaign whose decisions contradict each other is
// domain.ErrLedgerContradicts, and the cache must be dropped.
package campaigns

import (
	"context"
	"math"

	"github.com/cockroachdb/errors"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

// unknownWeight is about how many bytes an entry takes beside its state: a
// campaign that nobody opened costs that much.
const unknownWeight = 512

// Cache keeps states. It belongs to one goroutine.
//
// A state is pinned until the last decision on it is stored: hydrating reads
// what is stored, and would miss that decision. The order of use is the order
// of deciding, so when the oldest entry is pinned all are.
type Cache struct {
	ledger  events.Log
	limit   int // bytes
	weight  int // of all entries
	entries *simplelru.LRU[string, *Entry]
}

// Entry is one campaign's state in a cache.
type Entry struct {
	State   *domain.Campaign // nil: nobody opened it
	lastSeq uint64           // of the last decision on it
	weight  int
}

// New gives a cache that holds states of about so many bytes, and the one that
// was used last whatever its size.
func New(ledger events.Log, limit int) *Cache {
	entries, err := simplelru.NewLRU[string, *Entry](math.MaxInt, nil) // Evict bounds it by weight, and knows what is pinned
	if err != nil {
		panic("campaigns: make a cache: " + err.Error()) // of a size that is no size
	}
	return &Cache{ledger: ledger, limit: limit, entries: entries}
}

// Weight is about how many bytes all entries take.
func (c *Cache) Weight() int { return c.weight }

// Load gives a campaign's entry, read from the decisions up to and with
// sequence stored when it is not in memory. Errors: those of [events.Hydrate].
func (c *Cache) Load(ctx context.Context, id string, stored uint64) (*Entry, error) {
	if found, ok := c.entries.Get(id); ok {
		return found, nil
	}
	state, err := events.Hydrate(ctx, c.ledger, id, stored)
	if err != nil {
		return nil, err
	}
	return c.add(id, state), nil
}

// Begin gives the entry of a campaign whose opening comes next: there is
// nothing to read.
func (c *Cache) Begin(id string) *Entry {
	if found, ok := c.entries.Get(id); ok {
		return found
	}
	return c.add(id, nil)
}

func (c *Cache) add(id string, state *domain.Campaign) *Entry {
	added := &Entry{State: state}
	c.weigh(added)
	c.entries.Add(id, added)
	return added
}

// Fold applies the next decision on an entry's campaign, stored or not, whose
// record has the given hash. Error: domain.ErrLedgerContradicts.
func (c *Cache) Fold(e *Entry, d *domain.Decision, recordHash string) error {
	state, err := domain.Fold(e.State, d, recordHash)
	if err != nil {
		return errors.Wrapf(err, "campaigns: campaign %q", d.Campaign)
	}
	e.State, e.lastSeq = state, d.Arrival.Seq
	c.weigh(e)
	return nil
}

func (c *Cache) weigh(e *Entry) {
	c.weight -= e.weight
	e.weight = unknownWeight
	if e.State != nil {
		e.weight += e.State.Weight()
	}
	c.weight += e.weight
}

// Weight is about how many bytes the entry takes.
func (e *Entry) Weight() int { return e.weight }

// Evict drops the states used longest ago, until the rest fits, but none with
// a decision behind sequence stored.
func (c *Cache) Evict(stored uint64) {
	for c.weight > c.limit && c.entries.Len() > 1 {
		_, oldest, _ := c.entries.GetOldest()
		if oldest.lastSeq > stored {
			return
		}
		c.entries.RemoveOldest()
		c.weight -= oldest.weight
	}
}
