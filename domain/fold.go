package domain

import "github.com/cockroachdb/errors"

// ErrLedgerContradicts means that an accepted decision does not follow from
// those before it: the ledger was damaged, or written by other rules.
var ErrLedgerContradicts = errors.New("domain: the ledger contradicts itself")

// Fold gives the state of d's campaign after d. state is the campaign before
// it, nil while it is unknown; it is changed in place and returned. Decisions
// that were not accepted change nothing. After an error the state must be
// dropped.
func Fold(state *Campaign, d *Decision) (*Campaign, error) {
	if d.Outcome != Accepted {
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
		usage:          data.Usage,
	}
	if c.byImportKey[imported.ImportKey] != nil || c.byMeasurementKey[imported.MeasurementKey] != nil || c.bySlot[imported.Slot] != nil {
		return errors.Wrapf(ErrLedgerContradicts, "decision %d imports %q over an import of campaign %q", d.Index, imported.ImportKey, c.id)
	}
	c.byImportKey[imported.ImportKey] = imported
	c.byMeasurementKey[imported.MeasurementKey] = imported
	c.bySlot[imported.Slot] = imported
	c.spent.Add(imported.usage)
	c.effective.Add(imported.usage)
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
	c.effective.Remove(imported.usage)
	c.countImport(imported, -1)
	return nil
}

func (c *Campaign) foldSeal(d *Decision, data *Seal) error {
	if c.seal != nil {
		return errors.Wrapf(ErrLedgerContradicts, "decision %d seals campaign %q again", d.Index, c.id)
	}
	c.seal = data
	c.sealedAt = d.Index
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
