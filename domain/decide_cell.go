package domain

import "fmt"

func (c *Campaign) decideCell(d *Decision, evidence *CellEvidence, gates []gate) {
	measured, refusal := validateCell(gates, c.intent, c.opening.Policy, evidence)
	if refusal != nil {
		d.reject(refusal)
		return
	}
	repeated, refusal := c.admit(measured, evidence.Qualification)
	switch {
	case refusal != nil:
		d.reject(refusal)
	case repeated != nil:
		d.repeat(repeated.Index, &CellReference{
			ImportKey:      measured.Cell.ImportKey,
			MeasurementKey: measured.Cell.MeasurementKey,
			ScenarioID:     measured.Cell.ScenarioID,
			Ordinal:        measured.Cell.Ordinal,
			Provenance:     evidence.Provenance.cut(),
		})
	default:
		d.accept(&CellImported{
			Cell:       measured.Cell,
			Result:     measured.Facts.cut(),
			Usage:      measured.Usage.cut(),
			Provenance: evidence.Provenance.cut(),
		})
	}
}

// admit asks the campaign whether a valid cell may be imported. It gives the
// import that the cell repeats, or a refusal, or neither: then the cell is
// new. Nothing is changed.
func (c *Campaign) admit(m *Measured, qualification *Qualification) (*Import, *Refusal) {
	if m.Cell.IntentCampaignID != c.id {
		return nil, refuse(ReasonForeignCampaign, "/intent/campaignId", fmt.Sprintf(
			"the cell was measured for campaign %q, not for %q", cut(m.Cell.IntentCampaignID), c.id))
	}
	if refusal := c.refuseVoided(&m.Cell); refusal != nil {
		return nil, refusal
	}
	if repeated, refusal := c.previous(&m.Cell); repeated != nil || refusal != nil {
		return repeated, refusal
	}
	if c.seal != nil {
		return nil, refuse(ReasonCampaignSealed, "", fmt.Sprintf(
			"campaign %q was sealed by decision %d; a sealed campaign takes no cells, open a new one", c.id, c.sealedAt))
	}
	if qualification != nil {
		if refusal := m.CheckQualification(qualification); refusal != nil {
			return nil, refusal
		}
	}
	return nil, c.refuseDefinition(&m.Cell)
}

// refuseVoided refuses a cell whose keys belong to a voided import, whatever
// its bytes: what was taken back does not come back by being sent again.
func (c *Campaign) refuseVoided(cell *Cell) *Refusal {
	for _, key := range []struct {
		imported *Import
		field    string
		value    string
	}{
		{c.byImportKey[cell.ImportKey], "/importKey", cell.ImportKey},
		{c.byMeasurementKey[cell.MeasurementKey], "/measurementKey", cell.MeasurementKey},
	} {
		if key.imported != nil && key.imported.voided {
			return refuse(ReasonImportVoided, key.field, fmt.Sprintf(
				"%q belongs to import %d, which decision %d voided; measure the cell anew", key.value, key.imported.Index, key.imported.voidedAt))
		}
	}
	return nil
}

// previous looks for an unvoided import with the cell's import key,
// measurement key or slot. The same bytes under the same keys are a repeated
// fact; anything else that collides is a conflict.
func (c *Campaign) previous(cell *Cell) (*Import, *Refusal) {
	for _, found := range []struct {
		imported *Import
		field    string
		what     string
	}{
		{c.byImportKey[cell.ImportKey], "/importKey", "import key"},
		{c.byMeasurementKey[cell.MeasurementKey], "/measurementKey", "measurement key"},
		{c.bySlot[cell.Slot()], "/ordinal", "slot"},
	} {
		if found.imported == nil {
			continue
		}
		if found.imported.sameMeasurement(cell) {
			return found.imported, nil
		}
		return nil, refuse(ReasonMeasurementConflict, found.field, fmt.Sprintf(
			"decision %d already imported another measurement with this %s (%s), which counts; if that is the wrong one, void it and measure the cell anew",
			found.imported.Index, found.what, found.imported.ImportKey))
	}
	return nil, nil
}

func (i *Import) sameMeasurement(cell *Cell) bool {
	return i.ImportKey == cell.ImportKey && i.MeasurementKey == cell.MeasurementKey &&
		i.ResultSHA256 == cell.ResultSHA256 && i.ArtifactSHA256 == cell.ArtifactSHA256
}

// refuseDefinition refuses a cell that was measured by another definition or
// grader than its scenario was opened with.
func (c *Campaign) refuseDefinition(cell *Cell) *Refusal {
	scenario, ok := c.scenarios[cell.ScenarioID]
	if !ok {
		return refuse(ReasonScenarioAbsent, "/scenarioId", fmt.Sprintf(
			"scenario %q is not in the frozen campaign", cut(cell.ScenarioID)))
	}
	for _, digest := range []struct{ field, frozen, measured string }{
		{"/definition/definitionDigest", scenario.DefinitionDigest, cell.DefinitionDigest},
		{"/definition/graderDigest", scenario.GraderDigest, cell.GraderDigest},
	} {
		if digest.frozen != "" && digest.frozen != digest.measured {
			return refuse(ReasonDefinitionDrift, digest.field, fmt.Sprintf(
				"scenario %q was opened with %s, the cell was measured with %s; run it with the frozen definition", scenario.ID, digest.frozen, digest.measured))
		}
	}
	return nil
}
