package domain

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/go-json-experiment/json"
)

// FuzzValidateCell feeds any bytes as documents: validation answers, and never
// panics, and what it lets pass has keys that a record can hold.
func FuzzValidateCell(f *testing.F) {
	cell := newCell("greeting", 1)
	var seeds [3][]byte
	for i, content := range []object{cell.result, cell.host, cell.definition} {
		raw, err := json.Marshal(content, json.Deterministic(true))
		if err != nil {
			f.Fatal(err)
		}
		seeds[i] = raw
	}
	f.Add(seeds[0], seeds[1], seeds[2], testPrefix+"x", "1", "1")
	f.Add([]byte(`{"executionId":[]}`), []byte(`[]`), []byte("\xff"), "..", "", "9")
	opening, refusal := testOpening("greeting").Expand(testCampaign)
	if refusal != nil {
		f.Fatal(refusal)
	}
	intent := NewIntent(testCampaign, opening.SourceRevision, opening.Selected)
	f.Fuzz(func(t *testing.T, result, host, definition []byte, path, runID, artifactID string) {
		read := func(raw []byte) Document {
			sum := sha256.Sum256(raw)
			return ReadDocument(path, raw, hex.EncodeToString(sum[:]))
		}
		evidence := &CellEvidence{Provenance: cell.provenance, Result: read(result), Host: read(host), Definition: read(definition)}
		evidence.Provenance.RunID, evidence.Provenance.ArtifactID = runID, artifactID
		measured, refusal := ValidateCell(intent, opening.Policy, evidence)
		switch {
		case (measured == nil) == (refusal == nil):
			t.Fatal("neither a cell nor a refusal, or both")
		case refusal != nil && (refusal.Reason == "" || refusal.Message == ""):
			t.Fatalf("a refusal without reason: %+v", refusal)
		case measured != nil && (len(measured.Cell.ImportKey) > MaxStringBytes || len(measured.Cell.MeasurementKey) > MaxStringBytes):
			t.Fatalf("keys of %d and %d bytes", len(measured.Cell.ImportKey), len(measured.Cell.MeasurementKey))
		}
	})
}
