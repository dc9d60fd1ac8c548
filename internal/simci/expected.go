package simci

import (
	"strconv"

	"github.com/ledgerd/ledgerd/domain"
)

// Expected is what a campaign must come to when the whole plan was decided.
type Expected struct {
	ID       string
	Verdict  domain.VerdictWord
	Tally    domain.Tally
	Accepted uint64 // accepted decisions, the opening included

	Checkpoints Checkpoints
}

// Totals are what the whole plan must come to.
type Totals struct {
	Arrivals int
	Outcomes map[domain.Outcome]int
	Reasons  map[domain.Reason]int // of rejected ones
}

// Expected is what each campaign must come to, in the order of Campaigns.
func (ci *CI) Expected() []Expected { return append([]Expected(nil), ci.expected...) }

// Totals counts the answers that the plan must get.
func (ci *CI) Totals() Totals {
	totals := Totals{Arrivals: len(ci.steps), Outcomes: map[domain.Outcome]int{}, Reasons: map[domain.Reason]int{}}
	for i := range ci.steps {
		totals.Outcomes[ci.steps[i].outcome]++
		if ci.steps[i].reason != "" {
			totals.Reasons[ci.steps[i].reason]++
		}
	}
	return totals
}

// bill adds up what measurements report, in whole numbers.
type bill struct {
	tokens, micros          int64
	counted, reports, cells int64
}

func (b *bill) add(m *measurement, by int64) {
	b.cells += by
	if m.tokens != nil {
		b.counted += by
		b.tokens += by * *m.tokens
	}
	if m.micros != nil {
		b.reports += by
		b.micros += by * *m.micros
	}
}

func (b *bill) spend() domain.Spend {
	spend := domain.Spend{Reported: b.reports, Cells: b.cells}
	if b.counted > 0 {
		tokens := strconv.FormatInt(b.tokens, 10)
		spend.Tokens = &tokens
	}
	if b.reports > 0 {
		cost := dollars(b.micros)
		spend.CostUSD = &cost
	}
	return spend
}

// expect follows the plan: what the recipes say is accepted counts.
func (ci *CI) expect() {
	type account struct{ spent, effective bill }
	accounts := make([]account, len(ci.campaigns))
	ci.expected = make([]Expected, len(ci.campaigns))
	for i := range ci.expected {
		ci.expected[i].ID = ci.campaigns[i].id
		ci.expected[i].Tally.Selected = int64(len(ci.campaigns[i].troubles))
	}
	for i := range ci.steps {
		s := &ci.steps[i]
		if s.outcome != domain.Accepted {
			continue
		}
		e, a := &ci.expected[s.campaign], &accounts[s.campaign]
		e.Accepted++
		switch s.act {
		case publishCell:
			m := ci.measurementAt(s.at)
			a.spent.add(m, 1)
			a.effective.add(m, 1)
			e.count(m, 1)
		case publishVoid:
			m := ci.measurementAt(s.at)
			a.effective.add(m, -1)
			e.count(m, -1)
		}
	}
	ci.expectCheckpoints()
	for i := range ci.expected {
		ci.expected[i].conclude(accounts[i].spent.spend(), accounts[i].effective.spend())
	}
}

func (e *Expected) count(m *measurement, by int64) {
	if m.status == passed && m.cleanup == passed {
		e.Tally.Passed += by
	} else {
		e.Tally.Failed += by
	}
}

func (e *Expected) conclude(spent, effective domain.Spend) {
	e.Tally.Missing = e.Tally.Selected - e.Tally.Passed - e.Tally.Failed
	e.Tally.Spent, e.Tally.Effective = spent, effective
	switch {
	case e.Tally.Failed > 0:
		e.Verdict = domain.NotQualified
	case e.Tally.Missing > 0:
		e.Verdict = domain.Incomplete
	default:
		e.Verdict = domain.Qualified
	}
}
