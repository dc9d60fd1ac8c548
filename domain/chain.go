package domain

import "github.com/cockroachdb/errors"

// campaignChain is a campaign's own chain: every decision about it, whatever
// the outcome, names the one before. So a seal commits to every attempt.
type campaignChain struct {
	index uint64 // campaignIndex of the campaign's last decision
	last  string // lower hex SHA-256 of that decision's record
}

// checkChain makes sure that d is the campaign's next decision and counts the
// refusals as they are.
func (c *Campaign) checkChain(d *Decision) error {
	refused := c.refused.with(c, d)
	switch {
	case d.CampaignIndex == nil || d.CampaignPrev == nil || d.Refused == nil || d.RefusedFailed == nil:
		return errors.Wrapf(ErrLedgerContradicts, "decision %d takes campaign %q for unknown, which has %d accepted decisions", d.Index, c.id, c.accepted)
	case *d.CampaignIndex != c.chain.index+1:
		return errors.Wrapf(ErrLedgerContradicts, "decision %d of campaign %q has campaignIndex %d, the one before it has %d",
			d.Index, c.id, *d.CampaignIndex, c.chain.index)
	case *d.CampaignPrev != c.chain.last:
		return errors.Wrapf(ErrLedgerContradicts, "decision %d of campaign %q names %s as the campaign's previous record, which is %s",
			d.Index, c.id, *d.CampaignPrev, c.chain.last)
	case *d.Refused != refused.cells || *d.RefusedFailed != refused.failed:
		return errors.Wrapf(ErrLedgerContradicts, "decision %d counts %d refused cells of campaign %q, %d of them failed, and there are %d, %d of them failed",
			d.Index, *d.Refused, c.id, *d.RefusedFailed, refused.cells, refused.failed)
	}
	return nil
}

// startChain makes sure that d, which opened the campaign, begins its chain.
func (c *Campaign) startChain(d *Decision) error {
	if valueOf(d.CampaignIndex) != 0 || textOf(d.CampaignPrev) != GenesisHash || valueOf(d.Refused) != 0 || valueOf(d.RefusedFailed) != 0 {
		return errors.Wrapf(ErrLedgerContradicts, "decision %d opens campaign %q and does not begin its chain", d.Index, c.id)
	}
	return nil
}

// Resume takes over what a fold of accepted decisions alone cannot know, from
// the campaign's last decision of any outcome: the counts of refusals, and the
// campaign's own chain. recordHash is that decision's record's.
func (c *Campaign) Resume(last *Decision, recordHash string) error {
	if err := c.checkCounts(last, c.accepted); err != nil {
		return err
	}
	c.refused = refusals{cells: *last.Refused, failed: *last.RefusedFailed}
	c.chain = campaignChain{index: *last.CampaignIndex, last: recordHash}
	return nil
}

// ResumeBefore is [Campaign.Resume] by the campaign's next decision: it tells
// how the campaign stood before it.
func (c *Campaign) ResumeBefore(next *Decision) error {
	accepted := c.accepted
	if next.Outcome == Accepted {
		accepted++
	}
	if err := c.checkCounts(next, accepted); err != nil {
		return err
	}
	c.refused = refusals{cells: *next.Refused, failed: *next.RefusedFailed}.without(c, next)
	c.chain = campaignChain{index: *next.CampaignIndex - 1, last: *next.CampaignPrev}
	return nil
}

// checkCounts makes sure that none of the accepted decisions was lost.
func (c *Campaign) checkCounts(d *Decision, accepted uint64) error {
	switch {
	case d.Accepted == nil || d.Refused == nil || d.RefusedFailed == nil || d.CampaignIndex == nil || d.CampaignPrev == nil:
		return errors.Wrapf(ErrLedgerContradicts, "decision %d takes campaign %q for unknown, which has %d accepted decisions", d.Index, c.id, c.accepted)
	case *d.Accepted != accepted:
		return errors.Wrapf(ErrLedgerContradicts, "decision %d of campaign %q counts %d accepted decisions, but %d are known", d.Index, c.id, *d.Accepted, accepted)
	case *d.CampaignIndex < c.chain.index:
		return errors.Wrapf(ErrLedgerContradicts, "decision %d of campaign %q has campaignIndex %d, an earlier one has %d", d.Index, c.id, *d.CampaignIndex, c.chain.index)
	}
	return nil
}
