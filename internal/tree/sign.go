package tree

import (
	"context"
	"time"

	"github.com/cockroachdb/errors"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/internal/follow"
)

// sign signs the tree as it grows, until something fails.
func (t *Tree) sign(ctx context.Context) error {
	var last time.Time // when this process signed last; at its start nobody waits
	for {
		due, err := t.waitToSign(ctx, last)
		if err != nil {
			return err
		}
		last = time.Now()
		if err := t.signState(ctx, due); err != nil {
			return err
		}
	}
}

// waitToSign waits until there is something to sign and the interval has
// passed, and gives the tree as it is then.
func (t *Tree) waitToSign(ctx context.Context, last time.Time) (State, error) {
	if _, err := t.status.Wait(ctx, t.wantsHead); err != nil {
		return State{}, err
	}
	if pause := time.Until(last.Add(t.config.HeadInterval)); pause > 0 && !follow.Sleep(ctx, pause) {
		return State{}, ctx.Err()
	}
	s, err := t.status.Wait(ctx, t.wantsHead) // the tree as it is now
	return s.state, err
}

// signLast signs what is stored when the tree is told to end, so that every
// decision can have a receipt while no daemon runs. When it fails the next
// start does it.
func (t *Tree) signLast(ctx context.Context) {
	s := t.status.Get()
	if !t.wantsHead(s) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), signLastTimeout)
	defer cancel()
	if err := t.signState(ctx, s.state); err != nil {
		t.config.Logger.Warn("the last decisions are not below a signed head yet; the next start signs one", "error", err)
	}
}

// wantsHead reports whether the tree is beyond the last head, or the last head
// is of another key. A tree that is being made again has
// heads before it, and wants none.
func (t *Tree) wantsHead(s status) bool {
	size := s.state.Size()
	return s.loaded && (s.head.Note == "" || size > s.head.Size || size == s.head.Size && s.head.Key != t.keys.Current())
}

// signState signs one state, if it continues the last head.
func (t *Tree) signState(ctx context.Context, state State) error {
	if err := t.continues(ctx, t.status.Get().head.Head, state); err != nil {
		return err
	}
	head, err := SignHead(t.keys.Signer, state.Size(), state.Root)
	if err != nil {
		return err
	}
	kept := KeptHead{Head: head, Key: t.keys.Current(), Record: state.Hash, SignedAt: time.Now().UTC().Truncate(time.Microsecond)}
	// Durable when AddHead returns, and only then seen by anybody. A crash
	// before forgets a head that nobody has; one after finds it at the start.
	if err := t.store.AddHead(ctx, kept); err != nil {
		return errors.Wrapf(err, "tree: keep the head of %d records", head.Size)
	}
	t.status.Update(func(s *status) { s.head = kept })
	t.config.Observer.Signed(kept)
	return nil
}

// continues proves from the stored hashes that a state continues a head.
func (t *Tree) continues(ctx context.Context, head Head, state State) error {
	if head.Size == 0 {
		return nil
	}
	proof, err := tlog.ProveTree(state.Size(), head.Size, storedHashes(ctx, t.store))
	if err != nil {
		return err
	}
	if err := tlog.CheckTree(proof, state.Size(), state.Root, head.Size, head.Root); err != nil {
		return treeDamaged("the tree of %d records does not continue the signed head of %d", state.Size(), head.Size)
	}
	return nil
}
