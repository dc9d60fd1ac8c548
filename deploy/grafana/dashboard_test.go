// Package grafana_test holds the dashboard against the metrics that exist.
package grafana_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"github.com/ledgerd/ledgerd/events/eventstest"
	"github.com/ledgerd/ledgerd/internal/metrics"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// dashboard is what a test reads of Grafana's format.
type dashboard struct {
	Panels     []panel
	Templating struct {
		List []struct{ Name, Type, Definition string }
	}
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Targets                  []struct{ Expr, LegendFormat string }
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	data, err := os.ReadFile("ledgerd.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// existing gives the labels of every series that a daemon serves, by name.
// What Prometheus adds when it scrapes is among them.
func existing(t *testing.T) map[string]map[string]bool {
	t.Helper()
	m := metrics.New("test")
	store, ledger := m.Store(projectionstest.NewModel()), eventstest.NewLedger()
	m.WatchStreams(eventstest.NewArrivals(), ledger)
	m.WatchLag("views", store, ledger)
	m.Projection("views")
	m.WatchReady(func() bool { return true })
	families, err := m.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]map[string]bool{}
	for _, family := range families {
		note(found, family)
	}
	return found
}

func note(found map[string]map[string]bool, family *dto.MetricFamily) {
	labels := map[string]bool{"job": true, "instance": true}
	for _, metric := range family.GetMetric() {
		for _, label := range metric.GetLabel() {
			labels[label.GetName()] = true
		}
	}
	name := family.GetName()
	if family.GetType() != dto.MetricType_HISTOGRAM {
		found[name] = labels
		return
	}
	found[name+"_sum"], found[name+"_count"] = labels, labels
	buckets := map[string]bool{"le": true}
	for label := range labels {
		buckets[label] = true
	}
	found[name+"_bucket"] = buckets
}

var (
	quoted     = regexp.MustCompile(`"[^"]*"`)
	selector   = regexp.MustCompile(`([a-zA-Z_:][a-zA-Z0-9_:]*)\{([^}]*)\}`)
	grouping   = regexp.MustCompile(`\b(?:by|without|on|ignoring)\s*\(([^)]*)\)`)
	duration   = regexp.MustCompile(`\[[^\]]*\]`)
	identifier = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
	legend     = regexp.MustCompile(`\{\{(\w+)\}\}`)
)

// promQL are the words of the language that the dashboard uses.
var promQL = map[string]bool{
	"sum": true, "min": true, "max": true, "count": true, "topk": true, "rate": true, "increase": true, "histogram_quantile": true,
	"and": true, "by": true, "label_values": true,
}

// TestEveryMetricExists: with the labels that it is asked by.
func TestEveryMetricExists(t *testing.T) {
	series, d := existing(t), readDashboard(t)
	used := 0
	check := func(where, expression, legendFormat string) {
		found, wrong := checkExpression(series, expression, legendFormat)
		used += found
		for _, complaint := range wrong {
			t.Errorf("%s: %s", where, complaint)
		}
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			check(p.Title, target.Expr, target.LegendFormat)
		}
	}
	for _, variable := range d.Templating.List {
		if variable.Type == "query" {
			check(variable.Name, variable.Definition, "")
		}
	}
	if used < 30 {
		t.Errorf("found %d metrics in the dashboard: the expressions are not read right", used)
	}
}

// checkExpression gives how many metrics an expression names, and what is
// wrong with it.
func checkExpression(series map[string]map[string]bool, expression, legendFormat string) (found int, wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	plain := duration.ReplaceAllString(quoted.ReplaceAllString(expression, `""`), "")
	labels := map[string]bool{} // of all metrics in the expression
	bare := selector.ReplaceAllStringFunc(plain, func(match string) string {
		parts := selector.FindStringSubmatch(match)
		found++
		has := series[parts[1]]
		if has == nil {
			complain("no metric is named %s", parts[1])
		}
		maps.Copy(labels, has)
		for matcher := range strings.SplitSeq(parts[2], ",") {
			if name := identifier.FindString(matcher); !has[name] {
				complain("%s has no label %q", parts[1], name)
			}
		}
		return ""
	})
	for _, group := range grouping.FindAllStringSubmatch(bare, -1) {
		for _, name := range identifier.FindAllString(group[1], -1) {
			if !labels[name] {
				complain("grouped by %q, which none of its metrics has", name)
			}
		}
	}
	for _, name := range legend.FindAllStringSubmatch(legendFormat, -1) {
		if !labels[name[1]] {
			complain("the legend shows %q, which none of its metrics has", name[1])
		}
	}
	variable := strings.HasPrefix(expression, "label_values(")
	for _, word := range identifier.FindAllString(grouping.ReplaceAllString(bare, ""), -1) {
		if promQL[word] || variable && (word == "job" || word == "instance") {
			continue
		}
		found++
		if series[word] == nil {
			complain("no metric is named %s", word)
		}
	}
	return found, wrong
}

// TestTheCheckFinds: an expression with anything wrong in it is not taken.
func TestTheCheckFinds(t *testing.T) {
	series := existing(t)
	for expression, complaints := range map[string]int{
		`sum by (reason) (rate(ledgerd_decisions_total{outcome="rejected"}[5m]))`: 0,
		`sum(ledgerd_nothing)`:                               1,
		`ledgerd_nothing{job=~"$job"}`:                       2, // its label too
		`rate(ledgerd_append_seconds{job="x"}[5m])`:          2, // a histogram has no such series
		`sum by (nobody) (ledgerd_decisions_total{job="x"})`: 1,
		`ledgerd_decisions_total{colour="x"}`:                1,
	} {
		if found, wrong := checkExpression(series, expression, ""); found != 1 || len(wrong) != complaints {
			t.Errorf("%s: %d metrics, complaints %q, want 1 metric and %d complaints", expression, found, wrong, complaints)
		}
	}
}

// TestPanels: each says what it shows, and none covers another.
func TestPanels(t *testing.T) {
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range readDashboard(t).Panels {
		if ids[p.ID] || p.Title == "" || p.Type != "row" && (p.Description == "" || len(p.Targets) == 0) {
			t.Errorf("panel %d %q: its id is there twice, or it lacks a title, description or target", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("%q covers %q, or is beyond the edge", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}
