package golden

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest"
	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/audit/audittest"
	"github.com/ledgerd/ledgerd/internal/audit/export"
	"github.com/ledgerd/ledgerd/internal/simci"
	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/internal/tree/treestore"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/sqlite"
)

// importedNext is the payload of an accepted cell in an imaginary next version:
// one member more than version 1 has. Its Latest is the embedded one's, which
// this program's folds read.
type importedNext struct {
	domain.CellImported
	Region string `json:"region"`
}

// nextRules are an imaginary next version: an accepted cell has one member
// more, and a gate is stricter: second measurements are refused.
func nextRules() *domain.Rules {
	before, err := domain.RulesOf(domain.RuleVersion)
	if err != nil {
		panic(err) // the current rules are there
	}
	decide := func(d *domain.Decision, state *domain.Campaign, a *domain.Arrival) {
		unchanged := *d
		before.Decide(d, state, a)
		imported, ok := d.Data.(*domain.CellImported)
		switch {
		case ok && imported.Cell.Ordinal == 2:
			*d = unchanged
			d.Outcome, d.Reason, d.Field, d.Detail = domain.Rejected, domain.ReasonTimingInvalid, "/ordinal", "second measurements are not taken"
			d.Data = &domain.CellRefused{Provenance: &imported.Provenance, Claimed: &domain.Claim{ImportKey: &imported.Cell.ImportKey}}
		case ok:
			d.Data = &importedNext{CellImported: *imported, Region: "eu-west"}
		}
	}
	newData := func(kind domain.Kind, outcome domain.Outcome) domain.Data {
		if kind == domain.KindCell && outcome == domain.Accepted {
			return &importedNext{}
		}
		return before.NewData(kind, outcome)
	}
	return &domain.Rules{Decide: decide, NewData: newData}
}

// twoVersions is a ledger whose first half the current rules decided and whose
// second half the next ones did, in the middle of its campaigns.
type twoVersions struct {
	arrivals, decisions *eventstest.Log
	later               int    // the version of the second half
	from                uint64 // first sequence of it
}

func newTwoVersions(t *testing.T) *twoVersions {
	ci, err := simci.New(simci.Demo(7))
	if err != nil {
		t.Fatal(err)
	}
	all := audittest.Arrivals(t, ci)
	half := len(all) / 2
	l := &twoVersions{arrivals: eventstest.NewArrivals(), decisions: eventstest.NewLedger(), from: uint64(half) + 1}
	l.arrivals.Publish(all[:half]...)
	audittest.Decide(t, l.arrivals, l.decisions)
	l.later = domain.AddRulesForTest(t, nextRules())
	l.arrivals.Publish(all[half:]...)
	l.decideNext(t) // a release whose RuleVersion is the next one would
	audittest.Decide(t, l.arrivals, l.decisions)
	return l
}

// decideNext appends the first decision by the later rules. Whoever writes
// behind it decides by them too.
func (l *twoVersions) decideNext(t *testing.T) {
	ctx := audittest.WithPatience(t)
	m := get(t, l.arrivals, l.from)
	a := events.DecodeArrivalBy(l.later, m)
	state, err := events.Hydrate(ctx, l.decisions, a.Campaign, l.from-1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := domain.Decide(l.later, state, a)
	if err != nil {
		t.Fatal(err)
	}
	d.Prev = events.RecordHash(get(t, l.decisions, l.from-1).Data)
	record, err := events.EncodeRecord(d)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.decisions.Append(ctx, l.from-1, []events.Outgoing{events.NewDecisionMessage(d, record, "test", "test")}); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, log events.Log, seq uint64) *events.Message {
	t.Helper()
	m, err := log.Get(audittest.WithPatience(t), seq)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (l *twoVersions) source() audit.Source { return audit.Live(l.arrivals, l.decisions) }

func (l *twoVersions) last(t *testing.T) uint64 {
	tail, err := l.decisions.Tail(audittest.WithPatience(t))
	if err != nil {
		t.Fatal(err)
	}
	return tail.Last
}

// decided reads every record.
func (l *twoVersions) decided(t *testing.T) []*domain.Decision {
	var all []*domain.Decision
	for seq := uint64(1); seq <= l.last(t); seq++ {
		d, err := events.DecodeCanonicalRecord(get(t, l.decisions, seq).Data)
		if err != nil {
			t.Fatalf("sequence %d: %+v", seq, err)
		}
		all = append(all, d)
	}
	return all
}

// TestTwoVersions: what a rule change must not break. A program with both
// versions reads a ledger that holds both as one ledger.
func TestTwoVersions(t *testing.T) {
	l := newTwoVersions(t)
	t.Run("records", l.testRecords)
	t.Run("replay", func(t *testing.T) { replays(t, l.source()) })
	t.Run("verify", func(t *testing.T) { verifies(t, l.source()) })
	t.Run("export", l.testExport)
	t.Run("hydration", l.testHydration)
	t.Run("views and rebuild", l.testRebuild)
	t.Run("receipts", l.testReceipts)
	t.Run("the version falls", l.testVersionFalls)
}

func (l *twoVersions) testRecords(t *testing.T) {
	imports, refused := map[int]int{}, 0
	for _, d := range l.decided(t) {
		if want := l.later; d.Arrival.Seq < l.from && d.V != domain.RuleVersion || d.Arrival.Seq >= l.from && d.V != want {
			t.Fatalf("decision %d has version %d", d.Index, d.V)
		}
		if _, ok := d.Latest().(*domain.CellImported); ok {
			imports[d.V]++
			next, isNext := d.Data.(*importedNext)
			if isNext != (d.V == l.later) || isNext && next.Region != "eu-west" {
				t.Errorf("decision %d of version %d holds %+v", d.Index, d.V, d.Data)
			}
		}
		if d.Reason == domain.ReasonTimingInvalid && d.Field == "/ordinal" {
			refused++
		}
	}
	if imports[domain.RuleVersion] == 0 || imports[l.later] == 0 || refused == 0 {
		t.Errorf("imports by version: %v, refused by the changed gate: %d: the test shows nothing", imports, refused)
	}
}

func replays(t *testing.T, source audit.Source) {
	t.Helper()
	result, err := audit.Replay(audittest.WithPatience(t), audit.ReplayConfig{Source: source})
	if err != nil || !result.Same() || result.Decisions == 0 {
		t.Errorf("%+v: %+v", result, err)
	}
}

func verifies(t *testing.T, source audit.Source) {
	t.Helper()
	result, err := audit.Verify(audittest.WithPatience(t), audit.VerifyConfig{Source: source, Evidence: true})
	if err != nil || !result.Sound() || result.Decisions == 0 {
		t.Errorf("%+v: %+v", result, err)
	}
}

func (l *twoVersions) testExport(t *testing.T) {
	var text, again bytes.Buffer
	if _, err := export.Write(audittest.WithPatience(t), &text, export.Config{Source: l.source(), Ledger: audittest.LedgerID, Evidence: true}); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text.Bytes(), []byte("record_base64")) {
		t.Error("a record is not exported as a record")
	}
	exported := exportOf(text.Bytes())
	replays(t, exported)
	verifies(t, exported)
	if _, err := export.Write(audittest.WithPatience(t), &again, export.Config{Source: exported, Evidence: true}); err != nil || !bytes.Equal(again.Bytes(), text.Bytes()) {
		t.Errorf("an export of the export is another one: %v", err)
	}
}

func exportOf(text []byte) audit.Source {
	return export.Source("export", func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil })
}

// testHydration: a state that is read from the stored decisions is the one
// that all decisions fold to.
func (l *twoVersions) testHydration(t *testing.T) {
	states := map[string]*domain.Campaign{}
	for _, d := range l.decided(t) {
		record, err := events.EncodeRecord(d)
		if err != nil {
			t.Fatal(err)
		}
		state, err := domain.Fold(states[d.Campaign], d, events.RecordHash(record))
		if err != nil {
			t.Fatal(err)
		}
		states[d.Campaign] = state
	}
	hydrated := 0
	for id, state := range states {
		if state == nil {
			continue
		}
		found, err := events.Hydrate(audittest.WithPatience(t), l.decisions, id, l.last(t))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(state.Tally(), found.Tally()); diff != "" || state.Accepted() != found.Accepted() {
			t.Errorf("%s: %s", id, diff)
		}
		hydrated++
	}
	if hydrated == 0 {
		t.Error("no campaign is open")
	}
}

func (l *twoVersions) testRebuild(t *testing.T) {
	ctx := audittest.WithPatience(t)
	store, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "views.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	runner, err := projections.NewRunner(projections.Config{Log: l.decisions, Store: store, Name: "views"})
	if err != nil {
		t.Fatal(err)
	}
	defer run(t, runner.Run)()
	if _, err := runner.WaitFor(ctx, l.last(t)); err != nil {
		t.Fatalf("%+v", err)
	}
	rebuilt, err := projections.Rebuild(ctx, projections.RebuildConfig{Log: l.decisions, Store: store})
	if err != nil || rebuilt.Comparison == nil || rebuilt.Position.Seq != l.last(t) {
		t.Errorf("%+v: %+v", rebuilt, err)
	}
}

// run runs until the test calls stop.
func run(t *testing.T, do func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- do(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%+v", err)
		}
	}
}

func (l *twoVersions) testReceipts(t *testing.T) {
	ctx := audittest.WithPatience(t)
	dir := t.TempDir()
	keys, err := treestore.OpenKeys(dir, tree.Origin(audittest.LedgerID), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	store, err := treestore.Open(ctx, treestore.File(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	merkle, err := tree.Open(ctx, tree.Config{Log: l.decisions, Store: store, Keys: keys, HeadInterval: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	defer run(t, merkle.Run)()
	if _, err := merkle.WaitForHead(ctx, int64(l.last(t))); err != nil {
		t.Fatalf("%+v", err)
	}
	documents := map[int]int{}
	for _, d := range l.decided(t) {
		receipt, err := merkle.Receipt(ctx, int64(d.Index))
		if err != nil {
			t.Fatalf("%+v", err)
		}
		verified, err := tree.VerifyReceipt(receipt.Encode(), keys.Current())
		if err != nil {
			t.Fatalf("receipt of version %d: %+v", d.V, err)
		}
		documents[verified.Decision.V] += len(receipt.Evidence.Documents)
	}
	if documents[domain.RuleVersion] == 0 || documents[l.later] == 0 {
		t.Errorf("documents in receipts by version: %v", documents)
	}
}

// testVersionFalls: a record of older rules behind one of later rules is damage.
func (l *twoVersions) testVersionFalls(t *testing.T) {
	falls := &twoVersions{arrivals: eventstest.NewArrivals(), decisions: eventstest.NewLedger()}
	prev, ofCampaign := events.GenesisHash, map[string]string{}
	for seq := uint64(1); seq <= l.from; seq++ {
		m := *get(t, l.decisions, seq)
		d, err := events.DecodeRecord(m.Data)
		if err != nil {
			t.Fatal(err)
		}
		if d.Prev = prev; seq == l.from-1 {
			if d.V = l.later; d.Outcome == domain.Accepted && d.Kind == domain.KindCell {
				t.Fatal("the record has a payload of its version; choose another")
			}
		} else if seq == l.from {
			d.V = domain.RuleVersion
			if next, ok := d.Data.(*importedNext); ok {
				d.Data = &next.CellImported
			}
		}
		if last, ok := ofCampaign[d.Campaign]; ok && d.CampaignPrev != nil {
			d.CampaignPrev = &last
		}
		record, err := events.EncodeRecord(d)
		if err != nil {
			t.Fatal(err)
		}
		if prev = events.RecordHash(record); d.CampaignPrev != nil {
			ofCampaign[d.Campaign] = prev
		}
		falls.decisions.Publish(events.NewDecisionMessage(d, record, "test", "test"))
	}
	result, err := audit.Verify(audittest.WithPatience(t), audit.VerifyConfig{Source: falls.source()})
	if err != nil || result.Damage != 1 || result.Found[0].Problem != audit.ProblemRules || result.Found[0].Sequence != l.from {
		t.Errorf("%+v: %v", result, err)
	}
}

// TestLaterRulesThanThisProgramHas: an older release refuses the same ledger
// everywhere, with the same error and a hint.
func TestLaterRulesThanThisProgramHas(t *testing.T) {
	var l *twoVersions
	t.Run("written by a later release", func(t *testing.T) { l = newTwoVersions(t) })
	ctx := audittest.WithPatience(t)
	verified, err := audit.Verify(ctx, audit.VerifyConfig{Source: l.source(), Evidence: true})
	if err != nil || verified.Sound() || verified.Found[0].Problem != audit.ProblemRules || verified.Found[0].Sequence != l.from {
		t.Errorf("verify: %+v: %v", verified, err)
	}
	for _, finding := range verified.Found {
		if finding.Problem != audit.ProblemRules {
			t.Errorf("verify: %s", finding)
		}
	}
	_, replay := audit.Replay(ctx, audit.ReplayConfig{Source: l.source()})
	_, read := events.ReadRecord(get(t, l.decisions, l.from))
	last, err := events.ReadLink(get(t, l.decisions, l.last(t)).Data)
	if err != nil || last.V != l.later {
		t.Fatalf("%+v: %v", last, err)
	}
	_, hydrate := events.Hydrate(ctx, l.decisions, campaignOf(get(t, l.decisions, l.last(t)-audittest.Unreadable)), l.last(t))
	for what, err := range map[string]error{"replay": replay, "read": read, "hydrate": hydrate} {
		if !errors.Is(err, domain.ErrUnknownRules) || len(errors.GetAllHints(err)) == 0 {
			t.Errorf("%s: %+v", what, err)
		}
	}
	// A walk over bytes needs no rules: the export is whole, and a later release reads it.
	var text bytes.Buffer
	if _, err := export.Write(ctx, &text, export.Config{Source: l.source(), Evidence: true}); err != nil {
		t.Fatal(err)
	}
	domain.AddRulesForTest(t, nextRules())
	replays(t, exportOf(text.Bytes()))
}

// campaignOf reads the campaign off a decision's subject.
func campaignOf(m *events.Message) string {
	return string(bytes.Split([]byte(m.Subject), []byte("."))[2])
}
