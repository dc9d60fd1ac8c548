package tree

import (
	"context"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/follow"
)

// batchRecords is how many records one transaction takes, whatever waits: some
// 80 tiles, which take a few milliseconds.
const batchRecords = 20_000

// pass is how a tree starts and how it recovers: it finds the position, makes
// sure that the hashes and the ledger are those that it knows, and appends
// until something fails.
func (t *Tree) pass(ctx context.Context) error {
	state, edge, signed, err := t.load(ctx)
	if err != nil {
		return err
	}
	stream, err := follow.CheckLedger(ctx, t.config.Log, "the tree", state.Position)
	if err != nil {
		return err
	}
	if signed != nil {
		if err := follow.CheckRecord(ctx, t.config.Log, "a signed tree head", uint64(signed.Size), signed.Record); err != nil {
			return err
		}
	}
	t.status.Update(func(s *status) {
		s.state, s.loaded = state, true
		if s.head.Note == "" && signed != nil {
			s.head = *signed // later ones are signed by this process
		}
	})
	t.markReady()
	a := &appender{tree: t, edge: edge, stored: state, taken: state.Position, at: state.Position, stream: stream}
	if err := a.expect(ctx); err != nil {
		return err
	}
	reading := follow.Reading{Log: t.config.Log, Stream: events.LedgerStream, From: state.Seq + 1, UpTo: follow.Forever}
	return follow.AsDamage(follow.Run(ctx, reading, a))
}

// appender adds what is behind the tree's position: it is the tree's
// [follow.Follower].
type appender struct {
	tree   *Tree
	stream string // identity of the ledger
	stored State  // belongs to Commit

	edge   *edge
	taken  follow.Position // that the last batch led to
	at     follow.Position // of the last record in the edge
	signed *KeptHead       // the next head that was signed already; nil mostly
}

// batch is what one transaction takes.
type batch struct {
	to    State
	tiles []Tile
	err   error // why the root could not be computed
}

// expect looks up the next head that was signed before for a tree that this
// one will become: there are some when a tree is made again.
func (a *appender) expect(ctx context.Context) error {
	heads, err := a.tree.store.Heads(ctx, a.edge.size, 1)
	if err != nil {
		return err
	}
	a.signed = nil
	if len(heads) == 1 {
		a.signed = &heads[0]
	}
	return nil
}

func (a *appender) Prepare(m *events.Message) link { return newLink(m) }

// Step makes sure that a record is the next of the chain and that the tree has
// the root then that was signed for it, if any was, and takes its leaf.
func (a *appender) Step(ctx context.Context, l link) error {
	if l.err != nil {
		return l.err
	}
	if err := l.Follows(a.at.Seq, a.at.Hash); err != nil {
		return err
	}
	signed := a.signed != nil && a.signed.Size == int64(l.seq)
	if signed {
		next := a.edge.clone()
		next.append(l.leaf)
		root, err := next.root()
		switch {
		case err != nil:
			return err
		case root != a.signed.Root:
			return rewritten("the first %d records give root %s, signed was %s", a.signed.Size, root, a.signed.Root)
		}
	}
	a.edge.append(l.leaf)
	a.at = follow.Position{Seq: l.seq, Stream: a.stream, Hash: l.hash}
	if signed {
		return a.expect(ctx)
	}
	return nil
}

func (a *appender) Fill() follow.Fill {
	switch records := a.at.Seq - a.taken.Seq; {
	case records == 0:
		return follow.Empty
	case records < batchRecords:
		return follow.Some
	}
	return follow.Full
}

func (a *appender) Take() batch {
	root, err := a.edge.root()
	a.taken = a.at
	return batch{to: State{Position: a.at, Root: root}, tiles: a.edge.take(), err: err}
}

// Commit stores what was added.
func (a *appender) Commit(ctx context.Context, b batch) error {
	if b.err != nil {
		return b.err
	}
	started := time.Now()
	// Durable when Append returns: tiles, root and position moved together. A
	// crash before repeats the batch, a crash after goes on behind it. When it
	// fails nobody knows; the next pass asks the store.
	if err := a.tree.store.Append(ctx, a.stored, b.to, b.tiles); err != nil {
		return errors.Wrapf(err, "tree: append the records behind sequence %d up to %d", a.stored.Seq, b.to.Seq)
	}
	records := int(b.to.Seq - a.stored.Seq)
	a.stored = b.to
	a.tree.status.Update(func(s *status) { s.state = b.to })
	a.tree.config.Observer.Appended(b.to, records, time.Since(started))
	return nil
}
