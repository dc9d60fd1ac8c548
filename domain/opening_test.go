package domain

import (
	"fmt"
	"strings"
	"testing"
)

func TestInvalidCampaigns(t *testing.T) {
	withPolicy := func(change func(*Policy)) func(*Opening) {
		return func(o *Opening) {
			policy, _ := Preset(PresetPaperclipChat)
			change(policy)
			o.Policy, o.PolicyPreset = policy, ""
		}
	}
	for _, test := range []struct {
		name   string
		change func(*Opening)
		field  string // "" : valid
	}{
		{"as it is", func(*Opening) {}, ""},
		{"no revision", func(o *Opening) { o.SourceRevision = "main" }, "/sourceRevision"},
		{"label as long as it may be", func(o *Opening) { o.Label = strings.Repeat("x", MaxLabelBytes) }, ""},
		{"label too long", func(o *Opening) { o.Label = strings.Repeat("x", MaxLabelBytes+1) }, "/label"},
		{"unknown preset", func(o *Opening) { o.PolicyPreset = "nobody" }, "/policyPreset"},
		{"no scenario", func(o *Opening) { o.Scenarios = nil }, "/scenarios"},
		{"scenario twice", func(o *Opening) { o.Scenarios[1].ID = o.Scenarios[0].ID }, "/scenarios/1/id"},
		{"scenario without id", func(o *Opening) { o.Scenarios[1].ID = "" }, "/scenarios/1/id"},
		{"scenario with a line break", func(o *Opening) { o.Scenarios[1].ID = "a\nb" }, "/scenarios/1/id"},
		{"digest that is none", func(o *Opening) { o.Scenarios[0].GraderDigest = "abc" }, "/scenarios/0/graderDigest"},
		{"no selection", func(o *Opening) { o.Selected = nil }, "/selected"},
		{"execution twice", func(o *Opening) { o.Selected[1].ExecutionID = o.Selected[0].ExecutionID }, "/selected/1/executionId"},
		{"slot twice", func(o *Opening) { o.Selected[1].RemoteOrdinal = 1 }, "/selected/1"},
		{"unknown scenario", func(o *Opening) { o.Selected[1].ScenarioID = "nobody" }, "/selected/1/scenarioId"},
		{"foreign ordinal", func(o *Opening) { o.Selected[1].RemoteOrdinal = 3 }, "/selected/1/remoteOrdinal"},
		{"scenario without selection", func(o *Opening) { o.Selected = o.Selected[:2] }, "/scenarios/1"},
		{"execution id as long as it may be", func(o *Opening) { o.Selected[0].ExecutionID = strings.Repeat("x", MaxIDBytes) }, ""},
		{"execution id too long", func(o *Opening) { o.Selected[0].ExecutionID = strings.Repeat("x", MaxIDBytes+1) }, "/selected/0/executionId"},
		{"negative budget", func(o *Opening) { o.Budget = &Budget{CostUSD: -1} }, "/budget/costUsd"},
		{"budget", func(o *Opening) { o.Budget = &Budget{CostUSD: 0} }, ""},
		{"policy with a hole", withPolicy(func(p *Policy) { p.Host.Region = "" }), "/policy/host/region"},
		{"policy without ordinals", withPolicy(func(p *Policy) { p.Ordinals = nil }), "/policy/ordinals"},
		{"policy with ordinal 0", withPolicy(func(p *Policy) { p.Ordinals = []int64{1, 2, 0} }), "/policy/ordinals/2"},
		{"policy with an ordinal twice", withPolicy(func(p *Policy) { p.Ordinals = []int64{1, 2, 1} }), "/policy/ordinals/2"},
		{"policy without images", withPolicy(func(p *Policy) { p.Database.ImageIDs = nil }), "/policy/database/imageIds"},
		{"policy with a bad pattern", withPolicy(func(p *Policy) { p.Documents.Host = "[" }), "/policy/documents/host"},
		{"policy with a pattern of folders", withPolicy(func(p *Policy) { p.Documents.Host = "a/*.json" }), "/policy/documents/host"},
		{"scenario passes", withPolicy(func(p *Policy) { p.Qualifies = &Qualifies{ScenarioPasses: pointerTo(int64(2))} }), ""},
		{"no scenario passes", withPolicy(func(p *Policy) { p.Qualifies = &Qualifies{ScenarioPasses: pointerTo(int64(0))} }), "/policy/qualifies/scenarioPasses"},
		{"more scenario passes than ordinals", withPolicy(func(p *Policy) { p.Qualifies = &Qualifies{ScenarioPasses: pointerTo(int64(3))} }), "/policy/qualifies/scenarioPasses"},
		{"a pass rate of 1", withPolicy(func(p *Policy) { p.Qualifies = &Qualifies{PassRate: pointerTo(1.0)} }), ""},
		{"a pass rate of six decimals", withPolicy(func(p *Policy) { p.Qualifies = &Qualifies{PassRate: pointerTo(0.123456)} }), ""},
		{"a pass rate of seven decimals", withPolicy(func(p *Policy) { p.Qualifies = &Qualifies{PassRate: pointerTo(0.1234567)} }), "/policy/qualifies/passRate"},
		{"a pass rate of 0", withPolicy(func(p *Policy) { p.Qualifies = &Qualifies{PassRate: pointerTo(0.0)} }), "/policy/qualifies/passRate"},
		{"a pass rate above 1", withPolicy(func(p *Policy) { p.Qualifies = &Qualifies{PassRate: pointerTo(1.000001)} }), "/policy/qualifies/passRate"},
		{"a disclosure that is none", withPolicy(func(p *Policy) { p.VoidedFailures = "hide" }), "/policy/voidedFailures"},
		{"bounds upside down", withPolicy(func(p *Policy) { p.Plausible = &Plausible{CostUSD: Range{2, 1}, Tokens: Range{0, 1}} }), "/policy/plausible/costUsd"},
		{"bounds below 0", withPolicy(func(p *Policy) { p.Plausible = &Plausible{CostUSD: Range{0, 1}, Tokens: Range{-1, 1}} }), "/policy/plausible/tokens"},
		{"fewer slots of a scenario than must pass", func(o *Opening) {
			withPolicy(func(p *Policy) { p.Qualifies = &Qualifies{ScenarioPasses: pointerTo(int64(2))} })(o)
			o.Selected = o.Selected[:3]
		}, "/policy/qualifies/scenarioPasses"},
		{"policy with all ordinals it may have", withPolicy(func(p *Policy) { p.Ordinals = ordinals(MaxOrdinals) }), ""},
		{"policy with too many ordinals", withPolicy(func(p *Policy) { p.Ordinals = ordinals(MaxOrdinals + 1) }), "/policy/ordinals"},
	} {
		t.Run(test.name, func(t *testing.T) {
			opening := testOpening("greeting", "approval")
			test.change(opening)
			expanded, refusal := opening.Expand(testCampaign)
			switch {
			case test.field == "" && refusal != nil:
				t.Errorf("refused: %+v", refusal)
			case test.field == "" && (expanded.PolicyPreset != "" || expanded.Policy == nil):
				t.Errorf("not expanded: %+v", expanded)
			case test.field != "" && (refusal == nil || refusal.Reason != ReasonCampaignInvalid || refusal.Field != test.field):
				t.Errorf("got %+v, want %s", refusal, test.field)
			}
		})
	}
}

func ordinals(n int) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(i) + 1
	}
	return list
}

func TestCampaignSizesAtTheirEdges(t *testing.T) {
	for n, valid := range map[int]bool{MaxScenarios: true, MaxScenarios + 1: false} {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("s%d", i)
		}
		if _, refusal := testOpening(names...).Expand(testCampaign); (refusal == nil) != valid {
			t.Errorf("%d scenarios: %+v", n, refusal)
		}
	}
	opening := testOpening("a")
	opening.Selected = make([]Selection, MaxSelections+1)
	if _, refusal := opening.Expand(testCampaign); refusal == nil || refusal.Field != "/selected" {
		t.Errorf("%d selections: %+v", MaxSelections+1, refusal)
	}
}

func TestACampaignThatFitsNoRecordIsRefused(t *testing.T) {
	l := newLedger(t)
	var names []string
	for i := range MaxScenarios {
		names = append(names, fmt.Sprintf("%d-%s", i, strings.Repeat("x", MaxIDBytes-8)))
	}
	opening := testOpening(names...)
	for i := range opening.Selected {
		opening.Selected[i].ExecutionID = fmt.Sprintf("%d-%s", i, strings.Repeat("y", MaxIDBytes-8))
	}
	for i := range opening.Scenarios {
		opening.Scenarios[i].Label = strings.Repeat("z", MaxLabelBytes)
	}
	l.want(l.opening(opening), Rejected, ReasonCampaignInvalid)
	if l.state() != nil {
		t.Error("a refused campaign is open")
	}
}

func TestExpandChangesNothingOfTheArrival(t *testing.T) {
	opening := testOpening("a")
	preset, _ := Preset(PresetPaperclipChat)
	preset.Documents, preset.Provenance = Documents{}, nil
	opening.Policy, opening.PolicyPreset = preset, ""
	before := string(opening.Canonical())
	if _, refusal := opening.Expand(testCampaign); refusal != nil {
		t.Fatal(refusal)
	}
	if after := string(opening.Canonical()); after != before {
		t.Errorf("%s\nbecame %s", before, after)
	}
}
