package writer

import (
	"context"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

// decideStep is how many arrivals are decided between two looks at whether the
// appender is free.
const decideStep = 64

// decider decides arrivals in stream order, ahead of the appender by at most
// one batch. It belongs to one goroutine.
type decider struct {
	writer    *Writer
	campaigns *campaigns
	at        position          // behind the last decision it made
	waiting   []*domain.Arrival // decoded, not yet decided
	current   *batch            // filled while another one is in flight
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

func (w *Writer) decide(ctx context.Context, from position, ordered <-chan *chunk, batches chan<- *batch) error {
	campaigns, err := newCampaigns(w.Ledger, w.MaxCampaigns)
	if err != nil {
		return err
	}
	d := &decider{writer: w, campaigns: campaigns, at: from, current: &batch{after: from}}
	for {
		if len(d.waiting) > 0 && !d.current.full() {
			if err := d.step(ctx); err != nil {
				return err
			}
			select { // the appender takes what there is as soon as it is free
			case batches <- d.current:
				d.handedOver()
			default:
			}
			continue
		}
		if err := d.wait(ctx, ordered, batches); err != nil {
			return err
		}
	}
}

// wait blocks until there is something to decide or the appender is free.
func (d *decider) wait(ctx context.Context, ordered <-chan *chunk, batches chan<- *batch) error {
	var more <-chan *chunk
	if len(d.waiting) == 0 {
		more = ordered
	}
	var free chan<- *batch
	if len(d.current.messages) > 0 {
		free = batches
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case free <- d.current:
		d.handedOver()
	case next := <-more:
		select {
		case <-ctx.Done():
			return ctx.Err()
		case d.waiting = <-next.prepared:
			d.writer.Observer.Waiting(len(d.waiting) + len(ordered)*chunkMessages)
		}
	}
	return nil
}

func (d *decider) handedOver() {
	d.current = &batch{after: d.at}
	d.campaigns.evict(d.writer.Committed())
}

// step decides some of the waiting arrivals into the current batch.
func (d *decider) step(ctx context.Context) error {
	for range min(len(d.waiting), decideStep) {
		if d.current.full() {
			return nil
		}
		if err := d.decideOne(ctx, d.waiting[0]); err != nil {
			return err
		}
		d.waiting = d.waiting[1:]
	}
	return nil
}

func (d *decider) decideOne(ctx context.Context, arrival *domain.Arrival) error {
	if arrival.Seq != d.at.seq+1 {
		return damaged("arrival %d follows arrival %d", arrival.Seq, d.at.seq)
	}
	known := &entry{}
	if arrival.Campaign != "" {
		var err error
		if known, err = d.campaigns.load(ctx, arrival.Campaign, d.writer.Committed()); err != nil {
			return err
		}
	}
	decision, err := domain.Decide(d.writer.rules, known.state, arrival)
	if err != nil {
		return err
	}
	if arrival.Campaign != "" {
		if err := d.campaigns.fold(known, decision); err != nil {
			return err
		}
	}
	return d.add(decision)
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
