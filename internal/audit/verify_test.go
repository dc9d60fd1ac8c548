package audit_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/audit"
)

func verify(t testing.TB, cfg audit.VerifyConfig) *audit.Verified {
	t.Helper()
	result, err := audit.Verify(withPatience(t), cfg)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	if len(result.Found) != min(result.Damage, audit.MaxFindings) {
		t.Errorf("%d findings of %d", len(result.Found), result.Damage)
	}
	return result
}

func TestVerifyFindsNothing(t *testing.T) {
	l := smallLedger(t)
	n := lastOf(t, l.decisions)
	memory := audit.Memory{Name: "the views", Seq: n, Hash: events.RecordHash(get(t, l.decisions, n).Data)}
	replayed := replay(t, l.source(), "")
	for _, evidence := range []bool{false, true} {
		result := verify(t, audit.VerifyConfig{
			Source: l.source(), Evidence: evidence, Memories: []audit.Memory{memory, {Name: "new views"}},
			Heads: []audit.Head{{Name: "a", Size: n, Root: *replayed.Root}, l.head(t, 10), l.head(t, 0)},
		})
		if !result.Sound() || result.Heads != 3 || result.Decisions != n || result.Last != memory.Hash || *result.Root != *replayed.Root {
			t.Errorf("evidence %v: %+v", evidence, result)
		}
		if want := map[bool]uint64{true: n}[evidence]; result.Arrivals != want {
			t.Errorf("%d arrivals, want %d", result.Arrivals, want)
		}
		for outcome, count := range replayed.Outcomes {
			if result.Outcomes[outcome] != count {
				t.Errorf("%d %s, want %d", result.Outcomes[outcome], outcome, count)
			}
		}
	}
}

// head is the true head of the first size records.
func (l *ledger) head(t testing.TB, size uint64) audit.Head {
	t.Helper()
	first := &ledger{arrivals: l.arrivals, decisions: newLedger()}
	first.decisions.Publish(outgoingOf(t, l.decisions)[:size]...)
	return audit.Head{Name: fmt.Sprint("head ", size), Size: size, Root: *replay(t, first.source(), "").Root}
}

func TestVerifyOfUndecidedArrivals(t *testing.T) {
	l := smallLedger(t)
	n := lastOf(t, l.decisions)
	l.decisions.Truncate(n - 5)
	if result := verify(t, audit.VerifyConfig{Source: l.source(), Evidence: true}); !result.Sound() || result.Undecided != 5 {
		t.Errorf("%+v", result)
	}
}

// rewrite changes a decision and chains all that follow anew, as somebody would
// who owns the stream.
func (l *ledger) rewrite(t testing.TB, seq uint64, change func(*domain.Decision)) {
	t.Helper()
	hash, ofCampaign := "", map[string]string{}
	for at := seq; at <= lastOf(t, l.decisions); at++ {
		d := l.record(t, at)
		if at == seq {
			change(d)
		} else {
			d.Prev = hash
			if last, rewritten := ofCampaign[d.Campaign]; rewritten && d.CampaignPrev != nil && *d.CampaignIndex > 0 {
				d.CampaignPrev = &last
			}
		}
		record, err := events.EncodeRecord(d)
		if err != nil {
			t.Fatal(err)
		}
		hash = events.RecordHash(record)
		ofCampaign[d.Campaign] = hash
		l.decisions.Replace(at, func(m *events.Message) { m.Data, m.Subject = record, events.DecisionSubject(d) })
	}
}

// expectation is a finding that must be there: its problem and its place.
type expectation struct {
	problem audit.Problem
	stream  string
	seq     uint64
}

func expect(t *testing.T, result *audit.Verified, wanted ...expectation) {
	t.Helper()
	for _, want := range wanted {
		if !slices.ContainsFunc(result.Found, func(f audit.Finding) bool {
			return f.Problem == want.problem && f.Stream == want.stream && f.Sequence == want.seq && f.Detail != ""
		}) {
			t.Errorf("no finding %+v among %v", want, result.Found)
		}
	}
}

func TestVerifyFindsEachAlteration(t *testing.T) {
	const arrivals, decisions = events.ArrivalsStream, events.LedgerStream
	imported := func(t *testing.T, l *ledger) uint64 { return l.find(t, 20, domain.KindCell, domain.Accepted) }
	for name, test := range map[string]struct {
		alter func(t *testing.T, l *ledger, cfg *audit.VerifyConfig) []expectation
		more  bool // other findings may follow from it
	}{
		"a changed record": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			seq := imported(t, l)
			l.decisions.Replace(seq, func(m *events.Message) {
				m.Data = bytes.Replace(m.Data, []byte(`"durationMs":`), []byte(`"durationMs":1`), 1)
			})
			return []expectation{{audit.ProblemChain, decisions, seq + 1}} // and its campaign's own
		}, more: true},
		"a record that is not canonical": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			seq := imported(t, l)
			l.decisions.Replace(seq, func(m *events.Message) { m.Data = bytes.Replace(m.Data, []byte(`"data":{`), []byte(`"data": {`), 1) })
			return []expectation{{audit.ProblemRecord, decisions, seq}, {audit.ProblemChain, decisions, seq + 1}}
		}, more: true},
		"a removed record": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			seq := imported(t, l)
			l.decisions.Remove(seq)
			return []expectation{{audit.ProblemMissing, decisions, seq}}
		}, more: true},
		"a removed first record": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			l.decisions.Remove(1)
			return []expectation{{audit.ProblemMissing, decisions, 1}}
		}, more: true},
		"removed records": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			for seq := uint64(30); seq < 40; seq++ {
				l.decisions.Remove(seq)
			}
			return []expectation{{audit.ProblemMissing, decisions, 30}}
		}, more: true},
		"a removed last record": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			l.decisions.Remove(lastOf(t, l.decisions))
			return []expectation{{audit.ProblemMissing, decisions, 0}}
		}},
		"two records that changed places": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			a, b := get(t, l.decisions, 30), get(t, l.decisions, 31)
			l.decisions.Replace(30, func(m *events.Message) { m.Data, m.Subject, m.Header = b.Data, b.Subject, b.Header })
			l.decisions.Replace(31, func(m *events.Message) { m.Data, m.Subject, m.Header = a.Data, a.Subject, a.Header })
			return []expectation{{audit.ProblemPlace, decisions, 30}, {audit.ProblemPlace, decisions, 31}, {audit.ProblemChain, decisions, 30}}
		}, more: true},
		"another subject": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			l.decisions.Replace(30, func(m *events.Message) { m.Subject += "x" })
			return []expectation{{audit.ProblemPlace, decisions, 30}}
		}},
		"another header": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			l.decisions.Replace(30, func(m *events.Message) {
				m.Header = events.Header{events.HeaderID: {"29"}, events.HeaderEpoch: {"e"}, events.HeaderHost: {"h"}}
			})
			return []expectation{{audit.ProblemEnvelope, decisions, 30}}
		}, more: true},
		"a lost end": {alter: func(t *testing.T, l *ledger, cfg *audit.VerifyConfig) []expectation {
			n := lastOf(t, l.decisions)
			cfg.Memories = []audit.Memory{{Name: "the views", Seq: n, Hash: strings.Repeat("0", 64)}}
			cfg.Heads = []audit.Head{l.head(t, n)}
			l.decisions.Truncate(n - 1)
			return []expectation{{audit.ProblemLostEnd, decisions, n}}
		}, more: true},
		"a rewritten history, and a memory": {alter: func(t *testing.T, l *ledger, cfg *audit.VerifyConfig) []expectation {
			seq := l.find(t, 1, domain.KindCell, domain.Rejected)
			cfg.Memories = []audit.Memory{{Name: "the views", Seq: seq + 2, Hash: events.RecordHash(get(t, l.decisions, seq+2).Data)}}
			l.rewrite(t, seq, func(d *domain.Decision) { d.Detail = "" })
			return []expectation{{audit.ProblemRewritten, decisions, seq + 2}}
		}},
		"a rewritten history, and a head": {alter: func(t *testing.T, l *ledger, cfg *audit.VerifyConfig) []expectation {
			seq := l.find(t, 1, domain.KindCell, domain.Rejected)
			cfg.Heads = []audit.Head{l.head(t, seq-1), l.head(t, seq+2)}
			l.rewrite(t, seq, func(d *domain.Decision) { d.Detail = "" })
			return []expectation{{audit.ProblemTreeHead, decisions, seq + 2}}
		}},
		"a memory of a missing record": {alter: func(t *testing.T, l *ledger, cfg *audit.VerifyConfig) []expectation {
			cfg.Memories = []audit.Memory{{Name: "the views", Seq: 31, Hash: events.RecordHash(get(t, l.decisions, 31).Data)}}
			l.decisions.Remove(31)
			return []expectation{{audit.ProblemMissing, decisions, 31}}
		}, more: true},
		"a count that is wrong": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			seq := l.find(t, 20, domain.KindCell, domain.Rejected)
			l.rewrite(t, seq, func(d *domain.Decision) { n := uint64(1000); d.Accepted = &n })
			return []expectation{{audit.ProblemOutcome, decisions, seq}}
		}},
		"a count of an accepted one": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			seq := imported(t, l)
			l.rewrite(t, seq, func(d *domain.Decision) { *d.Accepted++ })
			return []expectation{{audit.ProblemOutcome, decisions, seq}}
		}},
		"no count on an open campaign": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			seq := l.find(t, 20, domain.KindCell, domain.Rejected)
			l.rewrite(t, seq, func(d *domain.Decision) {
				d.Accepted, d.Refused, d.RefusedFailed, d.CampaignIndex, d.CampaignPrev = nil, nil, nil, nil, nil
			})
			return []expectation{{audit.ProblemOutcome, decisions, seq}}
		}},
		"a count on an unknown campaign": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			for seq := uint64(1); ; seq++ {
				if l.record(t, seq).Reason == domain.ReasonCampaignUnknown {
					l.rewrite(t, seq, func(d *domain.Decision) {
						one, none, prev := uint64(1), uint64(0), events.GenesisHash
						d.Accepted, d.Refused, d.RefusedFailed, d.CampaignIndex, d.CampaignPrev = &one, &none, &none, &none, &prev
					})
					return []expectation{{audit.ProblemOutcome, decisions, seq}}
				}
			}
		}},
		"a count of refused cells that is wrong": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			seq := l.find(t, 20, domain.KindCell, domain.Rejected)
			l.rewrite(t, seq, func(d *domain.Decision) { *d.Refused-- })
			return []expectation{{audit.ProblemOutcome, decisions, seq}}
		}},
		"a place in the campaign that is wrong": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			seq := imported(t, l)
			l.rewrite(t, seq, func(d *domain.Decision) { *d.CampaignIndex-- })
			return []expectation{{audit.ProblemOutcome, decisions, seq}}
		}},
		"another previous record of the campaign": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			seq := imported(t, l)
			l.rewrite(t, seq, func(d *domain.Decision) { d.CampaignPrev = &d.Prev })
			return []expectation{{audit.ProblemOutcome, decisions, seq}}
		}},
		"a duplicate of nothing": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			seq := l.find(t, 20, domain.KindCell, domain.Duplicate)
			l.rewrite(t, seq, func(d *domain.Decision) { *d.Repeats = d.Index - 1; *d.Repeats = 0 })
			return []expectation{{audit.ProblemOutcome, decisions, seq}}
		}},
		"rules from the future": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			n := lastOf(t, l.decisions)
			l.rewrite(t, n-1, func(d *domain.Decision) { d.V = domain.RuleVersion + 1 })
			return []expectation{{audit.ProblemRules, decisions, n - 1}, {audit.ProblemRules, decisions, n}}
		}},
		"another body": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			seq := imported(t, l)
			l.arrivals.Replace(seq, func(m *events.Message) { m.Data = append([]byte(" "), m.Data...) })
			return []expectation{{audit.ProblemEvidence, arrivals, seq}}
		}},
		"another time": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			l.arrivals.Replace(30, func(m *events.Message) { m.Time = m.Time.Add(1) })
			return []expectation{{audit.ProblemEvidence, arrivals, 30}}
		}},
		"another id": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			l.arrivals.Replace(30, func(m *events.Message) { m.Header = events.Header{events.HeaderID: {"x"}} })
			return []expectation{{audit.ProblemEvidence, arrivals, 30}}
		}},
		"another campaign": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			l.arrivals.Replace(30, func(m *events.Message) { m.Subject = strings.Replace(m.Subject, "chat", "chit", 1) })
			return []expectation{{audit.ProblemEvidence, arrivals, 30}}
		}},
		"another kind": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			l.arrivals.Replace(30, func(m *events.Message) { m.Subject = m.Subject[:strings.LastIndexByte(m.Subject, '.')] + ".seal" })
			return []expectation{{audit.ProblemEvidence, arrivals, 30}}
		}},
		"another document": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			seq := imported(t, l)
			l.rewrite(t, seq, func(d *domain.Decision) {
				d.Data.(*domain.CellImported).Cell.HostSHA256 = strings.Repeat("a", 64)
			})
			return []expectation{{audit.ProblemDocument, arrivals, seq}}
		}},
		"another path": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			seq := imported(t, l)
			l.rewrite(t, seq, func(d *domain.Decision) { d.Data.(*domain.CellImported).Cell.ResultPath += "x" })
			return []expectation{{audit.ProblemDocument, arrivals, seq}}
		}},
		"removed arrivals": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			l.arrivals.Remove(30)
			l.arrivals.Remove(31)
			return []expectation{{audit.ProblemMissing, arrivals, 30}}
		}},
		"a lost end of ARRIVALS": {alter: func(t *testing.T, l *ledger, _ *audit.VerifyConfig) []expectation {
			l.arrivals.Truncate(50)
			return []expectation{{audit.ProblemLostEnd, arrivals, 51}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l := smallLedger(t)
			cfg := audit.VerifyConfig{Source: l.source(), Evidence: true}
			wanted := test.alter(t, l, &cfg)
			result := verify(t, cfg)
			expect(t, result, wanted...)
			if !test.more && result.Damage != len(wanted) {
				t.Errorf("%d findings, want %d: %v", result.Damage, len(wanted), result.Found)
			}
		})
	}
}

// TestVerifyCountsAll: more is wrong than a result holds.
func TestVerifyCountsAll(t *testing.T) {
	l := smallLedger(t)
	for seq := uint64(1); seq <= audit.MaxFindings+10; seq++ {
		l.decisions.Replace(seq, func(m *events.Message) { m.Subject += "x" })
	}
	if result := verify(t, audit.VerifyConfig{Source: l.source()}); result.Damage != audit.MaxFindings+10 {
		t.Errorf("%d findings", result.Damage)
	}
}
