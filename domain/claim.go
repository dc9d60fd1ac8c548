package domain

import (
	"strconv"
	"strings"
)

// CellRefused is a rejected cell: where it came from, and what it claimed.
// Both are null when the arrival could not be read.
type CellRefused struct {
	Provenance *Provenance `json:"provenance"`
	Claimed    *Claim      `json:"claimed"`
}

// Latest implements [Data].
func (r *CellRefused) Latest() Data { return r }

// Claim is what a refused cell says of itself. No gate has let it pass: it is
// shown as unverified, and counts nowhere but in what refused cells claim. A
// member is null when it cannot be read.
type Claim struct {
	ImportKey      *string `json:"importKey"`      // runId/runAttempt/executionId
	MeasurementKey *string `json:"measurementKey"` // accounting campaign/attempt/executionId
	ExecutionID    *string `json:"executionId"`
	Slot           *string `json:"slot"` // scenario/ordinal; set when exactly one selection has the execution
	Status         *string `json:"status"`
	Cleanup        *string `json:"cleanup"`
	Usage          *Usage  `json:"usage"`        // null when the result is no JSON object
	ResultSHA256   *string `json:"resultSha256"` // of the bytes, never the producer's word
}

// notPassed reports whether the claim is of a selected slot, and of an end
// that does not count as passed.
func (c *Claim) notPassed() bool {
	return c != nil && c.Slot != nil && !(isText(c.Status, statusPassed) && isText(c.Cleanup, cleanupPassed))
}

func isText(text *string, want string) bool { return text != nil && *text == want }

// claimOf reads what evidence claims, from whatever parses. intent is the
// campaign's, nil while it is unknown.
func claimOf(intent *Intent, evidence *CellEvidence) *Claim {
	result := evidence.Result.value
	claim := &Claim{
		ExecutionID:  shortText(result.Get("executionId").Text()),
		Status:       cutText(result.Get("status").Text()),
		Cleanup:      cutText(result.Get("cleanup").Text()),
		ResultSHA256: pointerTo(evidence.Result.actual),
	}
	if evidence.Result.isObject() {
		claim.Usage = pointerTo(cellUsage(result).cut())
	}
	if claim.ExecutionID == nil {
		return claim
	}
	if p := &evidence.Provenance; isDigits(p.RunID) && p.RunAttempt > 0 {
		claim.ImportKey = keyOf(p.RunID, strconv.FormatInt(p.RunAttempt, 10), *claim.ExecutionID)
	}
	campaignID, _ := result.At("accountingIdentity", "campaignId").Text()
	attemptID, _ := result.At("accountingIdentity", "attemptId").Text()
	claim.MeasurementKey = keyOf(campaignID, attemptID, *claim.ExecutionID)
	if intent != nil {
		if selection, count := intent.Selection(*claim.ExecutionID); count == 1 {
			claim.Slot = pointerTo(Slot{selection.ScenarioID, selection.RemoteOrdinal}.String())
		}
	}
	return claim
}

// keyOf joins the parts of a key, nil when one is empty or the key is too long.
func keyOf(parts ...string) *string {
	for _, part := range parts {
		if part == "" {
			return nil
		}
	}
	key := strings.Join(parts, "/")
	return shortText(key, true)
}

// shortText gives an id, nil when there is none or it is too long for a record.
func shortText(text string, ok bool) *string {
	if !ok || text == "" || len(text) > MaxStringBytes {
		return nil
	}
	return &text
}

func cutText(text string, ok bool) *string {
	if !ok {
		return nil
	}
	text = cut(text)
	return &text
}

// refusals counts a campaign's rejected cells: arrivals, so that a repeated one
// counts again.
type refusals struct {
	cells  uint64
	failed uint64 // of them, those that claim a selected slot with an end that is not passed
}

// with counts d in.
func (r refusals) with(c *Campaign, d *Decision) refusals {
	if !c.countsRefused(d) {
		return r
	}
	r.cells++
	if refused, ok := d.Latest().(*CellRefused); ok && refused.Claimed.notPassed() {
		r.failed++
	}
	return r
}

// without takes d out, which the counts are with.
func (r refusals) without(c *Campaign, d *Decision) refusals {
	one := refusals{}.with(c, d)
	return refusals{cells: r.cells - one.cells, failed: r.failed - one.failed}
}

// countsRefused reports whether d is a rejected cell that the counts are about.
// Whose signature does not hold has shown nothing; and a voided result that is
// sent again is the failure that the voids count.
func (c *Campaign) countsRefused(d *Decision) bool {
	switch {
	case d.Outcome != Rejected || d.Kind != KindCell || d.Reason.OfSigner():
		return false
	case d.Reason == ReasonImportVoided:
		return !c.claimsVoided(d)
	}
	return true
}

// claimsVoided reports whether d refuses the very result that was voided.
func (c *Campaign) claimsVoided(d *Decision) bool {
	refused, ok := d.Latest().(*CellRefused)
	if !ok || refused.Claimed == nil {
		return false
	}
	claim := refused.Claimed
	for _, imported := range []*Import{c.byImportKey[textOf(claim.ImportKey)], c.byMeasurementKey[textOf(claim.MeasurementKey)]} {
		if imported != nil && imported.voided && isText(claim.ResultSHA256, imported.ResultSHA256) {
			return true
		}
	}
	return false
}

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
