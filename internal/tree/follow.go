package tree

import (
	"context"
	"runtime"
	"time"

	"github.com/cockroachdb/errors"
	"golang.org/x/sync/errgroup"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/projections"
)

const (
	// batchRecords is how many records one transaction takes, whatever waits:
	// some 80 tiles, which take a few milliseconds.
	batchRecords = 20_000
	// waitingChunks of hashes may wait while a transaction is synced, which a
	// slow disk takes long for: as many as make the next one full.
	waitingChunks = batchRecords / events.MaxBatchMessages
)

// pass is how a tree starts and how it recovers: it finds the position, makes
// sure that the hashes and the ledger are those that it knows, and appends
// until something fails.
func (t *Tree) pass(ctx context.Context) error {
	state, edge, signed, err := t.load(ctx)
	if err != nil {
		return err
	}
	stream, err := checkLedger(ctx, t.config.Log, state.Position, signed)
	if err != nil {
		return err
	}
	t.publish(func() {
		t.state, t.loaded = state, true
		if t.head.Note == "" && signed != nil {
			t.head = *signed // later ones are signed by this process
		}
	})
	t.markReady()
	a := &appender{tree: t, edge: edge, state: state, at: state.Position, stream: stream}
	if err := a.expect(ctx); err != nil {
		return err
	}
	return a.run(ctx)
}

// appender adds what is behind the tree's position. After an error it must be
// dropped: the edge may be ahead of what is stored.
type appender struct {
	tree   *Tree
	edge   *edge
	state  State                // that is stored
	at     projections.Position // of the last record in the edge
	stream string               // identity of the ledger
	signed *KeptHead            // the next head that was signed already; nil mostly
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

// run reads and appends until something fails. What was read before an error
// is appended before run returns it.
func (a *appender) run(ctx context.Context) error {
	stages, stagesCtx := errgroup.WithContext(ctx)
	chunks := make(chan *chunk, waitingChunks)
	from := a.at.Seq + 1
	stages.Go(func() error {
		defer close(chunks)
		readChunks(stagesCtx, stages, a.tree.config.Log, from, chunks)
		return nil
	})
	stages.Go(func() error { return a.appendChunks(stagesCtx, chunks) })
	return stages.Wait()
}

// appendChunks stores what has been read when nothing more is at hand, or
// enough has gathered.
func (a *appender) appendChunks(ctx context.Context, chunks <-chan *chunk) error {
	for next := range chunks {
		links, failed := next.wait(ctx)
		for _, l := range links {
			if failed = a.add(ctx, l); failed != nil {
				break // of this one; those behind it do not matter
			}
		}
		enough := a.at.Seq-a.state.Seq >= batchRecords
		if enough || failed != nil || len(chunks) == 0 {
			if err := a.commit(ctx); err != nil {
				return err
			}
		}
		if failed != nil {
			return failed
		}
	}
	return ctx.Err()
}

// add makes sure that a record is the next of the chain, and takes its leaf.
func (a *appender) add(ctx context.Context, l link) error {
	if l.err != nil {
		return asDamage(l.err)
	}
	if err := l.Follows(a.at.Seq, a.at.Hash); err != nil {
		return asDamage(err)
	}
	if a.signed != nil && a.signed.Size == int64(l.seq) {
		return a.addSigned(ctx, l)
	}
	a.take(l)
	return nil
}

func (a *appender) take(l link) {
	a.edge.append(l.leaf)
	a.at = projections.Position{Seq: l.seq, Stream: a.stream, Hash: l.hash}
}

// addSigned takes a record up to which a head was signed, if the tree has the
// root then that was signed.
func (a *appender) addSigned(ctx context.Context, l link) error {
	// What is before it is stored first: its tiles are then as they were read.
	if err := a.commit(ctx); err != nil {
		return err
	}
	a.take(l)
	root, err := a.edge.root()
	switch {
	case err != nil:
		return err
	case root != a.signed.Root:
		a.at = a.state.Position // never to be stored
		return rewritten("the first %d records give root %s, signed was %s", a.signed.Size, root, a.signed.Root)
	}
	return a.expect(ctx)
}

// commit stores what was added.
func (a *appender) commit(ctx context.Context) error {
	if a.at.Seq == a.state.Seq {
		return nil
	}
	started := time.Now()
	root, err := a.edge.root()
	if err != nil {
		return err
	}
	to := State{Position: a.at, Root: root}
	// Durable when Append returns: tiles, root and position moved together. A
	// crash before repeats the batch, a crash after goes on behind it. When it
	// fails nobody knows; the next pass asks the store.
	if err := a.tree.store.Append(ctx, a.state, to, a.edge.take()); err != nil {
		return errors.Wrapf(err, "tree: append the records behind sequence %d up to %d", a.state.Seq, to.Seq)
	}
	records := int(to.Seq - a.state.Seq)
	a.state = to
	a.tree.publish(func() { a.tree.state = to })
	a.tree.config.Observer.Appended(to, records, time.Since(started))
	return nil
}

// chunk is a run of messages that is hashed on its own.
type chunk struct {
	done  chan struct{} // closed when links are set
	links []link
	err   error // behind links
}

// wait gives the links, also those before an error.
func (c *chunk) wait(ctx context.Context) ([]link, error) {
	select {
	case <-c.done:
		return c.links, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *chunk) hash(messages []events.Message) {
	defer close(c.done)
	c.links = make([]link, len(messages))
	for i := range messages {
		c.links[i] = newLink(&messages[i])
	}
}

// readChunks hands chunks on in order, each being hashed on its own, the last
// one with the error that ended the reading. The records of one chunk a
// processor, and one more, are in memory.
func readChunks(ctx context.Context, stages *errgroup.Group, ledger events.Log, from uint64, chunks chan<- *chunk) {
	send := func(c *chunk) bool {
		select {
		case chunks <- c:
			return true
		case <-ctx.Done():
			return false
		}
	}
	fail := func(err error) {
		c := &chunk{done: make(chan struct{}), err: asDamage(errors.Wrapf(err, "tree: read LEDGER from sequence %d", from))}
		close(c.done)
		send(c)
	}
	cursor, err := ledger.Read(ctx, from)
	if err != nil {
		fail(err)
		return
	}
	defer cursor.Close()
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for {
		messages, err := cursor.Next(ctx)
		if err != nil {
			fail(err)
			return
		}
		from += uint64(len(messages))
		c := &chunk{done: make(chan struct{})}
		slots <- struct{}{} // hashing always ends
		stages.Go(func() error {
			defer func() { <-slots }()
			c.hash(messages)
			return nil
		})
		if !send(c) {
			return
		}
	}
}
