package projections_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

func ptr[T any](v T) *T { return &v }

// foldAll folds a ledger in batches of a size into a model.
func foldAll(t *testing.T, l *projectionstest.Ledger, fold *projections.Fold, size uint64) *projectionstest.Model {
	t.Helper()
	m := projectionstest.NewModel()
	for from := uint64(0); from < l.Last(); {
		to := min(from+size, l.Last())
		for i := from; i < to; i++ {
			if err := fold.Add(t.Context(), l.Decisions[i], l.Hashes[i]); err != nil {
				t.Fatalf("decision %d: %+v", i, err)
			}
		}
		if got := fold.Decisions(); got != int(to-from) {
			t.Fatalf("the batch holds %d decisions, want %d", got, to-from)
		}
		if err := m.Apply(t.Context(), l.Position(from), l.Position(to), fold.Take()); err != nil {
			t.Fatalf("batch %d to %d: %+v", from, to, err)
		}
		from = to
	}
	return m
}

// TestFoldInAnyBatches: a fold from zero in one batch gives the rows that
// batches of every size give, whether the states are held or read again.
func TestFoldInAnyBatches(t *testing.T) {
	for name, ledger := range map[string]*projectionstest.Ledger{
		"story":  projectionstest.Story(t),
		"random": projectionstest.Random(t, 7, 300),
	} {
		whole := foldAll(t, ledger, projections.NewFold(ledger.Log), ledger.Last()).Rows()
		for _, size := range []uint64{1, 7, 64} {
			for _, cached := range []int{projections.CacheBytes, 1} {
				t.Run(fmt.Sprintf("%s in batches of %d, %d bytes held", name, size, cached), func(t *testing.T) {
					got := foldAll(t, ledger, projections.NewFoldWith(ledger.Log, cached), size).Rows()
					if diff := cmp.Diff(whole, got); diff != "" {
						t.Error(diff)
					}
				})
			}
		}
	}
}

// TestRowsThatWait: new rows taken batch by batch, and what they replace taken
// now and then, come to the same rows.
func TestRowsThatWait(t *testing.T) {
	ledger := projectionstest.Random(t, 8, 300)
	want := foldAll(t, ledger, projections.NewFold(ledger.Log), ledger.Last()).Rows()
	for _, takes := range []int{1, 4, 1000} { // every so many batches all is taken
		fold := projections.NewFoldWith(ledger.Log, 1)
		m := projectionstest.NewModel()
		taken, batches := uint64(0), 0
		for i, d := range ledger.Decisions {
			if err := fold.Add(t.Context(), d, ledger.Hashes[i]); err != nil {
				t.Fatal(err)
			}
			last := uint64(i+1) == ledger.Last()
			if fold.Decisions() < 7 && !last {
				continue
			}
			take := fold.TakeNew
			if batches++; batches%takes == 0 || last {
				take = fold.Take
			}
			changes := take()
			if err := m.Apply(t.Context(), ledger.Position(taken), ledger.Position(uint64(i+1)), changes); err != nil {
				t.Fatalf("%+v", err)
			}
			if taken = uint64(i + 1); last && fold.Held() != 0 {
				t.Errorf("%d bytes wait when all was taken", fold.Held())
			}
		}
		if diff := cmp.Diff(want, m.Rows()); diff != "" {
			t.Errorf("all taken every %d batches:\n%s", takes, diff)
		}
	}
}

// TestFoldFromTheMiddle: a new fold goes on behind any position.
func TestFoldFromTheMiddle(t *testing.T) {
	ledger := projectionstest.Story(t)
	want := foldAll(t, ledger, projections.NewFold(ledger.Log), ledger.Last()).Rows()
	for middle := uint64(1); middle < ledger.Last(); middle++ {
		m := projectionstest.NewModel()
		for _, part := range [][2]uint64{{0, middle}, {middle, ledger.Last()}} {
			if err := m.Apply(t.Context(), ledger.Position(part[0]), ledger.Position(part[1]), ledger.Fold(part[0], part[1])); err != nil {
				t.Fatalf("behind %d: %+v", middle, err)
			}
		}
		if diff := cmp.Diff(want, m.Rows()); diff != "" {
			t.Errorf("behind %d:\n%s", middle, diff)
		}
	}
}

// TestCacheIsBounded: the states that stay fit the limit, but for the last used.
func TestCacheIsBounded(t *testing.T) {
	ledger := projectionstest.Random(t, 3, 250)
	const limit, largest = 100 << 10, 200 << 10 // bytes: of all, and of one campaign
	fold := projections.NewFoldWith(ledger.Log, limit)
	for i, d := range ledger.Decisions {
		if err := fold.Add(t.Context(), d, ledger.Hashes[i]); err != nil {
			t.Fatal(err)
		}
		if fold.Take(); fold.CachedBytes() > limit+largest {
			t.Fatalf("after decision %d the fold holds %d bytes", i, fold.CachedBytes())
		}
	}
	if fold.CachedBytes() == 0 {
		t.Error("the fold holds no state at all")
	}
}

// TestRowsFollowFromTheCampaign: counts, verdicts and money of the rows are
// those of the domain's state, and add up.
func TestRowsFollowFromTheCampaign(t *testing.T) {
	ledger := projectionstest.Random(t, 5, 800)
	rows := foldAll(t, ledger, projections.NewFold(ledger.Log), 50).Rows()
	for _, row := range rows.Campaigns {
		campaign, err := events.Hydrate(t.Context(), ledger.Log, row.ID, ledger.Last())
		if err != nil {
			t.Fatal(err)
		}
		tally := campaign.Tally()
		if row.Cells != row.Passed+row.Failed+row.Missing || row.Passed != tally.Passed || row.Failed != tally.Failed {
			t.Errorf("campaign %s counts %d = %d + %d + %d", row.ID, row.Cells, row.Passed, row.Failed, row.Missing)
		}
		spent := campaign.Spent()
		want := projections.Spend{CostUSD: spent.CostUSD, Tokens: spent.Tokens, Reported: spent.Reported, Cells: spent.Cells}
		if !cmp.Equal(row.Spent, want) {
			t.Errorf("campaign %s spent %+v, want %+v", row.ID, row.Spent, want)
		}
		if row.Verdict != campaign.Verdict().Word && row.Sealed == nil {
			t.Errorf("campaign %s is %s, want %s", row.ID, row.Verdict, campaign.Verdict().Word)
		}
		checkParts(t, row, rows)
	}
}

// checkParts adds a campaign's scenarios, slots, imports and usage up.
func checkParts(t *testing.T, row projections.Campaign, rows *projections.Changes) {
	t.Helper()
	var scenarios, slots, filled, passed, imports, unvoided, spent, effective int64
	for _, s := range rows.Scenarios {
		if s.Campaign == row.ID {
			scenarios++
			passed += s.Passed
		}
	}
	for _, s := range rows.Slots {
		if s.Campaign == row.ID {
			slots++
			if s.ImportIndex != nil {
				filled++
			}
		}
	}
	for _, i := range rows.Imports {
		if i.Campaign == row.ID {
			imports++
			if i.Void == nil {
				unvoided++
			}
		}
	}
	for _, u := range rows.Usage {
		if u.Campaign == row.ID {
			spent += u.Spent.Cells
			effective += u.Effective.Cells
		}
	}
	got := []int64{scenarios, slots, filled, passed, imports, unvoided, spent, effective}
	want := []int64{row.Scenarios, row.Cells, row.Passed + row.Failed, row.Passed, row.Spent.Cells, row.Effective.Cells, row.Spent.Cells, row.Effective.Cells}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("campaign %s:\n%s", row.ID, diff)
	}
}

// TestContradictions: a ledger that lost or doubled a decision stops the fold.
func TestContradictions(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*domain.Decision) // of decision 7, which imports a cell
		skip   int                    // the fold never sees this one, -1 for none
	}{
		{"an accepted decision is left out", nil, 5},
		{"the count is too high", func(d *domain.Decision) { d.Accepted = ptr(*d.Accepted + 1) }, -1},
		{"the slot is none of the campaign", func(d *domain.Decision) { d.Data.(*domain.CellImported).Cell.Ordinal = 9 }, -1},
		{"the slot is filled already", func(d *domain.Decision) { d.Data.(*domain.CellImported).Cell.Ordinal = 1 }, -1},
		{"the campaign is opened again", func(d *domain.Decision) { d.Data = projectionstest.Campaign{Scenarios: 1}.Opening() }, -1},
		{"nothing was accepted", func(d *domain.Decision) { d.Data = nil }, -1},
		{"a rejection counts otherwise", func(d *domain.Decision) {
			d.Outcome, d.Accepted, d.Data = domain.Rejected, ptr(*d.Accepted+1), nil
		}, -1},
	} {
		t.Run(row.name, func(t *testing.T) {
			ledger := projectionstest.Story(t)
			fold := projections.NewFold(ledger.Log)
			var err error
			for i := 0; i < 8 && err == nil; i++ {
				d := *ledger.Decisions[i]
				if i == row.skip {
					continue
				}
				if i == 7 && row.change != nil {
					if data, ok := d.Data.(*domain.CellImported); ok {
						d.Data = ptr(*data)
					}
					row.change(&d)
				}
				err = fold.Add(t.Context(), &d, ledger.Hashes[i])
			}
			if !errors.Is(err, domain.ErrLedgerContradicts) {
				t.Errorf("got %v, want ErrLedgerContradicts", err)
			}
		})
	}
}

// TestHydrationNoticesLoss: a fold that starts in the middle reads what came
// before, and notices when some of it is gone or makes no sense.
func TestHydrationNoticesLoss(t *testing.T) {
	for _, row := range []struct {
		name    string
		damage  func(*eventstest.Log)
		decides int // the decision that needs the state
		want    error
	}{
		{"healthy, accepted", func(*eventstest.Log) {}, 10, nil},
		{"healthy, rejected", func(*eventstest.Log) {}, 12, nil},
		{"an import is gone", func(l *eventstest.Log) { l.Remove(8) }, 10, domain.ErrLedgerContradicts},
		{"an import is gone, before a rejection", func(l *eventstest.Log) { l.Remove(8) }, 12, domain.ErrLedgerContradicts},
		{"the opening is gone", func(l *eventstest.Log) { l.Remove(4) }, 12, domain.ErrLedgerContradicts},
		{"a record does not decode", func(l *eventstest.Log) {
			l.Replace(8, func(m *events.Message) { m.Data = []byte("{}") })
		}, 10, events.ErrRecordMalformed},
		{"the stream is away", func(l *eventstest.Log) { l.SetUnavailable(true) }, 10, events.ErrUnavailable},
	} {
		t.Run(row.name, func(t *testing.T) {
			ledger := projectionstest.Story(t)
			row.damage(ledger.Log)
			err := projections.NewFold(ledger.Log).Add(t.Context(), ledger.Decisions[row.decides], ledger.Hashes[row.decides])
			if !errors.Is(err, row.want) {
				t.Errorf("got %v, want %v", err, row.want)
			}
		})
	}
}

// TestStorable: no NUL is kept, and different strings stay different.
func TestStorable(t *testing.T) {
	seen := map[string]string{}
	for _, s := range []string{"", "a", "\x00", "␀", "␀0", "␀␀", "\x00\x00", "␀\x00", "\x00␀", "a\x00b", "a␀0b", "a␀␀0b"} {
		stored := projections.Storable(s)
		if strings.Contains(stored, "\x00") {
			t.Errorf("%q is kept as %q", s, stored)
		}
		if before, again := seen[stored]; again {
			t.Errorf("%q and %q are both kept as %q", s, before, stored)
		}
		seen[stored] = s
	}
	if got := projections.Storable("a\xffb"); got != "a\uFFFDb" {
		t.Errorf("invalid UTF-8 is kept as %q", got)
	}
}

func TestStorableJSON(t *testing.T) {
	for given, want := range map[string]string{
		`{"a":"b","n":1e400}`:                `{"a":"b","n":1e400}`,
		`{"a":"\u0000","b":["␀",1.50,null]}`: `{"a":"␀0","b":["␀␀",1.50,null]}`,
		`{"a":"\\u0000"}`:                    `{"a":"\\u0000"}`,
		`{"\u0000":true}`:                    `{"␀0":true}`,
	} {
		if got := string(projections.StorableJSON([]byte(given))); got != want {
			t.Errorf("%s is kept as %s, want %s", given, got, want)
		}
	}
}
