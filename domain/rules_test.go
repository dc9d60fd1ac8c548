package domain

import (
	"testing"

	"github.com/cockroachdb/errors"
)

func TestRulesOf(t *testing.T) {
	for _, v := range []int{-1, 0, RuleVersion + 1, 1 << 30} {
		if _, err := RulesOf(v); !errors.Is(err, ErrUnknownRules) || len(errors.GetAllHints(err)) == 0 {
			t.Errorf("version %d: %v", v, err)
		}
	}
	for v := 1; v <= RuleVersion; v++ {
		rules, err := RulesOf(v)
		if err != nil || rules.Decide == nil || rules.NewData == nil {
			t.Errorf("version %d: %+v: %v", v, rules, err)
		}
	}
}

// Decide takes the rules of the version it is told, and the decision says so.
func TestDecideByVersion(t *testing.T) {
	var later int
	t.Run("with another version", func(t *testing.T) {
		later = AddRulesForTest(t, &Rules{NewData: newDataV1, Decide: func(d *Decision, _ *Campaign, _ *Arrival) {
			d.reject(refuse(ReasonCampaignInvalid, "/x", "by the other version"))
		}})
		a := &Arrival{Seq: 1, Campaign: testCampaign, Kind: KindCampaign, Opening: testOpening("greeting")}
		for v, want := range map[int]Outcome{1: Accepted, later: Rejected} {
			d, err := Decide(v, nil, a)
			if err != nil || d.V != v || d.Outcome != want {
				t.Errorf("version %d: %+v: %v", v, d, err)
			}
		}
	})
	if _, err := Decide(later, nil, &Arrival{}); later != RuleVersion+1 || !errors.Is(err, ErrUnknownRules) {
		t.Errorf("version %d outlives its test: %v", later, err)
	}
}
