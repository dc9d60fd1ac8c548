package projections_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/follow"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

var _ follow.Memory = (*projections.Runner)(nil)

// start runs a runner until the test stops it; stop gives what Run returned.
func start(t *testing.T, log events.Log, store projections.Store) (runner *projections.Runner, stop func() error) {
	t.Helper()
	runner, err := projections.NewRunner(projections.Config{Log: log, Store: store, Name: "views"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	return runner, func() error {
		cancel()
		return <-ended
	}
}

// sameAs compares a model with one fold of the whole ledger.
func sameAs(t *testing.T, ledger *projectionstest.Ledger, m *projectionstest.Model) {
	t.Helper()
	want := projectionstest.NewModel()
	if err := want.Apply(t.Context(), projections.Position{}, ledger.Position(ledger.Last()), ledger.Fold(0, ledger.Last())); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Rows(), m.Rows()); diff != "" {
		t.Error(diff)
	}
	got, _ := m.Position(t.Context())
	compare(t, ledger.Position(ledger.Last()), got)
}

func TestRunnerFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := projectionstest.Random(t, 11, 50)
		store := projectionstest.NewModel()
		runner, stop := start(t, ledger.Log, store)
		for range 3 {
			at, err := runner.WaitFor(t.Context(), ledger.Last())
			if err != nil || at != ledger.Position(ledger.Last()) || runner.Position() != at {
				t.Fatalf("waited until %+v, %v", at, err)
			}
			sameAs(t, ledger, store)
			ledger.Malformed("", "")
			ledger.Malformed("c0", domain.KindVoid)
		}
		synctest.Wait()
		if lag, err := runner.Lag(t.Context()); lag != 0 || err != nil {
			t.Errorf("the lag is %d, %v", lag, err)
		}
		if err := stop(); err != nil {
			t.Errorf("%+v", err)
		}
		ledger.Malformed("", "")
		if lag, err := runner.Lag(t.Context()); lag != 1 || err != nil {
			t.Errorf("stopped, the lag is %d, %v", lag, err)
		}
		seq, hash, err := runner.Remembered(t.Context())
		if want := ledger.Position(ledger.Last() - 1); seq != want.Seq || hash != want.Hash || err != nil || runner.Name() != "views" {
			t.Errorf("%s remembers %d %s, %v", runner.Name(), seq, hash, err)
		}
	})
}

// TestRunnerLosesAndDoublesNothing: whatever the store answers, the rows are
// those of the ledger, once.
func TestRunnerLosesAndDoublesNothing(t *testing.T) {
	for _, row := range []struct {
		name string
		step projections.Step
		err  error
	}{
		{"away before the commit", projections.BeforeApplyCommit, projections.ErrUnavailable},
		{"acknowledgement lost", projections.AfterApplyCommit, projections.ErrUnavailable},
		{"another runner was faster", projections.BeforeApplyCommit, projections.ErrMoved},
		{"stored, and told that it moved", projections.AfterApplyCommit, projections.ErrMoved},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ledger := projectionstest.Story(t)
				store := projectionstest.NewModel()
				var asked atomic.Int32
				store.SetFault(func(step projections.Step) error {
					if step != row.step || asked.Add(1)%2 == 0 {
						return nil
					}
					return errors.Wrap(row.err, "the test says so")
				})
				runner, stop := start(t, ledger.Log, store)
				for asked.Load() < 6 {
					if _, err := runner.WaitFor(t.Context(), ledger.Last()); err != nil {
						t.Fatal(err)
					}
					ledger.Malformed("beta", domain.KindCell)
				}
				if _, err := runner.WaitFor(t.Context(), ledger.Last()); err != nil {
					t.Fatal(err)
				}
				sameAs(t, ledger, store)
				if err := stop(); err != nil {
					t.Errorf("%+v", err)
				}
			})
		})
	}
}

func TestRunnerWaitsForTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := projectionstest.Story(t)
		store := projectionstest.NewModel()
		ledger.Log.SetUnavailable(true)
		runner, stop := start(t, ledger.Log, store)
		time.Sleep(time.Hour) // of the test's clock
		ledger.Log.SetUnavailable(false)
		if _, err := runner.WaitFor(t.Context(), ledger.Last()); err != nil {
			t.Fatal(err)
		}
		ledger.Log.SetUnavailable(true)
		synctest.Wait()
		ledger.Malformed("", "")
		ledger.Log.SetUnavailable(false)
		if _, err := runner.WaitFor(t.Context(), ledger.Last()); err != nil {
			t.Fatal(err)
		}
		sameAs(t, ledger, store)
		if err := stop(); err != nil {
			t.Errorf("%+v", err)
		}
	})
}

// TestRunnerRetriesWithin: retries come soon at first and never more than five
// seconds apart.
func TestRunnerRetriesWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := projectionstest.Story(t)
		store := projectionstest.NewModel()
		var tries []time.Time
		store.SetFault(func(projections.Step) error {
			tries = append(tries, time.Now())
			return projections.ErrUnavailable
		})
		_, stop := start(t, ledger.Log, store)
		time.Sleep(time.Minute)
		if err := stop(); err != nil {
			t.Errorf("%+v", err)
		}
		if len(tries) < 12 || tries[1].Sub(tries[0]) != 100*time.Millisecond {
			t.Fatalf("tried at %v", tries)
		}
		for i := 1; i < len(tries); i++ {
			if pause := tries[i].Sub(tries[i-1]); pause > 5*time.Second {
				t.Errorf("a pause of %v", pause)
			}
		}
	})
}

func TestTwoRunnersOnOneStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := projectionstest.Random(t, 13, 40)
		store := projectionstest.NewModel()
		one, stopOne := start(t, ledger.Log, store)
		two, stopTwo := start(t, ledger.Log, store)
		for range 20 {
			ledger.Malformed("c0", domain.KindCell)
			for _, runner := range []*projections.Runner{one, two} {
				if _, err := runner.WaitFor(t.Context(), ledger.Last()); err != nil {
					t.Fatal(err)
				}
			}
		}
		sameAs(t, ledger, store)
		for _, stop := range []func() error{stopOne, stopTwo} {
			if err := stop(); err != nil {
				t.Errorf("%+v", err)
			}
		}
	})
}

// TestRunnerStops: a ledger that is not the one, or damaged, ends the runner
// with an error that says what to do. What was applied before stays.
func TestRunnerStops(t *testing.T) {
	replaceData := func(change func(*domain.Decision)) func(*projectionstest.Ledger, *projectionstest.Model) {
		return func(l *projectionstest.Ledger, _ *projectionstest.Model) {
			d := *l.Decisions[19]
			change(&d)
			record, err := events.EncodeRecord(&d)
			if err != nil {
				t.Fatal(err)
			}
			l.Log.Replace(20, func(m *events.Message) { m.Data = record })
		}
	}
	// The campaign of what comes next is hydrated from its opening on.
	replaceOpening := func(change func(*events.Message)) func(*projectionstest.Ledger, *projectionstest.Model) {
		return func(l *projectionstest.Ledger, _ *projectionstest.Model) {
			for _, d := range l.Decisions[:14] {
				if d.Campaign == l.Decisions[15].Campaign && d.Outcome == domain.Accepted {
					l.Log.Replace(d.Arrival.Seq, change)
					return
				}
			}
			t.Fatal("the campaign is not open before")
		}
	}
	for _, row := range []struct {
		name   string
		damage func(*projectionstest.Ledger, *projectionstest.Model) // after sequence 15 was applied
		want   error
		at     uint64 // where the views are in the end
	}{
		{"the end was lost", func(l *projectionstest.Ledger, _ *projectionstest.Model) { l.Log.Truncate(14) }, follow.ErrForeignLedger, 15},
		{"made anew", func(l *projectionstest.Ledger, _ *projectionstest.Model) { l.Log.Recreate() }, follow.ErrForeignLedger, 15},
		{"history replaced", func(l *projectionstest.Ledger, _ *projectionstest.Model) {
			l.Log.Replace(15, func(m *events.Message) { m.Data = []byte("{}") })
		}, follow.ErrForeignLedger, 15},
		{"read from another stream", func(l *projectionstest.Ledger, m *projectionstest.Model) {
			position := l.Position(15)
			position.Stream = "another"
			m.SetPosition(position)
		}, follow.ErrForeignLedger, 15},
		{"the last one is gone", func(l *projectionstest.Ledger, _ *projectionstest.Model) { l.Log.Remove(15) }, follow.ErrDamaged, 15},
		{"a gap", func(l *projectionstest.Ledger, _ *projectionstest.Model) { l.Log.Remove(20) }, follow.ErrDamaged, 19},
		{"no record", func(l *projectionstest.Ledger, _ *projectionstest.Model) {
			l.Log.Replace(20, func(m *events.Message) { m.Data = []byte("{}") })
		}, follow.ErrDamaged, 19},
		{"on another subject", func(l *projectionstest.Ledger, _ *projectionstest.Model) {
			l.Log.Replace(20, func(m *events.Message) { m.Subject = "ledger.decisions.alpha.accepted.cell" })
		}, follow.ErrDamaged, 19},
		{"another place", replaceData(func(d *domain.Decision) { d.Index, d.Arrival.Seq = 20, 21 }), follow.ErrDamaged, 19},
		{"the chain is broken", replaceData(func(d *domain.Decision) { d.Prev = events.GenesisHash }), follow.ErrDamaged, 19},
		{"the chain breaks behind it", replaceData(func(d *domain.Decision) { d.Detail = "altered" }), follow.ErrDamaged, 20},
		{"a contradiction", replaceData(func(d *domain.Decision) { d.Accepted = ptr(uint64(3)) }), follow.ErrDamaged, 15},
		{"later rules", replaceData(func(d *domain.Decision) { d.V = domain.RuleVersion + 1 }), domain.ErrUnknownRules, 19},
		{"later rules in what is hydrated", replaceOpening(func(m *events.Message) {
			m.Data = bytes.Replace(m.Data, []byte(`{"v":1,`), []byte(`{"v":2,`), 1)
		}), domain.ErrUnknownRules, 15},
		{"another place in what is hydrated", replaceOpening(func(m *events.Message) {
			index := fmt.Sprintf(`"index":%d,`, m.Seq-1)
			m.Data = bytes.Replace(m.Data, []byte(index), []byte(`"index":900,`), 1)
			m.Data = bytes.Replace(m.Data, fmt.Appendf(nil, `{"seq":%d,`, m.Seq), []byte(`{"seq":901,`), 1)
		}), follow.ErrDamaged, 15},
		{"another fold", func(_ *projectionstest.Ledger, m *projectionstest.Model) { m.SetVersion(projections.FoldVersion + 1) },
			projections.ErrAnotherVersion, 15},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ledger := projectionstest.Story(t)
				store := projectionstest.NewModel()
				if err := store.Apply(t.Context(), projections.Position{}, ledger.Position(15), ledger.Fold(0, 15)); err != nil {
					t.Fatal(err)
				}
				row.damage(ledger, store)
				runner, stop := start(t, ledger.Log, store)
				_, waited := runner.WaitFor(t.Context(), ledger.Last())
				err := stop()
				if !errors.Is(err, row.want) || !errors.Is(waited, row.want) {
					t.Fatalf("got %v (waiting: %v), want %v", err, waited, row.want)
				}
				if len(errors.GetAllHints(err)) == 0 {
					t.Errorf("no hint: %+v", err)
				}
				if position, _ := store.Position(t.Context()); position.Seq != row.at {
					t.Errorf("the views are at sequence %d, want %d", position.Seq, row.at)
				}
			})
		})
	}
}

func TestWaitForGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := projectionstest.Story(t)
		runner, stop := start(t, ledger.Log, projectionstest.NewModel())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		at, err := runner.WaitFor(ctx, ledger.Last()+1)
		if !errors.Is(err, context.DeadlineExceeded) || at.Seq != ledger.Last() {
			t.Errorf("gave up at %d with %v", at.Seq, err)
		}
		if err := stop(); err != nil {
			t.Errorf("%+v", err)
		}
	})
}

// TestRunnerSimulation: appends, faults of the store, streams that come and
// go, in the order of a seed.
func TestRunnerSimulation(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 1))
				ledger := projectionstest.Random(t, seed, 120)
				store := projectionstest.NewModel()
				var mu sync.Mutex
				faults := rand.New(rand.NewPCG(seed, 2))
				store.SetFault(func(projections.Step) error {
					mu.Lock()
					defer mu.Unlock()
					return []error{nil, nil, nil, nil, projections.ErrUnavailable, projections.ErrMoved}[faults.IntN(6)]
				})
				one, stopOne := start(t, ledger.Log, store)
				_, stopTwo := start(t, ledger.Log, store)
				for range 60 {
					switch random.IntN(4) {
					case 0:
						ledger.Malformed("c0", domain.KindCell)
					case 1:
						ledger.Seal("c0")
					case 2:
						ledger.Log.SetUnavailable(random.IntN(2) == 0)
					default:
						time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
					}
				}
				ledger.Log.SetUnavailable(false)
				if _, err := one.WaitFor(t.Context(), ledger.Last()); err != nil {
					t.Fatal(err)
				}
				sameAs(t, ledger, store)
				for _, stop := range []func() error{stopOne, stopTwo} {
					if err := stop(); err != nil {
						t.Errorf("%+v", err)
					}
				}
			})
		})
	}
}
