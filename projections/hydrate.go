package projections

import (
	"context"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

// hydrate reads the state of d's campaign as it was before d, from the
// campaign's accepted decisions alone. Each carries how many there were, and
// so does d: a lost one shows. (events.Hydrate gives the writer's state; the
// rows need a little more of the same decisions.)
//
// Errors: domain.ErrLedgerContradicts, those of events.ReadRecord and of a Log.
func hydrate(ctx context.Context, ledger events.Log, d *domain.Decision) (*campaignState, error) {
	wanted := *d.Accepted
	filters := []string{events.AcceptedFilter(d.Campaign)}
	if d.Outcome == domain.Accepted {
		wanted--
	} else {
		// d is in the stream and matches, so that the reading always ends.
		filters = append(filters, events.DecisionSubject(d))
	}
	cursor, err := ledger.Read(ctx, 1, filters...)
	if err != nil {
		return nil, errors.Wrapf(err, "projections: read campaign %q", d.Campaign)
	}
	defer cursor.Close()
	var state *campaignState
	for state == nil || state.campaign.Accepted() < wanted {
		messages, err := cursor.Next(ctx)
		if err != nil {
			return nil, errors.Wrapf(err, "projections: read campaign %q", d.Campaign)
		}
		if state, err = foldMessages(state, messages, d, wanted); err != nil {
			return nil, err
		}
	}
	return state, state.campaign.ResumeBefore(d)
}

func foldMessages(state *campaignState, messages []events.Message, d *domain.Decision, wanted uint64) (*campaignState, error) {
	for _, message := range messages {
		if message.Seq > d.Index {
			var found uint64
			if state != nil {
				found = state.campaign.Accepted()
			}
			return nil, errors.Wrapf(domain.ErrLedgerContradicts, "decision %d of campaign %q counts %d accepted decisions before it, the ledger holds %d",
				d.Index, d.Campaign, wanted, found)
		}
		decision, err := events.ReadRecord(&message)
		if err != nil {
			return nil, err
		}
		if decision.Outcome != domain.Accepted {
			continue
		}
		if state, err = advance(state, decision, domain.FoldAccepted); err != nil {
			return nil, err
		}
		if state.campaign.Accepted() == wanted {
			break
		}
	}
	return state, nil
}
