package export_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest"
	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/audit/audittest"
	"github.com/ledgerd/ledgerd/internal/audit/export"
	"github.com/ledgerd/ledgerd/internal/simci"
)

// decided gives a ledger on which everything but the last arrivals is decided,
// with messages that are hard to write down.
func decided(t testing.TB, config simci.Config) audit.Source {
	t.Helper()
	ci, err := simci.New(config)
	if err != nil {
		t.Fatal(err)
	}
	arrivals, decisions := eventstest.NewArrivals(), eventstest.NewLedger()
	arrivals.Publish(audittest.Arrivals(t, ci)...)
	arrivals.Publish(
		events.Outgoing{Subject: "ledger.arrivals.a\xff.cell", Data: []byte("\xff\x00\n")},
		events.Outgoing{Subject: "ledger.arrivals.a.cell", Header: events.Header{"ce-id": {"a\xff", "b"}, "x": {""}}, Data: []byte{}},
	)
	audittest.Decide(t, arrivals, decisions)
	arrivals.Publish(events.Outgoing{Subject: "ledger.arrivals.a.cell", Data: []byte("late")})
	return audit.Live(arrivals, decisions)
}

func write(t testing.TB, source audit.Source, evidence bool) []byte {
	t.Helper()
	var out bytes.Buffer
	written, err := export.Write(audittest.WithPatience(t), &out, export.Config{Source: source, Ledger: "test", Evidence: evidence})
	if err != nil {
		t.Fatal(err)
	}
	if len(written.Found) > 0 {
		t.Error(written.Found)
	}
	return out.Bytes()
}

func read(text []byte) audit.Source {
	return export.Source("export.jsonl", func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil })
}

// pairs walks a source to its end.
func pairs(t testing.TB, source audit.Source, what audit.Selection) (all []audit.Pair, found []audit.Finding) {
	t.Helper()
	walk, err := source.Walk(audittest.WithPatience(t), what)
	if err != nil {
		t.Fatal(err)
	}
	defer walk.Close()
	for {
		p, err := walk.Next(audittest.WithPatience(t))
		all, found = append(all, p.Pairs...), append(found, p.Found...)
		if errors.Is(err, io.EOF) {
			return all, found
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func same(t testing.TB, got, want []audit.Pair) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d pairs, want %d", len(got), len(want))
	}
	for i := range want {
		for _, m := range [][2]*events.Message{{got[i].Arrival, want[i].Arrival}, {got[i].Decision, want[i].Decision}} {
			if (m[0] == nil) != (m[1] == nil) {
				t.Fatalf("pair %d: %v, want %v", i, got[i], want[i])
			}
			if m[0] != nil && !(m[0].Seq == m[1].Seq && m[0].Time.Equal(m[1].Time) && m[0].Subject == m[1].Subject &&
				bytes.Equal(m[0].Data, m[1].Data) && (len(m[0].Header) == 0 && len(m[1].Header) == 0 || reflect.DeepEqual(m[0].Header, m[1].Header))) {
				t.Errorf("pair %d: %.300v\nwant %.300v", i, m[0], m[1])
			}
		}
	}
}

func TestRoundTrip(t *testing.T) {
	source := decided(t, simci.Demo(4))
	for _, evidence := range []bool{true, false} {
		text := write(t, source, evidence)
		for _, what := range []audit.Selection{{Arrivals: evidence}, {Arrivals: evidence, Campaign: "a"}, {}} {
			want, _ := pairs(t, source, what)
			got, found := pairs(t, read(text), what)
			if len(found) > 0 {
				t.Error(found)
			}
			same(t, got, want)
		}
		if evidence {
			result, err := audit.Replay(audittest.WithPatience(t), audit.ReplayConfig{Source: read(text)})
			if err != nil || !result.Same() || result.Undecided != 1 {
				t.Errorf("%+v, %v", result, err)
			}
		}
		result, err := audit.Verify(audittest.WithPatience(t), audit.VerifyConfig{Source: read(text), Evidence: evidence})
		if err != nil || !result.Sound() {
			t.Errorf("%+v, %v", result, err)
		}
		var again bytes.Buffer
		_, err = export.Write(audittest.WithPatience(t), &again, export.Config{Source: read(text), Evidence: evidence})
		if err != nil || !bytes.Equal(again.Bytes(), text) {
			t.Errorf("an export of an export is another text: %v", err)
		}
	}
}

// TestRecordsStandAsTheyAre: whoever has no NATS cuts a record out of its line
// and has the bytes that were hashed.
func TestRecordsStandAsTheyAre(t *testing.T) {
	source := decided(t, simci.Config{Scenarios: 1})
	text := write(t, source, false)
	want, _ := pairs(t, source, audit.Selection{})
	for i, line := range slices.Collect(strings.Lines(string(text)))[1 : len(want)+1] {
		_, record, _ := strings.Cut(strings.TrimSpace(line), `"record":`)
		if record = strings.TrimSuffix(record, "}}"); record != string(want[i].Decision.Data) {
			t.Errorf("%s\nwant %s", record, want[i].Decision.Data)
		}
	}
}

func TestWithoutEvidence(t *testing.T) {
	text := write(t, decided(t, simci.Config{Scenarios: 1}), false)
	if _, err := read(text).Walk(audittest.WithPatience(t), audit.Selection{Arrivals: true}); !errors.Is(err, export.ErrNoEvidence) {
		t.Error(err)
	}
}

func TestWhatIsNoExport(t *testing.T) {
	for _, text := range []string{"", "\n", "{}\n", "PK\x03\x04", `{"ledgerd":"export","format":2,"ledger":"x"}` + "\n", `{"ledgerd": "export","format":1}` + "\n"} {
		if _, err := read([]byte(text)).Walk(audittest.WithPatience(t), audit.Selection{}); !errors.Is(err, export.ErrNoExport) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func verify(t testing.TB, text []byte) (*audit.Verified, error) {
	t.Helper()
	return audit.Verify(audittest.WithPatience(t), audit.VerifyConfig{Source: read(text), Evidence: true})
}

// TestEveryByte changes a bit of every byte of the first lines and the last, and
// of some between.
func TestEveryByte(t *testing.T) {
	text := write(t, decided(t, simci.Config{Scenarios: 1}), true)
	random := rand.New(rand.NewPCG(2, 2))
	const edge, step = 200, 61
	for at := 0; at < len(text); at++ {
		if at > edge && at < len(text)-edge && at%step != 0 {
			continue
		}
		bit := random.IntN(8)
		text[at] ^= 1 << bit
		if result, err := verify(t, text); err == nil && result.Sound() {
			t.Errorf("nobody notices bit %d of byte %d, in %q", bit, at, text[max(at-20, 0):min(at+20, len(text))])
		}
		text[at] ^= 1 << bit
	}
}

func TestEveryAlteration(t *testing.T) {
	text := write(t, decided(t, simci.Config{Scenarios: 1}), true)
	lines := slices.Collect(strings.Lines(string(text)))
	last := len(lines) - 1
	for name, altered := range map[string][]string{
		"a line is gone":               slices.Delete(slices.Clone(lines), 3, 4),
		"a line is there twice":        slices.Insert(slices.Clone(lines), 3, lines[3]),
		"two lines changed places":     append(append(slices.Clone(lines[:3]), lines[4], lines[3]), lines[5:]...),
		"the last line is gone":        lines[:last],
		"cut off in a line":            append(slices.Clone(lines[:last-2]), lines[last-2][:20]),
		"cut off by a byte":            append(slices.Clone(lines[:last]), lines[last][:len(lines[last])-1]),
		"there is more behind the end": append(slices.Clone(lines), "{}\n"),
		"an empty line":                slices.Insert(slices.Clone(lines), 3, "\n"),
		"spaces":                       slices.Replace(slices.Clone(lines), 3, 4, " "+lines[3]),
		"another decision's sequence":  slices.Replace(slices.Clone(lines), 4, 5, strings.Replace(lines[4], `"seq":2`, `"seq":3`, 1)),
		"bad base64":                   slices.Replace(slices.Clone(lines), 3, 4, `{"arrival":{"seq":2,"time":"2026-01-01T00:00:02Z","subject":"x","body_base64":"?"}}`+"\n"),
		"no message":                   slices.Insert(slices.Clone(lines), 3, `{}`+"\n"),
	} {
		result, err := verify(t, []byte(strings.Join(altered, "")))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.ContainsFunc(result.Found, func(f audit.Finding) bool {
			return f.Problem == audit.ProblemManifest && f.File == "export.jsonl" && strings.HasPrefix(f.Detail, "line ")
		}) {
			t.Errorf("%s: no line is named: %v", name, result.Found)
		}
	}
}

// TestALineThatNeverEnds is refused before it fills the memory.
func TestALineThatNeverEnds(t *testing.T) {
	text := write(t, decided(t, simci.Config{Scenarios: 1}), true)
	endless := export.Source("endless", func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(bytes.NewReader(text[:bytes.IndexByte(text, '\n')+1]), zeros{})), nil
	})
	if _, err := audit.Verify(audittest.WithPatience(t), audit.VerifyConfig{Source: endless}); err == nil || !strings.Contains(err.Error(), "line 2 is longer") {
		t.Error(err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestFailures: what cannot be read or written is an error.
func TestFailures(t *testing.T) {
	source := decided(t, simci.Config{Scenarios: 1})
	if _, err := export.Write(audittest.WithPatience(t), full{}, export.Config{Source: source}); !errors.Is(err, errFull) {
		t.Error(err)
	}
	broken := export.Source("x", func() (io.ReadCloser, error) { return nil, errFull })
	if _, err := broken.Walk(audittest.WithPatience(t), audit.Selection{}); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"decision":{"seq":1,"time":"2026-01-01T00:00:02Z","subject":"x","record":{}}}` + "\n"))
	f.Add([]byte(`{"arrival":{"seq":1,"time":"2026-01-01T00:00:02Z","subject":"x","headers_base64":"TkFUUw=="}}` + "\n"))
	first := fmt.Sprintf(`{"ledgerd":"export","format":1,"ledger":"x","evidence":true}%c`, '\n')
	f.Fuzz(func(t *testing.T, rest []byte) {
		if _, err := verify(t, append([]byte(first), rest...)); err != nil {
			t.Error(err)
		}
	})
}
