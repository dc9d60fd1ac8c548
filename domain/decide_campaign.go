package domain

import (
	"crypto/sha256"
	"fmt"
)

// maxOpeningBytes bounds an expanded campaign, so that its record stays within
// the 1 MiB that is kept for one; the rest is the record's own fields.
const maxOpeningBytes = 1<<20 - 16<<10

func decideOpening(d *Decision, state *Campaign, arrived *Opening) {
	opening, refusal := arrived.Expand(d.Campaign)
	if state != nil {
		if refusal == nil && sha256.Sum256(opening.Canonical()) == state.canonical {
			d.repeat(state.openedAt, nil)
			return
		}
		d.reject(refuse(ReasonCampaignAlreadyOpen, "", fmt.Sprintf(
			"campaign %q was opened by decision %d with other content, and a campaign never changes; open another id", state.id, state.openedAt)))
		return
	}
	if refusal == nil {
		if size := len(opening.Canonical()); size > maxOpeningBytes {
			refusal = refuse(ReasonCampaignInvalid, "", fmt.Sprintf(
				"the expanded campaign is %d bytes and may be at most %d; split it into several campaigns", size, maxOpeningBytes))
		}
	}
	if refusal != nil {
		d.reject(refusal)
		return
	}
	d.accept(opening)
	d.Refused, d.RefusedFailed, d.CampaignIndex = pointerTo(uint64(0)), pointerTo(uint64(0)), pointerTo(uint64(0))
	d.CampaignPrev = pointerTo(GenesisHash)
}

func (c *Campaign) decideSeal(d *Decision, request *SealRequest) {
	if c.seal != nil {
		d.repeat(c.sealedAt, &SealRequest{Actor: cut(request.Actor)})
		return
	}
	d.accept(&Seal{Actor: cut(request.Actor), Verdict: c.Verdict(), Tally: c.Tally()})
}
