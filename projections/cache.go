package projections

import "container/list"

// maxCachedCells bounds the states that a fold holds, in slots and imports
// together: at about 1 KiB each some 128 MiB. What was dropped is read again
// from the ledger when a decision needs it.
const maxCachedCells = 1 << 17

// stateCache keeps the campaigns that were used last.
type stateCache struct {
	limit  int // in cells
	cells  int
	states map[string]*list.Element
	order  *list.List // of *cachedState, the last used first
}

type cachedState struct {
	campaign string
	state    *campaignState
	cells    int // as counted
}

func newStateCache(limit int) *stateCache {
	return &stateCache{limit: limit, states: map[string]*list.Element{}, order: list.New()}
}

func (c *stateCache) get(campaign string) *campaignState {
	element := c.states[campaign]
	if element == nil {
		return nil
	}
	c.order.MoveToFront(element)
	return element.Value.(*cachedState).state
}

// put adds a state, or counts a known one's size anew.
func (c *stateCache) put(campaign string, state *campaignState) {
	element := c.states[campaign]
	if element == nil {
		element = c.order.PushFront(&cachedState{campaign: campaign})
		c.states[campaign] = element
	}
	cached := element.Value.(*cachedState)
	c.cells += state.cells() - cached.cells
	cached.state, cached.cells = state, state.cells()
}

// trim drops what was not used for longest, until the rest fits. The last used
// campaign stays, whatever its size.
func (c *stateCache) trim() {
	for c.cells > c.limit && c.order.Len() > 1 {
		oldest := c.order.Back()
		cached := c.order.Remove(oldest).(*cachedState)
		delete(c.states, cached.campaign)
		c.cells -= cached.cells
	}
}
