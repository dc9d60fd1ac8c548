package writer

import (
	"context"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/campaigns"
	"github.com/ledgerd/ledgerd/internal/follow"
)

// decider decides arrivals in stream order, ahead of the appender by at most
// one batch: it is the writer's [follow.Follower].
type decider struct {
	*appender
	campaigns *campaigns.Cache
	at        position // behind the last decision it made
	current   *batch   // filled while another one is in flight
	broken    bool     // the batch holds a decision that contradicts the state: nothing of it is appended
}

// batch is a run of decisions that is appended whole.
type batch struct {
	after     position // what it is appended behind
	last      position // its last record
	decisions []*domain.Decision
	messages  []events.Outgoing
	hashes    []string // of the records, in order
	bytes     int      // of records
}

func (b *batch) full() bool {
	// A record may be as large as maxRecordBytes; one more always fits.
	return len(b.messages) == events.MaxBatchMessages || b.bytes > events.MaxBatchBytes-events.MaxRecordBytes
}

// decideFrom decides behind a position until something ends it. The error
// comes with what is known of appends that were not acknowledged.
func (w *Writer) decideFrom(ctx context.Context, from position, sent map[uint64]string) (*flight, error) {
	d := &decider{
		appender:  &appender{writer: w, position: from, sent: sent},
		campaigns: campaigns.New(w.Ledger, w.CacheBytes),
		at:        from,
		current:   &batch{after: from},
	}
	err := follow.Run(ctx, follow.Reading{
		Log: w.Arrivals, Stream: events.ArrivalsStream, From: from.seq + 1, UpTo: follow.Forever, Waiting: w.Observer.Waiting,
	}, d)
	return d.lost(), follow.AsDamage(err)
}

// Prepare does the part of deciding that needs no campaign: decoding, hashing
// and parsing. It never fails; what cannot be read is malformed.
func (d *decider) Prepare(m *events.Message) *domain.Arrival {
	return events.DecodeArrivalBy(d.writer.rules, m)
}

// Fill lets the appender take what there is as soon as it is free.
func (d *decider) Fill() follow.Fill {
	switch {
	case d.broken || len(d.current.messages) == 0:
		return follow.Empty
	case d.current.full():
		return follow.Full
	}
	return follow.Ready
}

func (d *decider) Take() *batch {
	taken := d.current
	d.current = &batch{after: d.at}
	d.campaigns.Evict(d.writer.Committed())
	return taken
}

// Step decides the next arrival into the current batch.
func (d *decider) Step(ctx context.Context, arrival *domain.Arrival) error {
	if arrival.Seq != d.at.seq+1 {
		return follow.Damaged("arrival %d follows arrival %d", arrival.Seq, d.at.seq)
	}
	known := &campaigns.Entry{}
	if arrival.Campaign != "" {
		var err error
		if known, err = d.campaigns.Load(ctx, arrival.Campaign, d.writer.Committed()); err != nil {
			return err
		}
	}
	decision, err := domain.Decide(d.writer.rules, known.State, arrival)
	if err != nil {
		return err
	}
	if err := d.add(decision); err != nil {
		return err
	}
	if arrival.Campaign == "" {
		return nil
	}
	err = d.campaigns.Fold(known, decision, d.at.hash)
	d.broken = err != nil
	return err
}

func (d *decider) add(decision *domain.Decision) error {
	decision.Prev = d.at.hash
	record, err := events.EncodeRecord(decision)
	if err != nil { // every string in it is bounded, so this is a mistake in the rules
		return errors.NewAssertionErrorWithWrappedErrf(err, "writer: encode decision %d", decision.Index)
	}
	d.at = position{seq: decision.Arrival.Seq, hash: events.RecordHash(record)}
	d.current.last = d.at
	d.current.decisions = append(d.current.decisions, decision)
	d.current.messages = append(d.current.messages, events.NewDecisionMessage(decision, record, d.writer.Epoch, d.writer.Host))
	d.current.hashes = append(d.current.hashes, d.at.hash)
	d.current.bytes += len(record)
	return nil
}
