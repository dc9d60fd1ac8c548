package writer

import (
	"context"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
)

// Memory is a local memory of the ledger's past: a projection's position, the
// last signed tree head. A stream that lost its end looks healthy by itself;
// only a memory can tell.
type Memory interface {
	// Name says whose memory it is.
	Name() string
	// Remembered gives the last sequence that was seen and the hash of its
	// record; 0 and "" when nothing was seen yet.
	Remembered(ctx context.Context) (seq uint64, hash string, err error)
}

// agree compares every memory with the stream, whose last sequence is last.
func (w *Writer) agree(ctx context.Context, last uint64) error {
	for _, memory := range w.Memories {
		seq, hash, err := memory.Remembered(ctx)
		if err != nil {
			return errors.Wrapf(err, "writer: ask what %s remembers", memory.Name())
		}
		if err := w.agreeWith(ctx, memory.Name(), seq, hash, last); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) agreeWith(ctx context.Context, name string, seq uint64, hash string, last uint64) error {
	switch {
	case seq == 0:
		return nil
	case seq > last:
		return damaged("%s has seen LEDGER up to sequence %d, but the stream ends at %d: its end was lost", name, seq, last)
	}
	message, err := w.Ledger.Get(ctx, seq)
	switch {
	case errors.Is(err, events.ErrNotFound):
		return damaged("%s has seen LEDGER sequence %d, which is gone", name, seq)
	case err != nil:
		return err
	}
	if found := events.RecordHash(message.Data); found != hash {
		return damaged("%s remembers record hash %s at LEDGER sequence %d, the stream holds %s: the history was replaced", name, hash, seq, found)
	}
	return nil
}
