package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/internal/simci"
)

// attack publishes, by the real binaries, what a team does that wants a better
// verdict than it measured: fail, void, fail, void, pass, seal; two failures
// under the passing cell's own slot; a cost that nobody can believe. It gives the
// campaign's id and its import keys that were voided.
func attack(t *testing.T, dataDir, campaign, voidedFailures string) (voided []string) {
	t.Helper()
	publish := func(kind domain.Kind, data []byte) answer {
		line := fmt.Sprintf(`{"campaign":%q,"kind":%q,"data":%s}`+"\n", campaign, kind, data)
		out, stderr, code := runBinary(t, line, "ingest", "publish", "-", "--wait", "--data-dir", dataDir)
		if code != 0 && code != 3 { // 3: it was rejected
			t.Fatalf("%s: exit code %d: %s%s", kind, code, out, stderr)
		}
		return answers(t, out)[0]
	}
	opening := openingWith(t, campaign, voidedFailures)
	publish(domain.KindCampaign, opening)
	want := func(a answer, outcome domain.Outcome) {
		if a.Outcome != outcome {
			t.Fatalf("%+v, want %s", a, outcome)
		}
	}
	want(publish(domain.KindCell, simci.Cell(campaign, "one", 1, simci.Usage(10, 300_000)).Body()), domain.Accepted)
	for _, run := range []string{"first", "second"} {
		cell := simci.Cell(campaign, "one", 2, simci.Run(run), simci.Status("failed", "passed"), simci.Usage(10, 200_000))
		want(publish(domain.KindCell, cell.Body()), domain.Accepted)
		key := cell.Provenance.RunID + "/1/" + cell.Execution.ExecutionID
		out, stderr, code := runBinary(t, "", "ingest", "void", key, "--campaign", campaign, "--actor", "bob", "--reason", "flaky "+run, "--wait", "--data-dir", dataDir)
		if code != 0 {
			t.Fatalf("void: exit code %d: %s%s", code, out, stderr)
		}
		voided = append(voided, key)
	}
	want(publish(domain.KindCell, simci.Cell(campaign, "one", 2, simci.Run("third"), simci.Usage(10, 10_001_000_000)).Body()), domain.Accepted)
	for i, micros := range []int64{40_000_000, 41_000_000} {
		cell := simci.Cell(campaign, "one", 1, simci.Run(fmt.Sprint("again", i)), simci.Status("failed", "passed"), simci.Usage(10, micros))
		want(publish(domain.KindCell, cell.Body()), domain.Rejected)
	}
	out, stderr, code := runBinary(t, "", "ingest", "campaign", "seal", campaign, "--actor", "bob", "--wait", "--data-dir", dataDir)
	if code != 0 {
		t.Fatalf("seal: exit code %d: %s%s", code, out, stderr)
	}
	return voided
}

// openingWith is the simulated opening with a policy that says what voided
// failures do.
func openingWith(t *testing.T, campaign, voidedFailures string) []byte {
	t.Helper()
	var opening map[string]any
	if err := json.Unmarshal(simci.Opening(campaign, "one"), &opening); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(simci.Preset())
	if err != nil {
		t.Fatal(err)
	}
	var policy map[string]any
	if err := json.Unmarshal(raw, &policy); err != nil {
		t.Fatal(err)
	}
	policy["voidedFailures"] = voidedFailures
	delete(opening, "policyPreset")
	opening["policy"], opening["budget"] = policy, map[string]any{"costUsd": 0.5}
	ordinals := opening["selected"].([]any)[:2]
	opening["selected"] = ordinals
	if raw, err = json.Marshal(opening); err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestAVerdictCannotBeFlattered: wherever somebody looks, what was taken back,
// refused and spent stands beside the word.
func TestAVerdictCannotBeFlattered(t *testing.T) {
	dataDir := t.TempDir()
	daemon := startProcess(t, "--data-dir", dataDir).awaitReady(t)
	for voidedFailures, word := range map[string]string{"disclose": "qualified", "disqualify": "not_qualified"} {
		campaign := "cherry-" + voidedFailures
		voided := attack(t, dataDir, campaign, voidedFailures)

		table, stderr, code := runBinary(t, "", "ledgerd", "query", "campaign", campaign, "--data-dir", dataDir)
		if code != 0 {
			t.Fatalf("query: %s", stderr)
		}
		shows(t, "the table", table, "verdict    "+word, "2 × cell_voided: one/2", "2 × failed_cell_voided: one/2", "2 × failed_cell_refused", "over_budget",
			"voided     2 (2 failed)", `one/2 (failed) by "bob": "flaky second"`, "refused    2 cells (2 failed)")

		response, err := http.Get(daemon.http + "/v1/campaigns/" + campaign)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var answer struct {
			Item struct {
				Verdict string                 `json:"verdict"`
				Reasons []domain.VerdictReason `json:"reasons"`
			} `json:"item"`
		}
		if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Item.Verdict != word {
			t.Errorf("HTTP: %+v: %v", answer, err)
		}

		file := filepath.Join(t.TempDir(), "bundle")
		if _, stderr, code := runBinary(t, "", "ledgerd", "bundle", campaign, "-o", file, "--data-dir", dataDir); code != 0 {
			t.Fatalf("bundle: %s", stderr)
		}
		key, stderr, code := runBinary(t, "", "ledgerd", "tree", "key", "--data-dir", dataDir)
		if code != 0 {
			t.Fatalf("key: %s", stderr)
		}
		proven, stderr, code := runBinary(t, "", "ledgerd", "receipt", "verify", file, "--key", strings.TrimSpace(key))
		if code != 0 {
			t.Fatalf("receipt verify: exit code %d: %s", code, stderr)
		}
		shows(t, "the bundle", proven, "is "+word+",", "2 × failed_cell_voided", `voided one/2 (failed) by "bob": "flaky first"`, `"flaky second"`,
			"2 voided (2 failed)", "2 refused (2 failed)", "counted ≥ $0.3, voided $0.4, refused $81")
		out, _, _ := runBinary(t, "", "ledgerd", "receipt", "verify", file, "--key", strings.TrimSpace(key), "--json")
		var bundle verifiedBundle
		if err := json.Unmarshal([]byte(out), &bundle); err != nil || !bundle.Sealed || len(bundle.Tally.Voids) != 2 || bundle.Tally.Voids[1].ImportKey != voided[1] {
			t.Errorf("%v: %s", err, out)
		}
	}
	daemon.stop(t)
	for _, check := range []string{"verify", "replay"} {
		if out, stderr, code := runBinary(t, "", "ledgerd", check, "--data-dir", dataDir); code != 0 {
			t.Errorf("%s: exit code %d: %s%s", check, code, out, stderr)
		}
	}
}

func shows(t *testing.T, where, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("%s does not show %q:\n%s", where, want, text)
		}
	}
}
