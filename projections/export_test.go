package projections

import "github.com/ledgerd/ledgerd/events"

// NewFoldWith makes a fold that holds fewer states than usual.
func NewFoldWith(ledger events.Log, cachedCells int) *Fold { return newFold(ledger, cachedCells) }

// CachedCells is the size of the states that a fold holds.
func (f *Fold) CachedCells() int { return f.cache.cells }

var StorableJSON = storableJSON

// Limits that tests look at.
const MaxCachedCells = maxCachedCells
