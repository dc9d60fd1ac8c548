package projections

import (
	"github.com/ledgerd/ledgerd/domain"
)

// Rows that a single decision makes, whatever came before.

func entryRow(d *domain.Decision, recordHash string) Entry {
	return Entry{
		Index:         d.Index,
		At:            storedTime(d.Arrival.Time),
		Campaign:      d.Campaign,
		Kind:          d.Kind,
		Outcome:       d.Outcome,
		Reason:        d.Reason,
		Repeats:       d.Repeats,
		ArrivalID:     Storable(d.Arrival.ID),
		ArrivalSHA256: d.Arrival.SHA256,
		RecordSHA256:  recordHash,
	}
}

func rejectionRow(d *domain.Decision) Rejection {
	row := Rejection{
		Index:     d.Index,
		At:        storedTime(d.Arrival.Time),
		Campaign:  d.Campaign,
		Kind:      d.Kind,
		Reason:    d.Reason,
		Field:     Storable(d.Field),
		Detail:    Storable(d.Detail),
		ArrivalID: Storable(d.Arrival.ID),
	}
	switch data := d.Latest().(type) {
	case *domain.CellRefused:
		if data.Claimed != nil && data.Claimed.ImportKey != nil {
			row.ImportKey = Storable(*data.Claimed.ImportKey)
		}
		if data.Provenance != nil {
			row.Provenance = provenanceOf(*data.Provenance)
		}
		row.Claimed = claimedOf(data.Claimed)
	case *domain.VoidReference:
		row.ImportKey = Storable(data.ImportKey)
	}
	return row
}

func claimedOf(claim *domain.Claim) *Claimed {
	if claim == nil {
		return nil
	}
	row := &Claimed{
		Slot: storableOrNil(claim.Slot), ExecutionID: storableOrNil(claim.ExecutionID), MeasurementKey: storableOrNil(claim.MeasurementKey),
		Status: storableOrNil(claim.Status), Cleanup: storableOrNil(claim.Cleanup), ResultSHA256: claim.ResultSHA256,
	}
	if usage := claim.Usage; usage != nil {
		row.CostUSD, row.Tokens, row.Coverage = decimalOf(usage.CostUSD), decimalOf(usage.Tokens), storableOrNil(&usage.Coverage)
	}
	return row
}

func storableOrNil(text *string) *string {
	if text == nil {
		return nil
	}
	stored := Storable(*text)
	return &stored
}

func provenanceOf(p domain.Provenance) *Provenance {
	return &Provenance{
		Repository:           Storable(p.Repository),
		Workflow:             Storable(p.Workflow),
		WorkflowRef:          Storable(p.WorkflowRef),
		RunID:                Storable(p.RunID),
		RunAttempt:           p.RunAttempt,
		ArtifactID:           Storable(p.ArtifactID),
		ArchiveSHA256:        Storable(p.ArchiveSHA256),
		TargetSourceRevision: Storable(p.TargetSourceRevision),
	}
}

func importRow(d *domain.Decision, data *domain.CellImported) Import {
	cell, result := &data.Cell, &data.Result
	return Import{
		Index:               d.Index,
		At:                  storedTime(d.Arrival.Time),
		Campaign:            d.Campaign,
		ImportKey:           Storable(cell.ImportKey),
		MeasurementKey:      Storable(cell.MeasurementKey),
		ScenarioID:          Storable(cell.ScenarioID),
		Ordinal:             cell.Ordinal,
		ExecutionID:         Storable(result.ExecutionID),
		Outcome:             outcomeOf(result.Passed()),
		Status:              result.Status,
		Cleanup:             Storable(result.Cleanup),
		CaseID:              Storable(result.CaseID),
		Model:               Storable(result.Model),
		Day:                 domain.UsageKeyOf(result, d.Arrival.Time).Day,
		StartedAt:           Storable(result.StartedAt),
		FinishedAt:          Storable(result.FinishedAt),
		DurationMS:          result.DurationMS,
		RunIDs:              storableAll(result.RunIDs),
		Tokens:              decimalOf(data.Usage.Tokens),
		CostUSD:             decimalOf(data.Usage.CostUSD),
		Coverage:            Storable(data.Usage.Coverage),
		WorkflowRunURL:      Storable(result.WorkflowRunURL),
		RunID:               Storable(data.Provenance.RunID),
		RunAttempt:          data.Provenance.RunAttempt,
		ArtifactID:          Storable(data.Provenance.ArtifactID),
		ArtifactSHA256:      Storable(cell.ArtifactSHA256),
		ResultPath:          Storable(cell.ResultPath),
		ResultSHA256:        Storable(cell.ResultSHA256),
		HostSHA256:          Storable(cell.HostSHA256),
		DefinitionSHA256:    Storable(cell.DefinitionSHA256),
		DefinitionDigest:    Storable(cell.DefinitionDigest),
		GraderDigest:        Storable(cell.GraderDigest),
		SuiteDefinitionHash: Storable(result.SuiteDefinitionHash),
	}
}
