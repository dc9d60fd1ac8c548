package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/cockroachdb/errors"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/follow"
)

// VerifyConfig says what is verified, and against whose memory.
type VerifyConfig struct {
	Source   Source
	Evidence bool     // the arrivals and documents behind the records too
	Heads    []Head   // signed tree heads that the ledger must continue
	Memories []Memory // what others have seen of it
	Progress Progress
}

// Head is a signed tree head: the root of the first Size records.
type Head struct {
	Name string // whose it is, for people
	Size uint64
	Root tlog.Hash
}

// Memory is what somebody has seen of the ledger: the record at a sequence. A
// stream that lost its end looks healthy by itself; only a memory can tell.
type Memory struct {
	Name string // whose it is, for people
	Seq  uint64 // 0: nothing was seen
	Hash string // lower hex SHA-256 of the record
}

// Verified is what a ledger was found to be.
type Verified struct {
	Decisions uint64                    `json:"decisions"`
	Arrivals  uint64                    `json:"arrivals"`  // read, with the evidence
	Undecided uint64                    `json:"undecided"` // arrivals at the end that wait for their decision; no damage
	Outcomes  map[domain.Outcome]uint64 `json:"outcomes"`
	Root      *tlog.Hash                `json:"root"`     // RFC 6962, of all records; nil when one is missing
	Last      string                    `json:"last"`     // hash of the last record, which the next one will name
	Heads     int                       `json:"heads"`    // signed heads that agree
	Damage    int                       `json:"damage"`   // findings in all
	Found     []Finding                 `json:"findings"` // the first MaxFindings of them
}

// Sound reports whether nothing is wrong.
func (v *Verified) Sound() bool { return v.Damage == 0 }

// Verify walks the records from the first to the last: that none is missing,
// each is canonical, in its place, chained to the one before it and consistent
// with its campaign's history, and that signed heads and memories agree. With
// the evidence it also walks the arrivals: that each is the one that was
// decided, and the documents those that were imported. It goes on behind
// damage and names all of it. Errors: the source's.
func Verify(ctx context.Context, cfg VerifyConfig) (result *Verified, err error) {
	walk, err := cfg.Source.Walk(ctx, Selection{Arrivals: cfg.Evidence})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.CombineErrors(err, walk.Close()) }()

	v := newVerification(cfg, walk.Last())
	p := follow.NewPipeline(ctx)
	follow.Collect(p, follow.Parallel(p, portions(p, walk), v.prepare), v.collect)
	if err := wait(p); err != nil {
		return nil, err
	}
	return v.conclude()
}

// verification is one run. Everything but cfg belongs to the stage collect.
type verification struct {
	cfg  VerifyConfig
	last uint64 // for the progress

	nextArrival  uint64 // sequence that must come
	nextDecision uint64 // likewise

	hash    string // of the record before nextDecision
	known   bool   // there is such a record, or none is needed
	whole   bool   // no record is missing so far, so that the tree is the ledger's
	version int    // of the rules, which never falls

	histories map[string]*history
	heads     []Head   // not reached yet, by size
	memories  []Memory // not reached yet, by sequence
	tree      *tree

	found  findings
	result Verified
}

func newVerification(cfg VerifyConfig, last uint64) *verification {
	v := &verification{
		cfg: cfg, last: last,
		nextArrival: 1, nextDecision: 1,
		hash: events.GenesisHash, known: true, whole: true,
		histories: map[string]*history{},
		heads:     slices.Clone(cfg.Heads),
		memories:  slices.DeleteFunc(slices.Clone(cfg.Memories), func(m Memory) bool { return m.Seq == 0 }),
		tree:      newTree(),
	}
	slices.SortStableFunc(v.heads, func(a, b Head) int { return cmp.Compare(a.Size, b.Size) })
	slices.SortStableFunc(v.memories, func(a, b Memory) int { return cmp.Compare(a.Seq, b.Seq) })
	v.result.Outcomes = map[domain.Outcome]uint64{}
	return v
}

// verifyChunk is a run of pairs on its way through the stages.
type verifyChunk struct {
	Portion
	checked []checkedPair
}

// prepare does what needs no order.
func (v *verification) prepare(portion Portion) *verifyChunk {
	c := &verifyChunk{Portion: portion, checked: make([]checkedPair, len(portion.Pairs))}
	for i, pair := range portion.Pairs {
		c.checked[i] = checkPair(pair)
	}
	return c
}

// collect does what needs the order.
func (v *verification) collect(c *verifyChunk) error {
	v.found.add(c.Found...)
	for i, pair := range c.Pairs {
		v.findMissing(pair)
		v.found.add(c.checked[i].found...)
		if pair.Decision == nil {
			continue
		}
		if err := v.follow(pair.Seq, &c.checked[i]); err != nil {
			return err
		}
	}
	if len(c.Pairs) > 0 {
		v.cfg.Progress.tell(c.Pairs[len(c.Pairs)-1].Seq, v.last)
	}
	return nil
}

// findMissing notices which sequences were left out before this one.
func (v *verification) findMissing(pair Pair) {
	if pair.Arrival != nil {
		if v.nextArrival < pair.Seq {
			v.found.add(Missing(events.ArrivalsStream, v.nextArrival, pair.Seq-1))
		}
		v.nextArrival = pair.Seq + 1
		v.result.Arrivals++
	}
	if pair.Decision != nil {
		if v.nextDecision < pair.Seq {
			v.found.add(Missing(events.LedgerStream, v.nextDecision, pair.Seq-1))
			v.known, v.whole = false, false
		}
		v.nextDecision = pair.Seq + 1
		v.result.Decisions++
	}
}

// follow takes up one record behind those before it.
func (v *verification) follow(seq uint64, checked *checkedPair) error {
	if checked.link != nil {
		v.followLink(seq, *checked.link)
	}
	if checked.decision != nil {
		v.followDecision(seq, checked.decision, checked.hash)
	}
	v.hash, v.known = checked.hash, true
	for len(v.memories) > 0 && v.memories[0].Seq <= seq {
		v.remember(v.memories[0], seq)
		v.memories = v.memories[1:]
	}
	if !v.whole {
		return nil
	}
	if err := v.reachHeads(); err != nil { // of size 0, before the first record
		return err
	}
	if err := v.tree.add(checked.leaf); err != nil {
		return err
	}
	return v.reachHeads()
}

// followLink looks at what records of every version have, also of rules that
// are not known here.
func (v *verification) followLink(seq uint64, link events.Link) {
	place := Finding{Stream: events.LedgerStream, Sequence: seq}
	if v.known && link.Prev != v.hash {
		place.Problem = ProblemChain
		place.Detail = fmt.Sprintf("it names %s as the record before it, which has hash %s", link.Prev, v.hash)
		v.found.add(place)
	}
	if link.V < v.version {
		place.Problem = ProblemRules
		place.Detail = fmt.Sprintf("it was decided by rules of version %d behind a record of version %d", link.V, v.version)
		v.found.add(place)
	}
	if _, err := domain.RulesOf(link.V); err != nil {
		place.Problem = ProblemRules
		place.Detail = fmt.Sprintf("%v; verify with the release that wrote it, or a later one", err)
		v.found.add(place)
	}
	v.version = max(v.version, link.V)
}

func (v *verification) followDecision(seq uint64, d *domain.Decision, recordHash string) {
	v.result.Outcomes[d.Outcome]++
	if wrong := v.historyOf(d.Campaign).follow(d, recordHash); wrong != "" {
		v.found.add(Finding{Problem: ProblemOutcome, Stream: events.LedgerStream, Sequence: seq, Detail: wrong})
	}
}

func (v *verification) historyOf(campaign string) *history {
	known := v.histories[campaign]
	if known == nil {
		known = &history{}
		v.histories[campaign] = known
	}
	return known
}

// remember holds a memory against the record at seq, which is its or, when that
// one is missing, a later one.
func (v *verification) remember(m Memory, seq uint64) {
	switch {
	case m.Seq < seq:
		v.found.add(Finding{Problem: ProblemMissing, Stream: events.LedgerStream, Sequence: m.Seq, Detail: m.Name + " has seen a record there, which is gone"})
	case m.Hash != v.hash:
		v.found.add(Finding{Problem: ProblemRewritten, Stream: events.LedgerStream, Sequence: m.Seq,
			Detail: fmt.Sprintf("%s has seen a record with hash %s there, the stream holds one with %s: the history was replaced", m.Name, m.Hash, v.hash)})
	}
}

// reachHeads compares the heads whose size the tree has reached.
func (v *verification) reachHeads() error {
	for len(v.heads) > 0 && v.heads[0].Size == v.tree.size() {
		head := v.heads[0]
		v.heads = v.heads[1:]
		root, err := v.tree.root()
		if err != nil {
			return err
		}
		if root != head.Root {
			v.found.add(Finding{Problem: ProblemTreeHead, Stream: events.LedgerStream, Sequence: head.Size,
				Detail: fmt.Sprintf("%s signs root %s over %d records, they have root %s", head.Name, head.Root, head.Size, root)})
			continue
		}
		v.result.Heads++
	}
	return nil
}

// conclude looks at the ends.
func (v *verification) conclude() (*Verified, error) {
	lastDecision := v.nextDecision - 1
	if v.cfg.Evidence {
		switch lastArrival := v.nextArrival - 1; {
		case lastArrival < lastDecision:
			v.found.add(Finding{Problem: ProblemLostEnd, Stream: events.ArrivalsStream, Sequence: v.nextArrival,
				Detail: fmt.Sprintf("the stream ends before it, and LEDGER answers arrivals up to %d", lastDecision)})
		default:
			v.result.Undecided = lastArrival - lastDecision
		}
	}
	for _, m := range v.memories {
		v.found.add(Finding{Problem: ProblemLostEnd, Stream: events.LedgerStream, Sequence: v.nextDecision,
			Detail: fmt.Sprintf("the stream ends before it, and %s has seen it up to sequence %d", m.Name, m.Seq)})
	}
	if v.whole {
		if err := v.reachHeads(); err != nil {
			return nil, err
		}
		root, err := v.tree.root()
		if err != nil {
			return nil, err
		}
		v.result.Root = &root
	}
	for _, head := range v.heads {
		if head.Size > lastDecision {
			v.found.add(Finding{Problem: ProblemLostEnd, Stream: events.LedgerStream, Sequence: v.nextDecision,
				Detail: fmt.Sprintf("the stream ends before it, and %s signs %d records", head.Name, head.Size)})
		}
	}
	v.result.Last = v.hash
	v.result.Damage, v.result.Found = v.found.total, v.found.kept
	return &v.result, nil
}
