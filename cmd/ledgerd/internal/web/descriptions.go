package web

import (
	"reflect"
	"strings"
)

// jsonName is the name of a field as encoding/json prints it.
func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// described is the key of a field in descriptions: the type that declares it,
// without type parameters, and its name.
func described(t reflect.Type, field reflect.StructField) string {
	if path := field.Index; len(path) > 1 {
		t = t.FieldByIndex(path[:len(path)-1]).Type
	}
	name, _, _ := strings.Cut(t.Name(), "[")
	return name + "." + jsonName(field)
}

// descriptions say what a name alone does not. The types are other packages',
// which know nothing of HTTP.
var descriptions = map[string]string{
	"List.as_of": "Ledger index of the last decision in the rows, -1 before the first.",
	"List.next":  "What after= must be for the part behind this one; null at the end.",
	"One.as_of":  "Ledger index of the last decision in the row, -1 before the first.",

	"Campaign.verdict":            "Live while the campaign is open, frozen by its seal.",
	"Campaign.cells":              "Selected slots: passed, failed and missing together.",
	"Campaign.passed":             "Slots whose status and cleanup passed.",
	"Campaign.failed":             "Slots whose status or cleanup is anything else.",
	"Campaign.missing":            "Slots without an import that counts.",
	"Campaign.voided":             "Imports that were voided.",
	"Campaign.voided_failed":      "Of them, those that had failed or not cleaned up.",
	"Campaign.refused":            "Rejected cells up to the seal; a repeated arrival counts again.",
	"Campaign.refused_failed":     "Of them, those that claim a selected slot that did not pass. Anybody may claim.",
	"Campaign.refused_after_seal": "Rejected cells behind the seal, which are in no verdict.",
	"Campaign.voids":              "The first twenty.",
	"Campaign.spent":              "Every measurement once, voided ones included.",
	"Campaign.effective":          "What counts: without voided imports.",
	"Campaign.budget_usd":         "Shown beside the spend; null without one. A decimal.",
	"Campaign.accepted":           "Accepted decisions, the opening included.",
	"Campaign.opened":             "Its first decision.",
	"Campaign.last":               "Its last decision, of any outcome.",
	"Campaign.sealed":             "Who closed it, and when; null while it is open.",

	"VerdictReason.slots": "Scenario and ordinal with a slash between, sorted, the first twenty.",

	"Spend.cost_usd": "An exact decimal; null when no measurement reported a cost.",
	"Spend.tokens":   "An exact decimal; null when no measurement reported tokens.",
	"Spend.reported": "Measurements with a cost.",
	"Spend.cells":    "Measurements in all.",

	"Scenario.position":          "In the opening's list, from 0.",
	"Scenario.definition_digest": "Empty when the opening bound none.",
	"Scenario.grader_digest":     "Empty when the opening bound none.",

	"Slot.position":     "In the opening's selection, from 0.",
	"Slot.import_index": "Ledger index of the import that counts; null when missing.",
	"Cell.import":       "The import that fills the slot; null when missing.",

	"Import.index":           "Ledger index of the decision that imported it.",
	"Import.at":              "When its arrival was stored.",
	"Import.import_key":      "CI run id, run attempt and execution id.",
	"Import.measurement_key": "Accounting campaign, attempt and execution id.",
	"Import.status":          "The result's own word.",
	"Import.cleanup":         "The result's own word; empty when it does not say.",
	"Import.day":             "UTC day of usage: when the measurement finished.",
	"Import.started_at":      "As the result writes it.",
	"Import.finished_at":     "As the result writes it.",
	"Import.run_ids":         "The result's; they join checkpoints.",
	"Import.tokens":          "An exact decimal; null when unknown.",
	"Import.cost_usd":        "An exact decimal; null when unknown.",
	"Import.coverage":        "The result's own word, or unavailable.",
	"Import.run_id":          "Of the CI.",
	"Import.void":            "Who took it back, and why; null while it counts.",

	"Rejection.campaign":   "Empty when the subject named no legal campaign.",
	"Rejection.kind":       "Empty when the subject named no known kind.",
	"Rejection.reason":     "A stable code; later versions may add some.",
	"Rejection.field":      "JSON Pointer to what is wrong, empty for the whole.",
	"Rejection.detail":     "A sentence for people.",
	"Rejection.import_key": "Empty when it was not known yet.",
	"Rejection.claimed":    "What a cell says of itself, which nobody verified; null when it could not be read, and for other kinds.",
	"Rejection.provenance": "Where a cell's artifact came from, as far as it was read; null for other kinds.",

	"Checkpoint.index":            "Of the decision that bound the read, else of the last one about it.",
	"Checkpoint.reason":           "Empty unless rejected.",
	"Checkpoint.field":            "Empty unless rejected.",
	"Checkpoint.detail":           "Empty when bound.",
	"Checkpoint.authority":        "What was bound; null unless bound.",
	"Checkpoint.authority_sha256": "Of the authority's bytes here; empty unless bound.",
	"Checkpoint.cells":            "Slots whose import names the run.",

	"Usage.campaign":  "Empty in an answer over all campaigns.",
	"Usage.day":       "UTC: when the measurements finished.",
	"Usage.spent":     "Voided ones included.",
	"Usage.effective": "Without voided ones.",

	"Entry.index":          "Ledger index; the LEDGER sequence is one more.",
	"Entry.reason":         "Empty unless rejected.",
	"Entry.repeats":        "Index that a duplicate repeats, null otherwise.",
	"Entry.arrival_sha256": "Of the arrival's body.",
	"Entry.record_sha256":  "Of the record's bytes.",

	"Summary.outcomes": "Decisions by outcome; all four are there.",
	"Summary.reasons":  "Rejected decisions by reason.",

	"LoopState.error": "Why it stopped; empty to who bears no token.",
	"readiness.lag":   "Decisions in the ledger that the views lack; null when it is not known just now.",
	"readiness.as_of": "Ledger index of the last decision in the views; null when they cannot be read just now.",
}
