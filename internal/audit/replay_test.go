package audit_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/audit/audittest"
)

func replay(t testing.TB, source audit.Source, campaign string) *audit.Replayed {
	t.Helper()
	result, err := audit.Replay(withPatience(t), audit.ReplayConfig{Source: source, Campaign: campaign})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return result
}

// rootOf is the root by another implementation of RFC 6962.
func rootOf(t testing.TB, decisions events.Log) string {
	t.Helper()
	last := lastOf(t, decisions)
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		hashes := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			hashes[i] = stored[index]
		}
		return hashes, nil
	})
	for seq := uint64(1); seq <= last; seq++ {
		hashes, err := tlog.StoredHashes(int64(seq-1), get(t, decisions, seq).Data, reader)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, hashes...)
	}
	root, err := tlog.TreeHash(int64(last), reader)
	if err != nil {
		t.Fatal(err)
	}
	return root.String()
}

func TestReplayIsTheSame(t *testing.T) {
	l := smallLedger(t)
	var done, total uint64
	result, err := audit.Replay(withPatience(t), audit.ReplayConfig{Source: l.source(), Progress: func(d, of uint64) { done, total = d, of }})
	if err != nil {
		t.Fatal(err)
	}
	want := l.ci.Totals()
	if !result.Same() || result.Undecided != 0 {
		t.Fatalf("%+v", result)
	}
	if n := uint64(want.Arrivals + audittest.Unreadable); result.Arrivals != n || result.Decisions != n || done != n || total != n {
		t.Errorf("%d arrivals, %d decisions, progress %d of %d; want %d", result.Arrivals, result.Decisions, done, total, n)
	}
	want.Outcomes[domain.Rejected] += audittest.Unreadable
	want.Reasons[domain.ReasonArrivalMalformed] += audittest.Unreadable
	for _, outcome := range domain.Outcomes() {
		if result.Outcomes[outcome] != uint64(want.Outcomes[outcome]) {
			t.Errorf("%d are %s, want %d", result.Outcomes[outcome], outcome, want.Outcomes[outcome])
		}
	}
	for reason, n := range want.Reasons {
		if result.Reasons[reason] != uint64(n) {
			t.Errorf("%d for %s, want %d", result.Reasons[reason], reason, n)
		}
	}
	if root := rootOf(t, l.decisions); result.Root.String() != root {
		t.Errorf("root %s, want %s", result.Root, root)
	}
}

func TestReplayOfNothing(t *testing.T) {
	l := &ledger{arrivals: newArrivals(), decisions: newLedger()}
	result := replay(t, l.source(), "")
	// The hash of no bytes, as RFC 6962 has it.
	if want := "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="; !result.Same() || result.Root.String() != want {
		t.Errorf("%+v", result)
	}
}

func TestReplayOfUndecidedArrivals(t *testing.T) {
	l := smallLedger(t)
	n := replay(t, l.source(), "").Decisions
	l.decisions.Truncate(n - 5)
	if result := replay(t, l.source(), ""); !result.Same() || result.Undecided != 5 || result.Decisions != n-5 {
		t.Errorf("%+v", result)
	}
	l.decisions.Truncate(0)
	if result := replay(t, l.source(), ""); !result.Same() || result.Undecided != n {
		t.Errorf("%+v", result)
	}
}

func TestReplayOfOneCampaign(t *testing.T) {
	l := smallLedger(t)
	var decisions uint64
	for _, campaign := range l.ci.Campaigns() {
		result := replay(t, l.source(), campaign)
		if !result.Same() || result.Decisions == 0 || result.Undecided != 0 || result.Root != nil {
			t.Errorf("%s: %+v", campaign, result)
		}
		decisions += result.Decisions
	}
	all := replay(t, l.source(), "").Decisions
	draft := replay(t, l.source(), l.ci.Campaigns()[0]+"-draft").Decisions
	if decisions+draft+1 != all { // one stands under no campaign
		t.Errorf("%d decisions by campaign and %d on an unopened one, %d in all", decisions, draft, all)
	}
	if result := replay(t, l.source(), "nobody"); !result.Same() || result.Decisions != 0 {
		t.Errorf("%+v", result)
	}
}

// record reads the record at a sequence.
func (l *ledger) record(t testing.TB, seq uint64) *domain.Decision {
	t.Helper()
	d, err := events.DecodeRecord(get(t, l.decisions, seq).Data)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// find gives the first sequence from a place on whose record has an outcome.
func (l *ledger) find(t testing.TB, from uint64, kind domain.Kind, outcome domain.Outcome) uint64 {
	t.Helper()
	for seq := from; ; seq++ {
		d := l.record(t, seq)
		if d.Kind == kind && d.Outcome == outcome {
			return seq
		}
	}
}

// TestReplayNamesTheFirstDifference alters one message and expects its index
// and field.
func TestReplayNamesTheFirstDifference(t *testing.T) {
	accepted := func(t *testing.T, l *ledger) uint64 { return l.find(t, 20, domain.KindCell, domain.Accepted) }
	replace := func(old, by string) func(*events.Message) {
		return func(m *events.Message) { m.Data = bytes.Replace(bytes.Clone(m.Data), []byte(old), []byte(by), 1) }
	}
	for name, test := range map[string]struct {
		alter func(t *testing.T, l *ledger) uint64 // gives the sequence
		field string
		says  string
	}{
		"an arrival's body": {func(t *testing.T, l *ledger) uint64 {
			seq := accepted(t, l)
			l.arrivals.Replace(seq, replace(`"runAttempt":`, `"runAttempt": `))
			return seq
		}, "/arrival/sha256", ""},
		"an arrival's time": {func(t *testing.T, l *ledger) uint64 {
			seq := accepted(t, l)
			l.arrivals.Replace(seq, func(m *events.Message) { m.Time = m.Time.Add(1) })
			return seq
		}, "/arrival/time", ""},
		"an arrival's id": {func(t *testing.T, l *ledger) uint64 {
			seq := accepted(t, l)
			l.arrivals.Replace(seq, func(m *events.Message) {
				m.Header = events.Header{}
			})
			return seq
		}, "/arrival/id", ""},
		"a record's outcome": {func(t *testing.T, l *ledger) uint64 {
			seq := accepted(t, l)
			l.decisions.Replace(seq, replace(`"outcome":"accepted"`, `"outcome":"rejected"`))
			return seq
		}, "/outcome", ""},
		"a record's data": {func(t *testing.T, l *ledger) uint64 {
			seq := accepted(t, l)
			l.decisions.Replace(seq, replace(`"ordinal":`, `"ordinal":1`))
			return seq
		}, "/data/cell/ordinal", ""},
		"a record's chain": {func(t *testing.T, l *ledger) uint64 {
			seq := accepted(t, l)
			l.decisions.Replace(seq, replace(`"prev":"`, `"prev":"00`))
			return seq
		}, "/prev", ""},
		"a record's spaces": {func(t *testing.T, l *ledger) uint64 {
			seq := accepted(t, l)
			l.decisions.Replace(seq, replace(`,"kind"`, `, "kind"`))
			return seq
		}, "", "from byte"},
		"a record that is no JSON": {func(t *testing.T, l *ledger) uint64 {
			seq := accepted(t, l)
			l.decisions.Replace(seq, func(m *events.Message) { m.Data = []byte("\xff") })
			return seq
		}, "", "from byte 0"},
		"a record's subject": {func(t *testing.T, l *ledger) uint64 {
			seq := accepted(t, l)
			l.decisions.Replace(seq, func(m *events.Message) { m.Subject = strings.Replace(m.Subject, "accepted", "rejected", 1) })
			return seq
		}, "", "stands under"},
		"a lost decision": {func(t *testing.T, l *ledger) uint64 {
			seq := accepted(t, l)
			l.decisions.Remove(seq)
			return seq
		}, "", "has no decision"},
		"a lost arrival": {func(t *testing.T, l *ledger) uint64 {
			seq := accepted(t, l)
			l.arrivals.Remove(seq)
			return seq
		}, "", "is not there"},
		"a lost pair": {func(t *testing.T, l *ledger) uint64 {
			seq := accepted(t, l)
			l.arrivals.Remove(seq)
			l.decisions.Remove(seq)
			return seq + 1 // the chain tells
		}, "/prev", ""},
		"an end of ARRIVALS": {func(t *testing.T, l *ledger) uint64 {
			last := lastOf(t, l.arrivals)
			l.arrivals.Truncate(last - 3)
			return last - 2
		}, "", "is not there"},
	} {
		t.Run(name, func(t *testing.T) {
			l := smallLedger(t)
			seq := test.alter(t, l)
			result := replay(t, l.source(), "")
			d := result.Difference
			if d == nil {
				t.Fatal("no difference")
			}
			if d.Index+1 != seq || d.Field != test.field || !strings.Contains(d.Detail, test.says) {
				t.Errorf("record %d field %q: %s; want record %d field %q", d.Index, d.Field, d.Detail, seq-1, test.field)
			}
			if result.Decisions != d.Index && !strings.Contains(name, "pair") {
				t.Errorf("%d decisions are the same before record %d", result.Decisions, d.Index)
			}
		})
	}
}

func TestReplayOfUnknownRules(t *testing.T) {
	l := smallLedger(t)
	l.decisions.Replace(9, func(m *events.Message) { m.Data = bytes.Replace(m.Data, []byte(`{"v":1,`), []byte(`{"v":2,`), 1) })
	_, err := audit.Replay(withPatience(t), audit.ReplayConfig{Source: l.source()})
	if !errors.Is(err, domain.ErrUnknownRules) || !strings.Contains(err.Error(), "arrival 9") {
		t.Error(err)
	}
}

func TestReplayWithoutTheStream(t *testing.T) {
	l := smallLedger(t)
	l.decisions.SetUnavailable(true)
	if _, err := audit.Replay(withPatience(t), audit.ReplayConfig{Source: l.source()}); !errors.Is(err, events.ErrUnavailable) {
		t.Error(err)
	}
}
