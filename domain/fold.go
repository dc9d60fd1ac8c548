package domain

import "github.com/cockroachdb/errors"

// ErrLedgerContradicts means that a decision does not follow from those before
// it: the ledger was damaged, or written by other rules.
var ErrLedgerContradicts = errors.New("domain: the ledger contradicts itself")

// Fold gives the state of d's campaign after d, whose record has the given
// hash. state is the campaign before it, nil while it is unknown; it is changed
// in place and returned. A decision that was not accepted changes only the
// campaign's chain and its counts of refusals. After an error the state must
// be dropped.
func Fold(state *Campaign, d *Decision, recordHash string) (*Campaign, error) {
	known := state != nil
	if known {
		if err := state.checkChain(d); err != nil {
			return nil, err
		}
		state.refused = state.refused.with(state, d)
	}
	state, err := FoldAccepted(state, d)
	if err != nil || state == nil {
		return nil, err
	}
	if known {
		if err := state.checkCounts(d, state.accepted); err != nil {
			return nil, err
		}
	}
	state.chain = campaignChain{index: *d.CampaignIndex, last: recordHash}
	return state, nil
}

// FoldAccepted is [Fold] for whoever has the accepted decisions alone; others
// change nothing. What the rest of the campaign's decisions say comes by
// [Campaign.Resume] when all are folded.
func FoldAccepted(state *Campaign, d *Decision) (*Campaign, error) {
	if d.Outcome != Accepted {
		if state == nil && d.Accepted != nil {
			return nil, errors.Wrapf(ErrLedgerContradicts, "decision %d counts %d accepted decisions of campaign %q, which is not open", d.Index, *d.Accepted, d.Campaign)
		}
		return state, nil
	}
	if opening, ok := d.Latest().(*Opening); ok {
		if state != nil {
			return nil, errors.Wrapf(ErrLedgerContradicts, "decision %d opens campaign %q again", d.Index, d.Campaign)
		}
		opened, err := openCampaign(d, opening)
		if err != nil {
			return nil, err
		}
		return opened, opened.count(d)
	}
	if state == nil {
		return nil, errors.Wrapf(ErrLedgerContradicts, "decision %d was accepted for campaign %q, which is not open", d.Index, d.Campaign)
	}
	if err := state.change(d); err != nil {
		return nil, err
	}
	return state, state.count(d)
}

func (c *Campaign) change(d *Decision) error {
	switch data := d.Latest().(type) {
	case *CellImported:
		return c.foldImport(d, data)
	case *VoidReference:
		return c.foldVoid(d, data)
	case *Seal:
		return c.foldSeal(d, data)
	case *CheckpointBound:
		return c.foldCheckpoint(d, data)
	default:
		return errors.Wrapf(ErrLedgerContradicts, "decision %d accepts a %s without its data", d.Index, d.Kind)
	}
}

// count checks the number that the decision carries: a decision that was lost
// between two others shows here.
func (c *Campaign) count(d *Decision) error {
	c.accepted++
	if d.Accepted == nil || *d.Accepted != c.accepted {
		return errors.Wrapf(ErrLedgerContradicts, "decision %d of campaign %q is its accepted decision number %d, but %d are known",
			d.Index, d.Campaign, valueOf(d.Accepted), c.accepted)
	}
	if d.CampaignIndex == nil || *d.CampaignIndex < c.chain.index {
		return errors.Wrapf(ErrLedgerContradicts, "decision %d of campaign %q has campaignIndex %d, an earlier one has %d",
			d.Index, d.Campaign, valueOf(d.CampaignIndex), c.chain.index)
	}
	c.chain.index = *d.CampaignIndex
	return nil
}

func (c *Campaign) foldImport(d *Decision, data *CellImported) error {
	imported := &Import{
		Index:          d.Index,
		ImportKey:      data.Cell.ImportKey,
		MeasurementKey: data.Cell.MeasurementKey,
		ArtifactSHA256: data.Cell.ArtifactSHA256,
		ResultSHA256:   data.Cell.ResultSHA256,
		Slot:           data.Cell.Slot(),
		status:         data.Result.Status,
		cleanup:        data.Result.Cleanup,
		charge:         c.opening.rules().Plausible.Charge(data.Usage),
	}
	started, known := parseTimestamp(data.Result.StartedAt)
	imported.beforeOpening = !known || started.Before(c.opened)
	finished, known := parseTimestamp(data.Result.FinishedAt)
	imported.afterArrival = known && finished.Sub(d.Arrival.Time) > maxClockAhead
	if c.byImportKey[imported.ImportKey] != nil || c.byMeasurementKey[imported.MeasurementKey] != nil || c.bySlot[imported.Slot] != nil {
		return errors.Wrapf(ErrLedgerContradicts, "decision %d imports %q over an import of campaign %q", d.Index, imported.ImportKey, c.id)
	}
	c.byImportKey[imported.ImportKey] = imported
	c.byMeasurementKey[imported.MeasurementKey] = imported
	c.bySlot[imported.Slot] = imported
	c.counted.Add(imported.charge)
	imported.accounts = c.accountsOf(UsageKeyOf(&data.Result, d.Arrival.Time))
	imported.accounts.counted.Add(imported.charge)
	c.definitions[imported.Slot.ScenarioID] = c.definitions[imported.Slot.ScenarioID].with(
		data.Cell.DefinitionDigest, data.Cell.GraderDigest, data.Result.SuiteDefinitionHash)
	c.countImport(imported, 1)
	return nil
}

func (c *Campaign) foldVoid(d *Decision, data *VoidReference) error {
	imported := c.byImportKey[data.ImportKey]
	if imported == nil || imported.voided {
		return errors.Wrapf(ErrLedgerContradicts, "decision %d voids %q, which campaign %q does not count", d.Index, data.ImportKey, c.id)
	}
	imported.voided = true
	imported.voidedAt = d.Index
	delete(c.bySlot, imported.Slot)
	c.counted.Remove(imported.charge)
	c.voidedSpend.Add(imported.charge)
	imported.accounts.counted.Remove(imported.charge)
	imported.accounts.voided.Add(imported.charge)
	c.countImport(imported, -1)
	c.countVoid(d, data, imported)
	return nil
}

func (c *Campaign) countVoid(d *Decision, data *VoidReference, imported *Import) {
	c.voided++
	if !imported.Passed() {
		c.voidedFailed++
	}
	if len(c.voids) < maxVoidsShown {
		c.voids = append(c.voids, VoidShown{Slot: imported.Slot.String(), ImportKey: imported.ImportKey, Index: d.Index,
			Failed: !imported.Passed(), Actor: data.Actor, Reason: data.Reason})
	}
}

func (c *Campaign) foldSeal(d *Decision, data *Seal) error {
	if c.seal != nil {
		return errors.Wrapf(ErrLedgerContradicts, "decision %d seals campaign %q again", d.Index, c.id)
	}
	c.seal = data
	c.sealedAt = d.Index
	c.sealedTime = d.Arrival.Time
	return nil
}

func (c *Campaign) countImport(imported *Import, by int64) {
	c.counts.change(imported, by)
	if scenario := c.byScenario[imported.Slot.ScenarioID]; scenario != nil {
		scenario.change(imported, by)
	}
}

func valueOf(n *uint64) uint64 {
	if n == nil {
		return 0
	}
	return *n
}
