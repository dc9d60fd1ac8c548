package domain

import "fmt"

func (c *Campaign) decideVoid(d *Decision, request *VoidRequest) {
	reference := &VoidReference{ImportKey: cut(request.ImportKey), Actor: cut(request.Actor), Reason: cut(request.Reason)}
	d.Data = reference
	imported := c.byImportKey[request.ImportKey]
	if imported == nil {
		d.reject(refuse(ReasonImportUnknown, "/importKey", fmt.Sprintf(
			"campaign %q has no import %q; list its imports to find the key", c.id, reference.ImportKey)))
		return
	}
	reference.MeasurementKey = imported.MeasurementKey
	reference.ScenarioID = imported.Slot.ScenarioID
	reference.Ordinal = imported.Slot.Ordinal
	switch {
	case imported.voided:
		d.repeat(imported.voidedAt, reference)
	case c.seal != nil:
		d.reject(refuse(ReasonCampaignSealed, "", fmt.Sprintf(
			"campaign %q was sealed by decision %d; a sealed campaign is not reopened, open a new one", c.id, c.sealedAt)))
	default:
		d.accept(reference)
	}
}
