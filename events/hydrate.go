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
// be what the campaign's last decision of any outcome up to upTo carries. When
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
	var found uint64
	if state != nil {
		found = state.Accepted()
	}
	if want := acceptedAt(witness, upTo); found != want {
		return nil, errors.Wrapf(domain.ErrLedgerContradicts,
			"campaign %q has %d accepted decisions up to sequence %d, and decision %d knows of %d", campaign, found, upTo, witness.Index, want)
	}
	return state, nil
}

// findWitness gives the decision that tells how many were accepted up to upTo:
// the campaign's last one, or the first behind upTo.
func findWitness(ctx context.Context, ledger Log, campaign string, upTo uint64, last *Message) (*domain.Decision, error) {
	if last.Seq <= upTo {
		return decodeOf(last, campaign)
	}
	var witness *domain.Decision
	err := each(ctx, ledger, upTo+1, CampaignFilter(campaign), func(m *Message) (more bool, err error) {
		witness, err = decodeOf(m, campaign)
		return false, err
	})
	return witness, err
}

// acceptedAt is the number of accepted decisions up to upTo that a witness
// tells: its own number, less itself when it came later.
func acceptedAt(witness *domain.Decision, upTo uint64) uint64 {
	if witness.Accepted == nil {
		return 0
	}
	if witness.Arrival.Seq > upTo && witness.Outcome == domain.Accepted {
		return *witness.Accepted - 1
	}
	return *witness.Accepted
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
		state, err = domain.Fold(state, d)
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
