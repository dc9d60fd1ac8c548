package tree_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// bundles makes the bundles of all campaigns of a random ledger.
func bundles(t testing.TB, keys *tree.Keys, seed uint64, decisions int) map[string][]byte {
	t.Helper()
	l := projectionstest.Random(t, seed, decisions)
	merkle, stop := start(t, tree.Config{Log: l.Log, Store: newStore(t), Keys: keys})
	waitFor(t, merkle, int64(l.Last()))
	if err := stop(); err != nil {
		t.Fatalf("%+v", err)
	}
	all := map[string][]byte{}
	for _, d := range l.Decisions {
		if _, opened := d.Latest().(*domain.Opening); !opened {
			continue
		}
		bundle, err := merkle.CampaignBundle(t.Context(), d.Campaign)
		if err != nil {
			t.Fatalf("%+v", err)
		}
		var file bytes.Buffer
		if _, err := bundle.WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		all[d.Campaign] = file.Bytes()
		checkBundle(t, file.Bytes(), keys, l.Decisions, d.Campaign)
	}
	if len(all) == 0 {
		t.Fatal("no campaign was opened: the test shows nothing")
	}
	return all
}

// checkBundle compares what a bundle alone gives with a fold of the whole
// ledger, by other means.
func checkBundle(t testing.TB, file []byte, keys *tree.Keys, decisions []*domain.Decision, campaign string) {
	t.Helper()
	v, err := tree.VerifyBundle(file, keys.Current())
	if err != nil {
		t.Fatalf("%+v", err)
	}
	type key [2]string
	imported, claimed := map[key]bool{}, map[key]domain.Usage{}
	records, sealed := 0, false
	for _, d := range decisions {
		if d.Campaign != campaign || d.CampaignIndex == nil || sealed {
			continue
		}
		records++
		switch data := d.Latest().(type) {
		case *domain.CellImported:
			imported[key{data.Cell.MeasurementKey, data.Cell.ResultSHA256}] = true
		case *domain.CellRefused:
			if c := data.Claimed; c != nil && c.MeasurementKey != nil {
				claimed[key{*c.MeasurementKey, *c.ResultSHA256}] = *c.Usage
			}
		case *domain.Seal:
			sealed = true
			if diff := cmp.Diff(data.Tally, v.Tally); diff != "" {
				t.Error(diff)
			}
		}
	}
	var refused domain.Account
	for m, usage := range claimed {
		if !imported[m] {
			refused.Add(domain.DefaultPlausible().Charge(usage))
		}
	}
	if diff := cmp.Diff(refused.Spend(), v.Refused); diff != "" || v.Records != records || v.Sealed != sealed {
		t.Errorf("campaign %s: %d records, sealed %v: %s", campaign, v.Records, v.Sealed, diff)
	}
}

// reprint chains records anew from a place on, as somebody does who holds the
// writer's key; the head that was published stays.
func reprint(t testing.TB, lines [][]byte) [][]byte {
	t.Helper()
	printed := [][]byte{}
	prev := events.GenesisHash
	accepted := uint64(1)
	for i, line := range lines {
		d, err := events.DecodeRecord(line)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			if d.Outcome == domain.Accepted {
				accepted++
			}
			index, last, count := uint64(i), prev, accepted
			d.CampaignIndex, d.CampaignPrev, d.Accepted = &index, &last, &count
		}
		record, err := events.EncodeRecord(d)
		if err != nil {
			t.Fatal(err)
		}
		prev = events.RecordHash(record)
		printed = append(printed, record)
	}
	return printed
}

// alterBundle changes a bundle's records, and tells their number anew.
func alterBundle(t testing.TB, file []byte, change func(lines [][]byte) [][]byte) []byte {
	t.Helper()
	lines := bytes.Split(bytes.TrimSuffix(file, []byte("\n")), []byte("\n"))
	records := change(slices.Clone(lines[1:]))
	header := bytes.Replace(lines[0], number(len(lines)-1), number(len(records)), 1)
	return append(bytes.Join(append([][]byte{header}, records...), []byte("\n")), '\n')
}

func number(records int) []byte {
	text, err := json.Marshal(records)
	if err != nil {
		panic(err) // a number prints
	}
	return append([]byte(`"records":`), text...)
}

// TestNothingCanBeLeftOutOfACampaign: each attack on a campaign's chain is
// refused, as it is done and when what follows is printed again.
func TestNothingCanBeLeftOutOfACampaign(t *testing.T) {
	keys := newKeys(t)
	random := rand.New(rand.NewPCG(1, 2))
	tried := 0
	for seed := range uint64(25) {
		for campaign, file := range bundles(t, keys, seed, 60) {
			n := bytes.Count(file, []byte("\n")) - 1
			if n < 3 {
				continue
			}
			for range 20 {
				at := 1 + random.IntN(n-1) // the opening stays: without it there is no campaign
				attacks := map[string]func([][]byte) [][]byte{
					"dropped": func(lines [][]byte) [][]byte { return slices.Delete(lines, at, at+1) },
					"doubled": func(lines [][]byte) [][]byte { return slices.Insert(lines, at, lines[at]) },
					"altered": func(lines [][]byte) [][]byte {
						lines[at] = bytes.Replace(lines[at], []byte(`"arrival":{"seq":`), []byte(`"arrival":{"seq":1`), 1)
						return lines
					},
				}
				if n > 3 {
					to := 1 + (at+random.IntN(n-2))%(n-1)
					attacks["moved"] = func(lines [][]byte) [][]byte {
						line := lines[at]
						return slices.Insert(slices.Delete(lines, at, at+1), to, line)
					}
				}
				for name, attack := range attacks {
					altered := alterBundle(t, file, attack)
					if bytes.Equal(altered, file) {
						continue
					}
					if v, err := tree.VerifyBundle(altered, keys.Current()); !errors.IsAny(err, tree.ErrBundleBroken, tree.ErrProofFailed) {
						t.Fatalf("campaign %s, record %d is %s: %v, %v", campaign, at, name, v, err)
					}
					tried++
					if name == "altered" {
						continue
					}
					again := alterBundle(t, file, func(lines [][]byte) [][]byte { return reprint(t, attack(lines)) })
					if v, err := tree.VerifyBundle(again, keys.Current()); !errors.IsAny(err, tree.ErrBundleBroken, tree.ErrProofFailed) {
						t.Fatalf("campaign %s, record %d is %s and what follows printed again: %v, %v", campaign, at, name, v, err)
					}
					tried++
				}
			}
		}
	}
	if tried < 2000 {
		t.Errorf("only %d attacks were tried", tried)
	}
}

func TestBundleOfNoCampaign(t *testing.T) {
	merkle, _ := story(t, newKeys(t))
	if _, err := merkle.CampaignBundle(t.Context(), "never-opened"); !errors.Is(err, tree.ErrNoCampaign) {
		t.Error(err)
	}
}

// TestWhatIsNoBundle: the first line is read as strictly as a receipt.
func TestWhatIsNoBundle(t *testing.T) {
	keys := newKeys(t)
	for _, file := range bundles(t, keys, 3, 60) {
		for name, altered := range map[string][]byte{
			"nothing":          {},
			"a line":           []byte("{}\n"),
			"no line break":    bytes.TrimSuffix(file, []byte("\n")),
			"a space":          append([]byte(" "), file...),
			"a member more":    bytes.Replace(file, []byte(`{"format"`), []byte(`{"more":1,"format"`), 1),
			"another campaign": bytes.Replace(file, []byte(`"campaign":"`), []byte(`"campaign":"x`), 1),
			"another number":   bytes.Replace(file, []byte(`"records":`), []byte(`"records":1`), 1),
			"a line more":      append(bytes.Clone(file), '\n'),
		} {
			if v, err := tree.VerifyBundle(altered, keys.Current()); !errors.IsAny(err, tree.ErrReceiptMalformed, tree.ErrBundleBroken) {
				t.Errorf("%s: %v, %v", name, v, err)
			}
		}
		if _, err := tree.VerifyBundle(file, newKeys(t).Current()); !errors.Is(err, tree.ErrUntrusted) {
			t.Errorf("with another key: %v", err)
		}
		return
	}
}
