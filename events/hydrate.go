package events

import (
	"context"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
)

// Hydrate rebuilds a campaign's state from its accepted decisions up to and
// with sequence upTo, which must be stored already; later ones change nothing.
// It gives nil for a campaign that is unknown there.
//
// A lost accepted decision is noticed, so that nothing is ever accepted twice:
// the accepted ones must count 1…n without a hole ([domain.Fold]), and n must
// be what the campaign's last decision of any outcome up to upTo carries. From
// that one come the counts of refusals and the campaign's own chain, too. When
// there are later ones, the first of them tells n as well. What cannot be
// noticed here is that the campaign's last decisions are missing and nothing
// of it follows: reading every sequence shows the hole, and whoever remembers
// the stream's end shows a lost end.
//
// Errors: [domain.ErrLedgerContradicts], [domain.ErrUnknownRules], and the
// log's own.
func Hydrate(ctx context.Context, ledger Log, campaign string, upTo uint64) (*domain.Campaign, error) {
	if upTo == 0 {
		return nil, nil
	}
	last, err := ledger.Last(ctx, CampaignFilter(campaign))
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, errors.Wrapf(err, "events: last decision on campaign %q", campaign)
	}
	witness, err := findWitness(ctx, ledger, campaign, upTo, last)
	if err != nil {
		return nil, err
	}
	state, err := foldAccepted(ctx, ledger, campaign, upTo)
	if err != nil {
		return nil, err
	}
	if state == nil {
		return nil, witness.ofUnknown(upTo)
	}
	if witness.decision.Arrival.Seq > upTo {
		return state, state.ResumeBefore(witness.decision)
	}
	return state, state.Resume(witness.decision, witness.hash)
}

// witness is the decision that tells what a campaign's accepted ones cannot.
type witness struct {
	decision *domain.Decision
	hash     string // of its record
}

// ofUnknown is the error when nothing was accepted up to upTo, and the witness
// knows of something.
func (w witness) ofUnknown(upTo uint64) error {
	d := w.decision
	opens := d.Outcome == domain.Accepted && d.Arrival.Seq > upTo && *d.Accepted == 1
	if d.Accepted == nil || opens {
		return nil
	}
	return errors.Wrapf(domain.ErrLedgerContradicts,
		"campaign %q has no accepted decision up to sequence %d, and decision %d knows of %d", d.Campaign, upTo, d.Index, *d.Accepted)
}

// findWitness gives the campaign's last decision up to upTo, or the first behind
// it.
func findWitness(ctx context.Context, ledger Log, campaign string, upTo uint64, last *Message) (w witness, err error) {
	read := func(m *Message) (err error) {
		w.hash = RecordHash(m.Data)
		w.decision, err = decodeOf(m, campaign)
		return err
	}
	if last.Seq <= upTo {
		err = read(last)
		return w, err
	}
	err = each(ctx, ledger, upTo+1, CampaignFilter(campaign), func(m *Message) (more bool, err error) { return false, read(m) })
	return w, err
}

// foldAccepted folds the accepted decisions up to upTo.
func foldAccepted(ctx context.Context, ledger Log, campaign string, upTo uint64) (*domain.Campaign, error) {
	// A cursor waits for what is not there yet, so the end must be known.
	end, err := ledger.Last(ctx, AcceptedFilter(campaign))
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, errors.Wrapf(err, "events: last accepted decision on campaign %q", campaign)
	}
	var state *domain.Campaign
	err = each(ctx, ledger, 1, AcceptedFilter(campaign), func(m *Message) (more bool, err error) {
		if m.Seq > upTo {
			return false, nil
		}
		d, err := decodeOf(m, campaign)
		if err != nil {
			return false, err
		}
		state, err = domain.FoldAccepted(state, d)
		return m.Seq < end.Seq, err
	})
	return state, err
}

// each hands messages to do until it wants no more.
func each(ctx context.Context, log Log, from uint64, filter string, do func(*Message) (more bool, err error)) error {
	cursor, err := log.Read(ctx, from, filter)
	if err != nil {
		return errors.Wrapf(err, "events: read %s from sequence %d", filter, from)
	}
	defer cursor.Close()
	for {
		messages, err := cursor.Next(ctx)
		if err != nil {
			return errors.Wrapf(err, "events: read %s", filter)
		}
		for i := range messages {
			if more, err := do(&messages[i]); err != nil || !more {
				return err
			}
		}
	}
}

// decodeOf reads a decision on a campaign. A record that is damaged or in
// another's place is a contradiction of the ledger.
func decodeOf(m *Message, campaign string) (*domain.Decision, error) {
	d, err := ReadRecord(m)
	switch {
	case errors.Is(err, domain.ErrUnknownRules):
		return nil, err
	case err != nil:
		return nil, errors.Mark(err, domain.ErrLedgerContradicts)
	case d.Campaign != campaign:
		return nil, errors.Wrapf(domain.ErrLedgerContradicts, "LEDGER sequence %d is on campaign %q and was found for %q", m.Seq, d.Campaign, campaign)
	}
	return d, nil
}
