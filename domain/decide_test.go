package domain

import (
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
)

func TestUnknownCampaignTakesOnlyOpenings(t *testing.T) {
	l := newLedger(t)
	l.want(l.cell(newCell("greeting", 1)), Rejected, ReasonCampaignUnknown)
	l.want(l.void("1/1/x"), Rejected, ReasonCampaignUnknown)
	d := l.want(l.seal(), Rejected, ReasonCampaignUnknown)
	if d.Accepted != nil || d.CampaignIndex != nil || d.Data != nil || l.state() != nil {
		t.Errorf("an unknown campaign has state: %+v", d)
	}
	l.want(l.opening(testOpening("greeting")), Accepted, "")
	l.want(l.cell(newCell("greeting", 1)), Accepted, "") // the same fact, after opening
}

func TestMalformedComesBeforeEverything(t *testing.T) {
	l := openLedger(t)
	d := l.decide(&Arrival{Kind: KindCell, Malformed: refuse(ReasonArrivalMalformed, "/result", "no")})
	l.want(d, Rejected, ReasonArrivalMalformed)
	if d.Field != "/result" || d.Detail != "no" || *d.Accepted != 1 {
		t.Errorf("%+v", d)
	}
}

func TestOpeningAgain(t *testing.T) {
	l := openLedger(t)
	again := l.want(l.opening(testOpening("greeting", "approval")), Duplicate, "")
	if *again.Repeats != 0 {
		t.Errorf("repeats %d", *again.Repeats)
	}
	preset, _ := Preset(PresetPaperclipChat)
	spelledOut := testOpening("greeting", "approval")
	spelledOut.PolicyPreset, spelledOut.Policy = "", preset
	l.want(l.opening(spelledOut), Duplicate, "")
	preset.Documents, preset.Provenance = Documents{}, nil
	l.want(l.opening(spelledOut), Duplicate, "") // the defaults say the same
	l.want(l.opening(testOpening("greeting")), Rejected, ReasonCampaignAlreadyOpen)
	l.want(l.opening(&Opening{}), Rejected, ReasonCampaignAlreadyOpen)
}

func TestCellAgainIsADuplicate(t *testing.T) {
	l := openLedger(t)
	first := l.want(l.cell(newCell("greeting", 1)), Accepted, "")
	again := l.want(l.cell(newCell("greeting", 1)), Duplicate, "")
	if *again.Repeats != first.Index || *again.Accepted != *first.Accepted {
		t.Errorf("%+v", again)
	}
}

func TestConflictsAreNamedByWhatCollides(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*testCell)
		field  string
	}{
		{"same keys, other bytes", func(c *testCell) { c.set("result.note", "edited") }, "/importKey"},
		{"same keys, other archive", func(c *testCell) { c.provenance.ArchiveSHA256 = digestOf("other") }, "/importKey"},
		{"same import key, other measurement", func(c *testCell) { c.set("result.accountingIdentity.campaignId", "framework-2") }, "/importKey"},
		{"same measurement, other run", rerun, "/measurementKey"},
		{"same slot, other run and measurement", func(c *testCell) {
			rerun(c)
			c.set("result.accountingIdentity.campaignId", "framework-2")
		}, "/ordinal"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := openLedger(t)
			l.want(l.cell(newCell("greeting", 1)), Accepted, "")
			other := newCell("greeting", 1)
			test.change(other)
			d := l.want(l.cell(other), Rejected, ReasonMeasurementConflict)
			if d.Field != test.field {
				t.Errorf("field %q, want %q", d.Field, test.field)
			}
		})
	}
}

// rerun moves a cell to another CI run.
func rerun(c *testCell) {
	c.provenance.RunID = "777"
	c.set("host.workflowRunId", "777").set("result.source.workflowRunUrl", "https://github.com/paperclipai/paperclip/actions/runs/777")
}

func TestVoidFreesTheSlotAndKeepsTheKeys(t *testing.T) {
	l := openLedger(t)
	l.want(l.void(importKey("greeting", 1)), Rejected, ReasonImportUnknown)
	l.want(l.cell(newCell("greeting", 1)), Accepted, "")
	voided := l.want(l.void(importKey("greeting", 1)), Accepted, "")
	again := l.want(l.void(importKey("greeting", 1)), Duplicate, "")
	if *again.Repeats != voided.Index {
		t.Errorf("repeats %d", *again.Repeats)
	}
	l.want(l.cell(newCell("greeting", 1)), Rejected, ReasonImportVoided)
	sameMeasurement := newCell("greeting", 1)
	rerun(sameMeasurement)
	l.want(l.cell(sameMeasurement), Rejected, ReasonImportVoided)
	fresh := newCell("greeting", 1)
	rerun(fresh)
	l.want(l.cell(fresh.set("result.accountingIdentity.campaignId", "framework-2")), Accepted, "")

	tally := l.state().Tally()
	if *tally.Spend.Voided.CostUSD != "0.1" || *tally.Spend.Counted.CostUSD != "0.1" || tally.Voided != 1 || tally.VoidedFailed != 0 || tally.Passed != 1 {
		t.Errorf("%+v", tally)
	}
}

func TestSealedCampaign(t *testing.T) {
	l := openLedger(t)
	l.want(l.cell(newCell("greeting", 1)), Accepted, "")
	l.want(l.cell(newCell("greeting", 2)), Accepted, "")
	l.want(l.void(importKey("greeting", 2)), Accepted, "")
	sealed := l.want(l.seal(), Accepted, "")
	if again := l.want(l.seal(), Duplicate, ""); *again.Repeats != sealed.Index {
		t.Errorf("repeats %d", *again.Repeats)
	}
	l.want(l.cell(newCell("greeting", 1)), Duplicate, "")
	l.want(l.cell(newCell("approval", 1)), Rejected, ReasonCampaignSealed)
	l.want(l.cell(newCell("greeting", 1).set("result.note", "edited")), Rejected, ReasonMeasurementConflict)
	l.want(l.cell(newCell("greeting", 2)), Rejected, ReasonImportVoided)
	l.want(l.void(importKey("greeting", 1)), Rejected, ReasonCampaignSealed)
	l.want(l.void(importKey("greeting", 2)), Duplicate, "")
	l.want(l.void("1/1/unknown"), Rejected, ReasonImportUnknown)
	l.want(l.opening(testOpening("greeting", "approval")), Duplicate, "")
	bad := newCell("approval", 1).set("definition.graderDigest", nil)
	l.want(l.cell(bad), Rejected, ReasonDefinitionMismatch) // gates come before the seal
}

func TestDefinitionDrift(t *testing.T) {
	l := newLedger(t)
	opening := testOpening("greeting")
	opening.Scenarios[0].GraderDigest = digestOf("grader")
	opening.Scenarios[0].DefinitionDigest = digestOf("another definition")
	l.want(l.opening(opening), Accepted, "")
	d := l.want(l.cell(newCell("greeting", 1)), Rejected, ReasonDefinitionDrift)
	if d.Field != "/definition/definitionDigest" {
		t.Errorf("field %q", d.Field)
	}
	l.want(l.cell(newCell("greeting", 1).set("definition.definitionDigest", digestOf("another definition"))), Accepted, "")
}

func TestVerdicts(t *testing.T) {
	l := newLedger(t)
	l.want(l.opening(testOpening("greeting")), Accepted, "")
	verdict := func(word VerdictWord, codes ...VerdictCode) {
		t.Helper()
		v := l.state().Verdict()
		var got []VerdictCode
		for _, reason := range v.Reasons {
			got = append(got, reason.Code)
		}
		if v.Word != word || len(got) != len(codes) {
			t.Fatalf("verdict %+v, want %s %v", v, word, codes)
		}
		for i := range codes {
			if got[i] != codes[i] {
				t.Errorf("reasons %v, want %v", got, codes)
			}
		}
	}
	verdict(Incomplete, CodeCellMissing)
	l.want(l.cell(newCell("greeting", 1).set("result.cleanup", "failed")), Accepted, "")
	verdict(NotQualified, CodeCleanupFailed, CodeCellMissing)
	l.want(l.cell(newCell("greeting", 2).set("result.status", "failed")), Accepted, "")
	verdict(NotQualified, CodeCellFailed, CodeCleanupFailed)
	l.want(l.void(importKey("greeting", 1)), Accepted, "")
	l.want(l.void(importKey("greeting", 2)), Accepted, "")
	verdict(Incomplete, CodeCellMissing, CodeCellVoided, CodeFailedCellVoided)
	for _, ordinal := range []int64{1, 2} {
		fresh := newCell("greeting", ordinal)
		rerun(fresh)
		l.want(l.cell(fresh.set("result.accountingIdentity.campaignId", "framework-2")), Accepted, "")
	}
	verdict(Qualified, CodeAllPassed, CodeCellVoided, CodeFailedCellVoided)
}

func TestSpendIsExact(t *testing.T) {
	l := newLedger(t)
	l.want(l.opening(testOpening("a", "b")), Accepted, "")
	l.want(l.cell(newCell("a", 1).set("result.billing", nil)), Accepted, "")
	if spent := l.state().Tally().Spend.Counted; spent.CostUSD != nil || spent.Tokens != nil || spent.Unknown != 1 || spent.Cells != 1 || spent.Complete {
		t.Errorf("unknown is not null: %+v", spent)
	}
	l.want(l.cell(newCell("a", 2)), Accepted, "")
	l.want(l.cell(newCell("b", 1).set("result.billing.llm.reportedCostUsd", 0.2)), Accepted, "")
	l.want(l.cell(newCell("b", 2).set("result.billing.llm.costStatus", "estimated")), Accepted, "")
	if spent := l.state().Tally().Spend.Counted; *spent.CostUSD != "0.3" || *spent.Tokens != "3000" || spent.Reported != 2 || spent.Cells != 4 {
		t.Errorf("0.1 + 0.2 is %v of %+v", *spent.CostUSD, spent)
	}
}

func TestRulesOfAnotherVersionAreRefused(t *testing.T) {
	if _, err := Decide(RuleVersion+1, nil, &Arrival{}); !errors.Is(err, ErrUnknownRules) {
		t.Errorf("got %v", err)
	}
}

func TestLongStringsAreCutAtTheEdge(t *testing.T) {
	l := openLedger(t)
	for _, n := range []int{MaxStringBytes, MaxStringBytes + 1} {
		d := l.decide(&Arrival{Kind: KindVoid, Void: &VoidRequest{ImportKey: "k", Actor: strings.Repeat("a", n), Reason: strings.Repeat("é", n)}})
		data := d.Data.(*VoidReference)
		if len(data.Actor) != MaxStringBytes || len(data.Reason) != MaxStringBytes || !strings.HasSuffix(data.Reason, "é") {
			t.Errorf("%d bytes are kept as %d and %d", n, len(data.Actor), len(data.Reason))
		}
	}
	if got := cut("x" + strings.Repeat("é", MaxStringBytes)); len(got) != MaxStringBytes-1 {
		t.Errorf("a rune is cut in half: %d bytes", len(got))
	}
}
