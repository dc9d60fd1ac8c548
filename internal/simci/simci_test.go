package simci_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/archive"
	"github.com/ledgerd/ledgerd/internal/simci"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// everything is a digest of all that a CI publishes and expects.
func everything(ci *simci.CI) string {
	digest := sha256.New()
	for a := range ci.Arrivals() {
		fmt.Fprintf(digest, "%d %s %s %s %+v %s\n", a.Index, a.Campaign, a.Kind, a.ID, a.Want, a.Body)
	}
	for _, e := range ci.Expected() {
		fmt.Fprintf(digest, "%s %s %d %d %+v\n", e.ID, e.Verdict, e.Tally.Passed, e.Accepted, e.Checkpoints)
	}
	return fmt.Sprintf("%x", digest.Sum(nil))
}

func TestSameNumberSameBytes(t *testing.T) {
	seen := map[string]uint64{}
	for seed := range uint64(3) {
		config := simci.Demo(seed)
		first, second := everything(newCI(t, config)), everything(newCI(t, config))
		if first != second {
			t.Errorf("number %d gives two plans", seed)
		}
		if before, ok := seen[first]; ok {
			t.Errorf("numbers %d and %d give one plan", before, seed)
		}
		seen[first] = seed
	}
}

func TestArrivalsAreMadeAloneAndTogether(t *testing.T) {
	ci, fresh := newCI(t, simci.Demo(1)), newCI(t, simci.Demo(1))
	ids := map[string]bool{}
	var all []simci.Arrival
	for a := range ci.Arrivals() {
		all = append(all, a)
		ids[a.ID] = true
	}
	if len(all) != ci.Len() || len(ids) != len(all) {
		t.Fatalf("%d arrivals with %d ids; want %d", len(all), len(ids), ci.Len())
	}
	done := make(chan string)
	for worker := range 4 {
		go func() {
			for i := len(all) - 1 - worker; i >= 0; i -= 4 {
				if diff := cmp.Diff(all[i], fresh.At(i)); diff != "" {
					done <- diff
					return
				}
			}
			done <- ""
		}()
	}
	for range 4 {
		if diff := <-done; diff != "" {
			t.Error(diff)
		}
	}
	for a := range ci.Arrivals() {
		if a.Index == 3 {
			break // whoever stops early is obeyed
		}
	}
}

func TestWhatIsWrittenReadsBackTheSame(t *testing.T) {
	for name, config := range map[string]simci.Config{
		"demo":   simci.Demo(1),
		"stored": {Seed: 2, Scenarios: 15, CellsPerJob: 7, CellBytes: 8_000, Stored: true, Troubles: simci.EachTrouble()},
		"broken": {Seed: 3, Scenarios: 12, Troubles: simci.Troubles{simci.NotJSON: 20, simci.Edited: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			ci, dir := newCI(t, config), t.TempDir()
			artifacts, err := ci.WriteArtifacts(context.Background(), dir)
			if err != nil {
				t.Fatal(err)
			}
			checkFiles(t, ci, artifacts)
			i := 0
			for got, err := range newCI(t, config).ArrivalsFrom(context.Background(), dir) {
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(ci.At(i), got); diff != "" {
					t.Fatalf("arrival %d: %s", i, diff)
				}
				i++
			}
			if i != ci.Len() {
				t.Fatalf("%d arrivals; want %d", i, ci.Len())
			}
		})
	}
}

// checkFiles reads every artifact as a producer does.
func checkFiles(t *testing.T, ci *simci.CI, artifacts []simci.Artifact) {
	t.Helper()
	cells, broken := 0, 0
	for _, a := range artifacts {
		options := archive.Options{Documents: archive.Documents(ci.Policy().Documents), PathPrefix: ci.Policy().ResultsPrefix}
		read, err := archive.Open(context.Background(), a.Archive, options)
		if a.AnyContent {
			broken++
			if !errors.Is(err, archive.ErrArchiveDocument) {
				t.Errorf("%s has a broken document, and reading says %v", a.Archive, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(read.Executions) != a.Executions {
			t.Errorf("%s has %d executions; want %d", a.Archive, len(read.Executions), a.Executions)
		}
		cells += len(read.Executions)
	}
	if cells == 0 || broken == 0 {
		t.Errorf("%d cells and %d broken artifacts were written", cells, broken)
	}
}

func TestArtifactsOfAnotherPlanAreRefused(t *testing.T) {
	ci, dir := newCI(t, simci.Demo(1)), t.TempDir()
	artifacts, err := ci.WriteArtifacts(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	read := func() (err error) {
		for _, err = range ci.ArrivalsFrom(context.Background(), dir) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	first := artifacts[0]
	whole, err := os.ReadFile(first.Archive)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(artifacts[1].Archive)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		name string
		raw  []byte
		want error
	}{
		"another archive":    {first.Archive, other, simci.ErrArtifacts},
		"a cut archive":      {first.Archive, whole[:len(whole)-30], archive.ErrArchiveTruncated},
		"a cut provenance":   {first.Provenance, []byte("{"), simci.ErrArtifacts},
		"another provenance": {first.Provenance, []byte(`{"archiveSha256":""}`), simci.ErrArtifacts},
	} {
		before, err := os.ReadFile(c.name)
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range [][]byte{c.raw, before} {
			if err := os.WriteFile(c.name, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := read(); bytes.Equal(raw, before) != (err == nil) || err != nil && !errors.Is(err, c.want) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ci.WriteArtifacts(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("writing after the end: %v", err)
	}
	for _, err := range ci.ArrivalsFrom(ctx, dir) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("reading after the end: %v", err)
		}
	}
	if _, err := ci.WriteArtifacts(context.Background(), filepath.Join(first.Archive, "below-a-file")); err == nil {
		t.Error("artifacts were written below a file")
	}
}

func TestCellBytes(t *testing.T) {
	for _, want := range []int{6_000, 20_000} {
		total, cells := 0, 0
		for a := range newCI(t, simci.Config{CellBytes: want, Stored: true, Scenarios: 30}).Arrivals() {
			if a.Kind == domain.KindCell {
				total, cells = total+len(a.Body), cells+1
			}
		}
		if mean := total / cells; mean < want*9/10 || mean > want*11/10 {
			t.Errorf("cells have %d bytes; want about %d", mean, want)
		}
	}
}

func TestConfigurationsThatCannotBe(t *testing.T) {
	holes := simci.Preset()
	holes.Repository = ""
	patterns := simci.Preset()
	patterns.Documents.Result = "*.json"
	same := simci.Preset()
	same.Documents.Result = "host.json"
	long := simci.Preset()
	long.ProfileID = string(bytes.Repeat([]byte("p"), domain.MaxIDBytes))
	many := simci.Preset()
	for ordinal := int64(3); ordinal <= 10; ordinal++ {
		many.Ordinals = append(many.Ordinals, ordinal)
	}
	for what, config := range map[string]simci.Config{
		"campaigns":         {Campaigns: simci.MaxCampaigns + 1},
		"no campaigns":      {Campaigns: -1},
		"scenarios":         {Scenarios: domain.MaxScenarios + 1},
		"jobs":              {CellsPerJob: -1},
		"cell bytes":        {CellBytes: simci.MaxCellBytes + 1},
		"negative bytes":    {CellBytes: -1},
		"policy with holes": {Policy: holes},
		"patterns":          {Policy: patterns},
		"one name":          {Policy: same},
		"long ids":          {Policy: long},
		"campaign too long": {Policy: many, Scenarios: 1000},
		"prefix":            {Prefix: "chat review"},
		"troubles":          {Scenarios: 1, Troubles: simci.Troubles{simci.Late: 2, simci.Early: 1}},
		"negative troubles": {Troubles: simci.Troubles{simci.Late: -1}},
		"no trouble":        {Troubles: simci.Troubles{simci.None: 1}},
		"unknown trouble":   {Troubles: simci.Troubles{200: 1}},
	} {
		if _, err := simci.New(config); !errors.Is(err, simci.ErrConfig) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, config := range map[string]simci.Config{
		"campaigns":  {Campaigns: simci.MaxCampaigns, Scenarios: 1},
		"cell bytes": {CellBytes: simci.MaxCellBytes, Scenarios: 1},
		"troubles":   {Scenarios: 1, Troubles: simci.Troubles{simci.Late: 2}},
	} {
		ci := newCI(t, config)
		if a := ci.At(1); len(a.Body) > events.MaxArrivalBytes {
			t.Errorf("%s: an arrival of %d bytes", what, len(a.Body))
		}
	}
}

func TestCellAlone(t *testing.T) {
	const campaign, scenario = "chat-review", "tool-approval"
	decideBoth := func(cells ...*simci.Evidence) (decisions []*domain.Decision) {
		l := &ledger{states: map[string]*domain.Campaign{}}
		d := l.decide(t, simci.Arrival{Campaign: campaign, Kind: domain.KindCampaign, Body: simci.Opening(campaign, scenario, "greeting")})
		if d.Outcome != domain.Accepted {
			t.Fatalf("the opening: %s %s", d.Reason, d.Detail)
		}
		for _, cell := range cells {
			decisions = append(decisions, l.decide(t, simci.Arrival{Campaign: campaign, Kind: domain.KindCell, Body: cell.Body()}))
		}
		return decisions
	}
	for what, c := range map[string]struct {
		cell   *simci.Evidence
		reason domain.Reason
	}{
		"plain":      {simci.Cell(campaign, scenario, 1), ""},
		"again":      {simci.Cell(campaign, scenario, 2, simci.Run("again")), ""},
		"large":      {simci.Cell(campaign, scenario, 1, simci.Transcript(5_000), simci.Usage(5, 1_500_000)), ""},
		"failed":     {simci.Cell(campaign, scenario, 1, simci.Status("failed", "failed"), simci.NoUsage()), ""},
		"re-run":     {simci.Cell(campaign, scenario, 1, simci.RunAttempt(2)), domain.ReasonArtifactIdentityInvalid},
		"branch":     {simci.Cell(campaign, scenario, 1, simci.Branch("refs/heads/other")), domain.ReasonForeignWorkflow},
		"unselected": {simci.Cell(campaign, scenario, 1, simci.Execution("other")), domain.ReasonExecutionNotSelected},
		"ordinal":    {simci.Cell(campaign, scenario, 3), domain.ReasonExecutionNotSelected},
		"campaign":   {simci.Cell("other", scenario, 1), domain.ReasonTargetSourceMismatch},
	} {
		if d := decideBoth(c.cell)[0]; d.Reason != c.reason || (d.Outcome == domain.Accepted) != (c.reason == "") {
			t.Errorf("%s: %s %s (%s)", what, d.Outcome, d.Reason, d.Detail)
		}
	}
	plain := simci.Cell(campaign, scenario, 1)
	decisions := decideBoth(plain, plain, simci.Cell(campaign, scenario, 1, simci.Run("again")))
	if decisions[1].Outcome != domain.Duplicate || decisions[2].Reason != domain.ReasonMeasurementConflict {
		t.Errorf("again: %s; another run: %s", decisions[1].Outcome, decisions[2].Reason)
	}
	imported := decisions[0].Data.(*domain.CellImported)
	if imported.Cell.ImportKey != plain.ImportKey() {
		t.Errorf("imported as %s; want %s", imported.Cell.ImportKey, plain.ImportKey())
	}
	policy := simci.Preset()
	intent := domain.NewIntent(campaign, simci.Revision(campaign), []domain.Selection{{
		ScenarioID: scenario, ExecutionID: simci.ExecutionID(policy, scenario, 1), RemoteOrdinal: 1}})
	measured, refusal := domain.ValidateCell(intent, policy, simci.Cell(campaign, scenario, 1, simci.Usage(5, 1_500_000)).Decoded())
	if refusal != nil || *measured.Usage.Tokens != 5 || *measured.Usage.CostUSD != 1.5 {
		t.Errorf("%+v, %v", measured, refusal)
	}
}

func TestLargePlan(t *testing.T) {
	ci := newCI(t, simci.Config{Campaigns: 100, Scenarios: 1000, CellBytes: 6_000, Stored: true, Troubles: simci.Share(2_000, 20)})
	if ci.Len() < 200_000 {
		t.Fatalf("%d arrivals", ci.Len())
	}
	l := &ledger{states: map[string]*domain.Campaign{}}
	for a := range ci.Arrivals() {
		if a.Index == 300 {
			break
		}
		// In the order of the plan, so that early arrivals are early here too.
		if d := l.decide(t, a); d.Outcome != a.Want.Outcome || d.Reason != a.Want.Reason {
			t.Fatalf("arrival %d is %s %s; want %+v", a.Index, d.Outcome, d.Reason, a.Want)
		}
	}
}

func BenchmarkArrivals(b *testing.B) {
	for name, stored := range map[string]bool{"stored": true, "packed": false} {
		b.Run(name, func(b *testing.B) {
			ci := newCI(b, simci.Config{Scenarios: 1000, CellBytes: 6_000, Stored: stored})
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if a := ci.At(1 + i%2_000); len(a.Body) == 0 {
					b.Fatal("no body")
				}
				i++
			}
		})
	}
}
