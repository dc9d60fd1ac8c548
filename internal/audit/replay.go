package audit

import (
	"context"
	"fmt"

	"github.com/cockroachdb/errors"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/follow"
)

// ReplayConfig says what is decided again.
type ReplayConfig struct {
	Source   Source
	Campaign string // only this one; "": all
	Progress Progress
}

// Progress is told the last sequence that was looked at, and the last one that
// will be, 0 when nobody knows. nil: nobody asks.
type Progress func(done, total uint64)

func (p Progress) tell(done, total uint64) {
	if p != nil {
		p(done, max(done, total))
	}
}

// Replayed is what deciding again came to.
type Replayed struct {
	Arrivals  uint64                    `json:"arrivals"`  // read, up to the difference
	Decisions uint64                    `json:"decisions"` // compared and the same
	Undecided uint64                    `json:"undecided"` // arrivals at the end that wait for their decision; no difference
	Outcomes  map[domain.Outcome]uint64 `json:"outcomes"`
	Reasons   map[domain.Reason]uint64  `json:"reasons"` // of rejected ones
	// Root is the RFC 6962 root of the records that were compared, nil when a
	// campaign was picked out.
	Root       *tlog.Hash  `json:"root"`
	Difference *Difference `json:"difference"` // nil: the same, byte for byte
	Found      []Finding   `json:"findings"`   // damage that the source saw on the way
}

// Same reports whether the ledger holds what the rules give.
func (r *Replayed) Same() bool { return r.Difference == nil && len(r.Found) == 0 }

// Replay decides every arrival again and compares each record with what the
// ledger holds, byte for byte. Record n is decided by the rules of the version
// that is written in record n. It ends at the first difference. Errors: the
// source's; domain.ErrUnknownRules when a record was made by rules that this
// program does not have.
func Replay(ctx context.Context, cfg ReplayConfig) (result *Replayed, err error) {
	walk, err := cfg.Source.Walk(ctx, Selection{Arrivals: true, Campaign: cfg.Campaign})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.CombineErrors(err, walk.Close()) }()

	r := &replay{cfg: cfg, last: walk.Last(), states: map[string]*domain.Campaign{}, tree: newTree(), hash: events.GenesisHash}
	r.result.Outcomes, r.result.Reasons = map[domain.Outcome]uint64{}, map[domain.Reason]uint64{}
	p := follow.NewPipeline(ctx)
	prepared := follow.Parallel(p, portions(p, walk), r.prepare)
	decided := follow.InOrder(p, prepared, r.decide)
	compared := follow.Parallel(p, decided, r.compare)
	follow.Collect(p, compared, r.collect)
	if err := wait(p); err != nil {
		return nil, err
	}
	if cfg.Campaign == "" {
		root, err := r.tree.root()
		if err != nil {
			return nil, err
		}
		r.result.Root = &root
	}
	return &r.result, nil
}

// replay is one run. ended to undecidedFrom belong to the stage decide;
// tree and result to the stage collect.
type replay struct {
	cfg  ReplayConfig
	last uint64

	ended         bool // a difference was found, or an error
	states        map[string]*domain.Campaign
	hash          string // of the last record that the ledger holds
	undecidedFrom uint64 // first sequence without a decision; 0: none yet

	tree   *tree
	result Replayed
}

// replayChunk is a run of pairs on its way through the stages.
type replayChunk struct {
	Portion
	links      []events.Link      // how the stored records begin
	arrivals   []*domain.Arrival  // decoded; nil where there is none
	hashes     []string           // of the stored records; "" where there is none
	decisions  []*domain.Decision // by the rules; nil where nothing is compared
	leaves     [][]byte           // of the tree; nil where nothing is compared
	difference *Difference        // the first one in this chunk, if any
	err        error              // why nothing is known behind same
	same       int                // pairs before the difference or error
}

// prepare does what needs no order: decoding and hashing.
func (r *replay) prepare(portion Portion) *replayChunk {
	c := &replayChunk{Portion: portion}
	if r.cfg.Campaign != "" {
		c.Pairs = onlyOf(r.cfg.Campaign, c.Pairs)
	}
	c.links = make([]events.Link, len(c.Pairs))
	c.arrivals, c.hashes = make([]*domain.Arrival, len(c.Pairs)), make([]string, len(c.Pairs))
	for i, pair := range c.Pairs {
		if pair.Decision != nil {
			c.links[i] = linkOf(pair.Decision)
			c.hashes[i] = events.RecordHash(pair.Decision.Data)
		}
		if pair.Arrival != nil {
			c.arrivals[i] = events.DecodeArrivalBy(c.links[i].V, pair.Arrival)
		}
	}
	return c
}

// linkOf reads how a stored record begins. One that begins otherwise is
// compared with what this program's own rules give.
func linkOf(m *events.Message) events.Link {
	link, err := events.ReadLink(m.Data)
	if err != nil {
		return events.Link{V: domain.RuleVersion, Prev: events.GenesisHash}
	}
	return link
}

// onlyOf leaves out what stands under a campaign's subjects without being the
// campaign's: an arrival of an unknown kind is decided under no campaign.
func onlyOf(campaign string, pairs []Pair) []Pair {
	kept := make([]Pair, 0, len(pairs))
	for _, pair := range pairs {
		if pair.Arrival != nil {
			if of, _, _ := events.ParseArrivalSubject(pair.Arrival.Subject); of != campaign {
				continue
			}
		}
		kept = append(kept, pair)
	}
	return kept
}

// decide does what needs the order: the decisions and the campaigns' states.
// Behind a difference nothing is decided: collect hears of it in its turn.
func (r *replay) decide(c *replayChunk) *replayChunk {
	c.decisions = make([]*domain.Decision, len(c.Pairs))
	for i := 0; i < len(c.Pairs) && !r.ended; i++ {
		c.difference, c.err = r.decidePair(c, i)
		r.ended = c.difference != nil || c.err != nil
		if !r.ended {
			c.same = i + 1
		}
	}
	return c
}

func (r *replay) decidePair(c *replayChunk, i int) (*Difference, error) {
	pair := c.Pairs[i]
	difference := r.misplaced(pair)
	if difference != nil || pair.Decision == nil {
		return difference, nil
	}
	decision, err := r.decideOne(pair, c.links[i], c.arrivals[i], c.hashes[i])
	c.decisions[i], r.hash = decision, c.hashes[i]
	return nil, err
}

// misplaced tells a pair of which one half is missing from one that only waits
// for its decision.
func (r *replay) misplaced(pair Pair) *Difference {
	switch {
	case pair.Decision == nil && r.undecidedFrom == 0:
		r.undecidedFrom = pair.Seq
	case pair.Decision != nil && r.undecidedFrom != 0:
		return &Difference{Index: r.undecidedFrom - 1,
			Detail: fmt.Sprintf("arrival %d has no decision, and arrival %d has one", r.undecidedFrom, pair.Seq)}
	case pair.Decision != nil && pair.Arrival == nil:
		return &Difference{Index: pair.Seq - 1, Stored: string(pair.Decision.Data),
			Detail: fmt.Sprintf("arrival %d, which the record answers, is not there", pair.Seq)}
	}
	return nil
}

func (r *replay) decideOne(pair Pair, link events.Link, arrival *domain.Arrival, recordHash string) (*domain.Decision, error) {
	state := r.states[arrival.Campaign]
	decision, err := domain.Decide(link.V, state, arrival)
	if err != nil {
		return nil, errors.Wrapf(err, "decide arrival %d again", pair.Seq)
	}
	decision.Prev = r.hash
	if r.cfg.Campaign != "" {
		// The record before it is another campaign's and was not read; the
		// chain is a matter for Verify.
		decision.Prev = link.Prev
	}
	if arrival.Campaign == "" {
		return decision, nil
	}
	if state, err = domain.Fold(state, decision, recordHash); err != nil {
		return nil, errors.NewAssertionErrorWithWrappedErrf(err, "audit: fold the decision on arrival %d", pair.Seq)
	}
	r.states[arrival.Campaign] = state
	return decision, nil
}

// compare prints the decisions and holds them against the ledger.
func (r *replay) compare(c *replayChunk) *replayChunk {
	c.leaves = make([][]byte, len(c.Pairs))
	for i := range c.same {
		if c.decisions[i] == nil {
			continue
		}
		if difference := compareOne(c.Pairs[i].Decision, c.decisions[i]); difference != nil {
			c.difference, c.err, c.same = difference, nil, i
			return c
		}
		c.leaves[i] = leafHash(c.Pairs[i].Decision.Data)
	}
	return c
}

func compareOne(stored *events.Message, decision *domain.Decision) *Difference {
	record, err := events.EncodeRecord(decision)
	if err != nil { // the rules bound everything that a record holds
		return &Difference{Index: decision.Index, Stored: string(stored.Data), Detail: fmt.Sprintf("the rules give a record that cannot be printed: %v", err)}
	}
	if difference := compareRecords(decision.Index, stored.Data, record); difference != nil {
		return difference
	}
	if subject := events.DecisionSubject(decision); subject != stored.Subject {
		return &Difference{Index: decision.Index, Stored: string(stored.Data), Replayed: string(record),
			Detail: fmt.Sprintf("the record is the same, but stands under %s and not under %s", stored.Subject, subject)}
	}
	return nil
}

func (r *replay) collect(c *replayChunk) error {
	result := &r.result
	result.Found = append(result.Found, c.Found...)
	for i := range c.same {
		pair, decision := c.Pairs[i], c.decisions[i]
		if pair.Arrival != nil {
			result.Arrivals++
		}
		if decision == nil {
			result.Undecided++
			continue
		}
		result.Decisions++
		result.Outcomes[decision.Outcome]++
		if decision.Outcome == domain.Rejected {
			result.Reasons[decision.Reason]++
		}
		if err := r.tree.add(c.leaves[i]); err != nil {
			return err
		}
	}
	if c.difference != nil {
		result.Difference = c.difference
		return errEnough
	}
	if c.err == nil && len(c.Pairs) > 0 {
		r.cfg.Progress.tell(c.Pairs[len(c.Pairs)-1].Seq, r.last)
	}
	return c.err
}
