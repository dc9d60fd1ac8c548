package projections

import "github.com/ledgerd/ledgerd/events"

// NewFoldWith makes a fold that holds fewer states than usual.
func NewFoldWith(ledger events.Log, cacheBytes int) *Fold { return newFold(ledger, cacheBytes) }

// CachedBytes is the size of the states that a fold holds.
func (f *Fold) CachedBytes() int { return f.campaigns.Weight() }

var StorableJSON = storableJSON

// Limits that tests look at.
const CacheBytes = cacheBytes
