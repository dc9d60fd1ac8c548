package schema_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/strictjson"
	"github.com/ledgerd/ledgerd/events"
)

// TestLimitsAreTheDomains compares every limit that the domain gives a name.
func TestLimitsAreTheDomains(t *testing.T) {
	opening, read := events.ArrivalType(domain.KindCampaign), events.ArrivalType(domain.KindCheckpoint)
	for _, row := range []struct {
		ceType, path string
		want         int64
	}{
		{opening, "properties/scenarios/maxItems", domain.MaxScenarios},
		{opening, "properties/selected/maxItems", domain.MaxSelections},
		{opening, "$defs/id/maxLength", domain.MaxIDBytes},
		{opening, "$defs/label/maxLength", domain.MaxLabelBytes},
		{opening, "$defs/demand/maxLength", domain.MaxPolicyTextSize},
		{opening, "$defs/filePattern/maxLength", domain.MaxPolicyTextSize},
		{opening, "$defs/policy/properties/ordinals/maxItems", domain.MaxOrdinals},
		{opening, "$defs/policy/properties/database/properties/imageIds/maxItems", domain.MaxImageIDs},
		{opening, "$defs/policy/properties/provenance/maxItems", domain.MaxSources},
		{opening, "$defs/ordinal/maximum", strictjson.MaxSafeInteger},
		{read, "properties/checkpoint/properties/records/maxItems", checkpoint.MaxRecords},
		{read, "properties/observed/properties/records/maximum", checkpoint.MaxRecords},
		{read, "properties/observed/properties/bytes/maximum", checkpoint.MaxBytes},
		{read, "$defs/id/maxLength", domain.MaxStringBytes},
		{read, "properties/publication/properties/observerLeaseId/maxLength", domain.MaxStringBytes},
		{events.DecisionType, "$defs/text/maxLength", domain.MaxStringBytes},
		{events.DecisionType, "$defs/id/maxLength", domain.MaxIDBytes},
		{events.DecisionType, "$defs/opening/properties/scenarios/maxItems", domain.MaxScenarios},
		{events.DecisionType, "$defs/opening/properties/selected/maxItems", domain.MaxSelections},
		{events.DecisionType, "$defs/policy/properties/ordinals/maxItems", domain.MaxOrdinals},
	} {
		if got := fmt.Sprint(at(document(t, row.ceType), row.path)); got != strconv.FormatInt(row.want, 10) {
			t.Errorf("%s: %s is %s, the domain's is %d", row.ceType, row.path, got, row.want)
		}
	}
}

// at gives what stands in a schema at a path of names.
func at(node any, path string) any {
	for name := range strings.SplitSeq(path, "/") {
		inner, _ := node.(map[string]any)
		node = inner[name]
	}
	return node
}

// TestSchemasWithinRecords: what a record calls its parts by.
func TestSchemasWithinRecords(t *testing.T) {
	for path, want := range map[string]string{
		"$defs/cellImported/properties/cell/properties/schema/const": domain.CellSchema,
		"$defs/authority/properties/schema/const":                    checkpoint.KimiContext().Schema,
	} {
		if got := at(document(t, events.DecisionType), path); got != want {
			t.Errorf("%s is %v, the domain's is %s", path, got, want)
		}
	}
}

// change is a member of a valid example, and what it becomes.
type change struct {
	pointer string
	value   any
}

// altered gives a valid example with changes.
func altered(t *testing.T, kind domain.Kind, name string, changes ...change) []byte {
	t.Helper()
	whole := instance(t, oneExample(t, kind, name))
	for _, c := range changes {
		whole = put(whole, strings.Split(c.pointer, "/")[1:], c.value)
	}
	return printed(t, whole)
}

func put(node any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	switch node := node.(type) {
	case map[string]any:
		node = maps.Clone(node)
		node[path[0]] = put(node[path[0]], path[1:], value)
		return node
	case []any:
		node = slices.Clone(node)
		i, err := strconv.Atoi(path[0])
		if err != nil {
			panic(err)
		}
		node[i] = put(node[i], path[1:], value)
		return node
	}
	panic("no " + path[0] + " here")
}

// list makes n values that differ.
func list(n int, of func(i int) any) []any {
	values := make([]any, n)
	for i := range values {
		values[i] = of(i)
	}
	return values
}

func word(i int) any { return "w" + strconv.Itoa(i) }

func number(i int) any { return i + 1 }

// TestLimitsAtTheirEdges: at its limit an arrival fits and is accepted; one
// more does not fit and is refused.
func TestLimitsAtTheirEdges(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	opening := func(base string, changes func(n int) []change) func(*testing.T, int) []byte {
		return func(t *testing.T, n int) []byte { return altered(t, domain.KindCampaign, base, changes(n)...) }
	}
	one := func(base, pointer string, value func(n int) any) func(*testing.T, int) []byte {
		return opening(base, func(n int) []change { return []change{{pointer, value(n)}} })
	}
	text := func(n int) any { return x(n) }
	for name, row := range map[string]struct {
		kind  domain.Kind
		body  func(t *testing.T, n int) []byte
		limit int
	}{
		"label":             {domain.KindCampaign, one("preset", "/label", text), 512},
		"scenario's label":  {domain.KindCampaign, one("preset", "/scenarios/0/label", text), 512},
		"policy's text":     {domain.KindCampaign, one("policy-written-out", "/policy/model", text), 512},
		"file pattern":      {domain.KindCampaign, one("policy-written-out", "/policy/documents/result", text), 512},
		"image id":          {domain.KindCampaign, one("policy-written-out", "/policy/database/imageIds/0", text), 512},
		"image ids":         {domain.KindCampaign, one("policy-written-out", "/policy/database/imageIds", func(n int) any { return list(n, word) }), 100},
		"sources":           {domain.KindCampaign, one("policy-written-out", "/policy/provenance", func(n int) any { return list(n, word) }), 16},
		"ordinals":          {domain.KindCampaign, one("policy-written-out", "/policy/ordinals", func(n int) any { return list(n, number) }), 100},
		"execution id":      {domain.KindCampaign, one("smallest", "/selected/0/executionId", text), 200},
		"budget":            {domain.KindCampaign, one("preset", "/budget/costUsd", func(n int) any { return n }), 1e12},
		"scenario id":       {domain.KindCampaign, opening("smallest", func(n int) []change { return []change{{"/scenarios/0/id", x(n)}, {"/selected/0/scenarioId", x(n)}} }), 200},
		"scenarios":         {domain.KindCampaign, opening("smallest", scenarios), 1000},
		"selections":        {domain.KindCampaign, opening("policy-written-out", selections), 10_000},
		"environment id":    {domain.KindCheckpoint, claim("/publication/environmentId"), 512},
		"observer lease":    {domain.KindCheckpoint, claim("/publication/observerLeaseId"), 512},
		"turn id":           {domain.KindCheckpoint, everywhere("provider-turn-faa1"), 240},
		"request id":        {domain.KindCheckpoint, everywhere("req-23ead9"), 240},
		"workspace":         {domain.KindCheckpoint, everywhere("ws-6e742b"), 240},
		"records":           {domain.KindCheckpoint, records, checkpoint.MaxRecords},
		"observed records":  {domain.KindCheckpoint, observed("records"), checkpoint.MaxRecords},
		"observed bytes":    {domain.KindCheckpoint, observed("bytes"), checkpoint.MaxBytes},
		"path":              {domain.KindCell, documentPath, 512},
		"digits of run ids": {domain.KindCell, runID, 64},
	} {
		t.Run(name, func(t *testing.T) {
			if j := judge(t, row.kind, row.body(t, row.limit)); j.schema != nil || j.decision.Outcome != domain.Accepted {
				t.Errorf("at the limit: schema %v, decided %s %s at %q: %s", j.schema, j.decision.Outcome, j.decision.Reason, j.decision.Field, j.decision.Detail)
			}
			if j := judge(t, row.kind, row.body(t, row.limit+1)); j.schema == nil || j.decision.Outcome != domain.Rejected {
				t.Errorf("beyond it: schema %v, decided %s", j.schema, j.decision.Outcome)
			}
		})
	}
}

// scenarios is n rows with a selection each.
func scenarios(n int) []change {
	return []change{
		{"/scenarios", list(n, func(i int) any { return map[string]any{"id": word(i)} })},
		{"/selected", list(n, func(i int) any {
			return map[string]any{"scenarioId": word(i), "executionId": word(i), "remoteOrdinal": 1}
		})},
	}
}

// selections is n slots of as few scenarios as hold them.
func selections(n int) []change {
	rows := (n + domain.MaxOrdinals - 1) / domain.MaxOrdinals
	return []change{
		{"/policy/ordinals", list(domain.MaxOrdinals, number)},
		{"/scenarios", list(rows, func(i int) any { return map[string]any{"id": word(i)} })},
		{"/selected", list(n, func(i int) any {
			return map[string]any{"scenarioId": word(i / domain.MaxOrdinals), "executionId": word(i), "remoteOrdinal": 1 + i%domain.MaxOrdinals}
		})},
	}
}

func claim(pointer string) func(*testing.T, int) []byte {
	return func(t *testing.T, n int) []byte {
		return altered(t, domain.KindCheckpoint, "bound", change{pointer, strings.Repeat("x", n)})
	}
}

func observed(name string) func(*testing.T, int) []byte {
	return func(t *testing.T, n int) []byte {
		return altered(t, domain.KindCheckpoint, "bound", change{"/observed/" + name, n})
	}
}

// everywhere makes an id longer, in the claim and in the runner's records.
func everywhere(id string) func(*testing.T, int) []byte {
	return func(t *testing.T, n int) []byte {
		return []byte(strings.ReplaceAll(string(oneExample(t, domain.KindCheckpoint, "bound")), id, strings.Repeat("x", n)))
	}
}

// records fills a checkpoint up with records of other keys.
func records(t *testing.T, n int) []byte {
	whole := instance(t, oneExample(t, domain.KindCheckpoint, "bound")).(map[string]any)
	kept := whole["checkpoint"].(map[string]any)["records"].([]any)
	more := list(n-len(kept), func(i int) any { return []any{word(i), ""} })
	return altered(t, domain.KindCheckpoint, "bound",
		change{"/checkpoint/records", append(kept, more...)}, change{"/observed/records", min(n, checkpoint.MaxRecords)})
}

func documentPath(t *testing.T, n int) []byte {
	const prefix = "tests/runner-e2e/results/"
	return altered(t, domain.KindCell, "plain", change{"/result/path", prefix + strings.Repeat("x", n-len(prefix))})
}

func runID(t *testing.T, n int) []byte {
	return measuredAgain(t, oneExample(t, domain.KindCell, "plain"), map[string]string{exampleRun: strings.Repeat("7", n)})
}

// What the example of a cell was measured as.
const (
	exampleRun       = "10445839696"
	exampleExecution = "chat-evidence.runner-opencode-chat.local.tool-approval-r1"
)

// measuredAgain replaces texts in a cell, its documents included, and hashes
// the documents anew.
func measuredAgain(t *testing.T, cell []byte, replace map[string]string) []byte {
	t.Helper()
	for old, text := range replace {
		cell = []byte(strings.ReplaceAll(string(cell), old, text))
	}
	whole := instance(t, cell).(map[string]any)
	for _, name := range []string{"result", "host", "definition"} {
		document := whole[name].(map[string]any)
		sum := sha256.Sum256([]byte(document["bytes"].(string)))
		document["sha256"] = hex.EncodeToString(sum[:])
	}
	return printed(t, whole)
}

// TestLongestKeys: ids at their limits make the longest keys, which records and
// voids must hold.
func TestLongestKeys(t *testing.T) {
	run, execution, framework := strings.Repeat("7", 64), strings.Repeat("x", 200), strings.Repeat("f", 200)
	opening := strings.ReplaceAll(string(oneExample(t, domain.KindCampaign, "preset")), exampleExecution, execution)
	cell := measuredAgain(t, oneExample(t, domain.KindCell, "plain"), map[string]string{
		exampleRun: run, exampleExecution: execution, accountingCampaign(t): framework})
	key := run + "/1/" + execution
	void := printed(t, map[string]any{"importKey": key, "actor": "ada", "reason": "the longest"})
	w := newWriter()
	for _, step := range []struct {
		kind domain.Kind
		body []byte
	}{{domain.KindCampaign, []byte(opening)}, {domain.KindCell, cell}, {domain.KindVoid, void}, {domain.KindSeal, []byte(`{"actor":"a"}`)}} {
		if err := fits(t, step.kind, step.body); err != nil {
			t.Error(err)
		}
		d, record := w.write(t, message(t, step.kind, step.body, 0))
		if d.Outcome != domain.Accepted {
			t.Fatalf("%s: %s at %q: %s", step.kind, d.Reason, d.Field, d.Detail)
		}
		if err := compiled(t, events.DecisionType).Validate(instance(t, record)); err != nil {
			t.Errorf("%s: %v", step.kind, err)
		}
		if imported, ok := d.Data.(*domain.CellImported); ok && (imported.Cell.ImportKey != key || len(imported.Cell.MeasurementKey) != 434) {
			t.Errorf("keys %d and %d bytes long", len(imported.Cell.ImportKey), len(imported.Cell.MeasurementKey))
		}
	}
}

// accountingCampaign is the framework's own id in the example of a cell.
func accountingCampaign(t *testing.T) string {
	t.Helper()
	var cell struct{ Result struct{ Bytes string } }
	var result struct{ AccountingIdentity struct{ CampaignID string } }
	if err := json.Unmarshal(oneExample(t, domain.KindCell, "plain"), &cell); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(cell.Result.Bytes), &result); err != nil || result.AccountingIdentity.CampaignID == "" {
		t.Fatalf("%v: %s", err, cell.Result.Bytes)
	}
	return result.AccountingIdentity.CampaignID
}

// TestLargestRecords: lists that records cut at a limit fit at it.
func TestLargestRecords(t *testing.T) {
	w := newWriter()
	sent := func(kind domain.Kind, body []byte) *domain.Decision {
		d, record := w.write(t, message(t, kind, body, 0))
		if err := compiled(t, events.DecisionType).Validate(instance(t, record)); err != nil {
			t.Error(err)
		}
		return d
	}
	sent(domain.KindCampaign, altered(t, domain.KindCampaign, "preset", slices.Concat(scenarios(100), []change{{"/label", strings.Repeat("é", 256)}})...))
	sent(domain.KindVoid, printed(t, map[string]any{"importKey": strings.Repeat("k", 1000), "actor": strings.Repeat("a", 1000), "reason": strings.Repeat("é", 1000)}))
	sealed := sent(domain.KindSeal, []byte(`{"actor":"ada"}`))
	if slots := sealed.Data.(*domain.Seal).Verdict.Reasons[0].Slots; len(slots) != 20 {
		t.Errorf("%d slots are named", len(slots))
	}

	w = newWriter()
	sent(domain.KindCampaign, oneExample(t, domain.KindCampaign, "preset"))
	cell := instance(t, oneExample(t, domain.KindCell, "plain")).(map[string]any)
	result := instance(t, []byte(cell["result"].(map[string]any)["bytes"].(string))).(map[string]any)
	result["runIds"] = list(70, func(i int) any { return fmt.Sprintf("%0240d", i) })
	result["cleanup"], result["caseId"] = strings.Repeat("c", 600), strings.Repeat("é", 300)
	cell["result"].(map[string]any)["bytes"] = string(printed(t, result))
	imported := sent(domain.KindCell, measuredAgain(t, printed(t, cell), nil))
	if data, ok := imported.Data.(*domain.CellImported); !ok || len(data.Result.RunIDs) != 64 {
		t.Errorf("%s %s: %+v", imported.Outcome, imported.Detail, imported.Data)
	}
}
