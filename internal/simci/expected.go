package simci

import (
	"strconv"

	"github.com/ledgerd/ledgerd/domain"
)

// Expected is what a campaign must come to when the whole plan was decided.
type Expected struct {
	ID       string
	Verdict  domain.VerdictWord
	Tally    domain.Tally // without what is counted of refused cells, and without the list of voids
	Accepted uint64       // accepted decisions, the opening included

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
	tokens, micros                    int64
	counted, reports, partials, cells int64
}

func (b *bill) add(m *measurement, by int64) {
	b.cells += by
	if m.tokens != nil {
		b.counted += by
		b.tokens += by * *m.tokens
	}
	if m.micros != nil {
		if m.coverage == partial {
			b.partials += by
		} else {
			b.reports += by
		}
		b.micros += by * *m.micros
	}
}

func (b *bill) spend() domain.Spend {
	spend := domain.Spend{Complete: b.reports == b.cells, Cells: b.cells, Reported: b.reports, Partial: b.partials,
		Unknown: b.cells - b.reports - b.partials, TokensComplete: b.counted == b.cells}
	if b.counted > 0 {
		tokens := strconv.FormatInt(b.tokens, 10)
		spend.Tokens = &tokens
	}
	if b.reports+b.partials > 0 {
		cost := dollars(b.micros)
		spend.CostUSD = &cost
	}
	return spend
}

// expect follows the plan: what the recipes say is accepted counts.
func (ci *CI) expect() {
	type account struct{ counted, voided bill }
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
			a.counted.add(m, 1)
			e.count(m, 1)
		case publishVoid:
			m := ci.measurementAt(s.at)
			a.counted.add(m, -1)
			a.voided.add(m, 1)
			e.count(m, -1)
			e.Tally.Voided++
			if m.status != passed || m.cleanup != passed {
				e.Tally.VoidedFailed++
			}
		}
	}
	ci.expectCheckpoints()
	for i := range ci.expected {
		ci.expected[i].conclude(accounts[i].counted.spend(), accounts[i].voided.spend())
	}
}

func (e *Expected) count(m *measurement, by int64) {
	if m.status == passed && m.cleanup == passed {
		e.Tally.Passed += by
	} else {
		e.Tally.Failed += by
	}
}

func (e *Expected) conclude(counted, voided domain.Spend) {
	e.Tally.Missing = e.Tally.Selected - e.Tally.Passed - e.Tally.Failed
	e.Tally.Spend = domain.TallySpend{Counted: counted, Voided: voided}
	switch {
	case e.Tally.Failed > 0:
		e.Verdict = domain.NotQualified
	case e.Tally.Missing > 0:
		e.Verdict = domain.Incomplete
	default:
		e.Verdict = domain.Qualified
	}
}
