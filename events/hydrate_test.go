package events_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest"
)

// history is a ledger of two campaigns, one decision a line. The number is the
// campaign's accepted count, - for none yet.
var history = []struct {
	campaign string
	kind     domain.Kind
	outcome  domain.Outcome
	accepted string
}{
	{"a", domain.KindCell, domain.Rejected, "-"},
	{"a", domain.KindCampaign, domain.Accepted, "1"},
	{"b", domain.KindSeal, domain.Rejected, "-"},
	{"a", domain.KindCell, domain.Accepted, "2"},
	{"b", domain.KindCampaign, domain.Accepted, "1"},
	{"a", domain.KindCell, domain.Duplicate, "2"},
	{"a", domain.KindCell, domain.Accepted, "3"},
	{"b", domain.KindCell, domain.Accepted, "2"},
	{"a", domain.KindVoid, domain.Accepted, "4"},
	{"a", domain.KindCell, domain.Rejected, "4"},
	{"b", domain.KindCell, domain.Rejected, "2"},
	{"a", domain.KindSeal, domain.Accepted, "5"},
	{"a", domain.KindCell, domain.Rejected, "5"},
}

// historyDecision is the decision at a sequence of history.
func historyDecision(seq uint64) *domain.Decision { return historyDecisions()[seq-1] }

func historyDecisions() []*domain.Decision {
	all := make([]*domain.Decision, len(history))
	last := map[string]*domain.Decision{} // of an open campaign
	for i := range all {
		d := historyRow(uint64(i + 1))
		if before := last[d.Campaign]; before != nil {
			d.CampaignIndex, d.CampaignPrev = ptr(*before.CampaignIndex+1), ptr(historyHash(before))
			d.Refused, d.RefusedFailed = ptr(*before.Refused), ptr(uint64(0))
			if d.Outcome == domain.Rejected {
				*d.Refused++
			}
		}
		if all[i] = d; d.Accepted != nil {
			last[d.Campaign] = d
		}
	}
	return all
}

// historyHash is the hash of a decision's record.
func historyHash(d *domain.Decision) string {
	record, err := events.EncodeRecord(d)
	if err != nil {
		panic(err)
	}
	return events.RecordHash(record)
}

// historyRow is a decision as if it were its campaign's first.
func historyRow(seq uint64) *domain.Decision {
	row := history[seq-1]
	d := decision(row.kind, row.outcome, nil)
	d.Index, d.Arrival.Seq, d.Campaign = seq-1, seq, row.campaign
	ofNone(d)
	if row.outcome == domain.Duplicate {
		d.Repeats = ptr(uint64(1))
	}
	if row.accepted != "-" {
		d.Accepted = ptr(uint64(row.accepted[0] - '0'))
		d.Refused, d.RefusedFailed, d.CampaignIndex, d.CampaignPrev = ptr(uint64(0)), ptr(uint64(0)), ptr(uint64(0)), ptr(events.GenesisHash)
	}
	if row.outcome == domain.Accepted {
		d.Data = historyData(row.kind, seq)
	}
	return d
}

func historyData(kind domain.Kind, seq uint64) domain.Data {
	switch kind {
	case domain.KindCampaign:
		return openedCampaign()
	case domain.KindCell:
		cell := importedCell()
		cell.Cell.ImportKey = fmt.Sprint("import/", seq)
		cell.Cell.MeasurementKey = fmt.Sprint("measurement/", seq)
		cell.Cell.Ordinal = int64(seq)
		return cell
	case domain.KindVoid:
		return &domain.VoidReference{ImportKey: "import/4"}
	default:
		return &domain.Seal{Verdict: domain.Verdict{Reasons: []domain.VerdictReason{}}}
	}
}

func historyLedger(t *testing.T) *eventstest.Log {
	t.Helper()
	ledger := eventstest.NewLedger()
	for i := range history {
		d := historyDecision(uint64(i + 1))
		record, err := events.EncodeRecord(d)
		if err != nil {
			t.Fatal(err)
		}
		ledger.Publish(events.NewDecisionMessage(d, record, "epoch", "host"))
	}
	return ledger
}

// TestHydrateIsTheFold: at every sequence, hydration gives what folding every
// decision so far gives.
func TestHydrateIsTheFold(t *testing.T) {
	ledger := historyLedger(t)
	for upTo := uint64(0); upTo <= uint64(len(history)); upTo++ {
		want := map[string]*domain.Campaign{}
		for seq := uint64(1); seq <= upTo; seq++ {
			d := historyDecision(seq)
			state, err := domain.Fold(want[d.Campaign], d, historyHash(d))
			if err != nil {
				t.Fatal(err)
			}
			want[d.Campaign] = state
		}
		for _, campaign := range []string{"a", "b", "never"} {
			got, err := events.Hydrate(context.Background(), ledger, campaign, upTo)
			if err != nil {
				t.Fatalf("%s up to %d: %+v", campaign, upTo, err)
			}
			if diff := cmp.Diff(summary(want[campaign]), summary(got)); diff != "" {
				t.Errorf("%s up to %d:\n%s", campaign, upTo, diff)
			}
		}
	}
}

func summary(c *domain.Campaign) any {
	if c == nil {
		return "unknown"
	}
	_, sealedAt, sealed := c.Sealed()
	imports := map[string]bool{}
	for seq := range history {
		_, imports[fmt.Sprint("import/", seq)] = c.Import(fmt.Sprint("import/", seq))
	}
	return []any{c.ID(), c.OpenedAt(), c.Accepted(), c.Tally(), sealed, sealedAt, imports}
}

// TestHydrateNoticesLoss: an accepted decision that is gone is noticed
// wherever something of its campaign follows.
func TestHydrateNoticesLoss(t *testing.T) {
	for i, lost := range history {
		if lost.outcome != domain.Accepted {
			continue
		}
		seq := uint64(i + 1)
		ledger := historyLedger(t)
		ledger.Remove(seq)
		// A hole right behind upTo shows as well: the next decision counts it.
		for upTo := seq - 1; upTo <= uint64(len(history)); upTo++ {
			if _, err := events.Hydrate(context.Background(), ledger, lost.campaign, upTo); !errors.Is(err, domain.ErrLedgerContradicts) {
				t.Errorf("sequence %d lost, up to %d: %v", seq, upTo, err)
			}
		}
	}
}

func TestHydrateNoticesForeignRecords(t *testing.T) {
	other := func(change func(*domain.Decision)) func(*events.Message) {
		return func(m *events.Message) {
			d := historyDecision(m.Seq)
			change(d)
			record, err := events.EncodeRecord(d)
			if err != nil {
				t.Fatal(err)
			}
			m.Data = record
		}
	}
	for _, row := range []struct {
		name   string
		change func(*events.Message)
		want   error
	}{
		{"no record", func(m *events.Message) { m.Data = []byte("{}") }, domain.ErrLedgerContradicts},
		{"another index", other(func(d *domain.Decision) { d.Index, d.Arrival.Seq = 7, 8 }), domain.ErrLedgerContradicts},
		{"another campaign", other(func(d *domain.Decision) { d.Campaign = "b" }), domain.ErrLedgerContradicts},
		{"another outcome", func(m *events.Message) { m.Subject = "ledger.decisions.a.accepted.void" }, domain.ErrLedgerContradicts},
		{"another count", other(func(d *domain.Decision) { d.Accepted = ptr(uint64(4)) }), domain.ErrLedgerContradicts},
		{"later rules", other(func(d *domain.Decision) { d.V = domain.RuleVersion + 1 }), domain.ErrUnknownRules},
	} {
		t.Run(row.name, func(t *testing.T) {
			ledger := historyLedger(t)
			ledger.Replace(7, row.change)
			if state, err := events.Hydrate(context.Background(), ledger, "a", 13); !errors.Is(err, row.want) {
				t.Errorf("%v, %v", state, err)
			}
		})
	}
}

func TestHydratePassesTheLogsErrorsOn(t *testing.T) {
	ledger := historyLedger(t)
	ledger.SetUnavailable(true)
	if _, err := events.Hydrate(context.Background(), ledger, "a", 13); !errors.Is(err, events.ErrUnavailable) {
		t.Error(err)
	}
}
