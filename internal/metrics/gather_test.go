package metrics_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"github.com/ledgerd/ledgerd/internal/metrics"
)

// sample finds the metric of a name whose labels are exactly the given names
// and values, nil when there is none.
func sample(t *testing.T, m *metrics.Metrics, name string, labels ...string) *dto.Metric {
	t.Helper()
	families, err := m.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for i := 0; i < len(labels); i += 2 {
		want[labels[i]] = labels[i+1]
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			got := map[string]string{}
			for _, label := range metric.GetLabel() {
				got[label.GetName()] = label.GetValue()
			}
			if family.GetName() == name && maps.Equal(got, want) {
				return metric
			}
		}
	}
	return nil
}

// want checks a counter's or gauge's value.
func want(t *testing.T, m *metrics.Metrics, value float64, name string, labels ...string) {
	t.Helper()
	metric := sample(t, m, name, labels...)
	if metric == nil {
		t.Errorf("%s%v is not there", name, labels)
		return
	}
	if got := metric.GetCounter().GetValue() + metric.GetGauge().GetValue(); got != value {
		t.Errorf("%s%v is %v, want %v", name, labels, got, value)
	}
}

// wantSome checks that a counter has counted; how often depends on how many
// scrapes a test made.
func wantSome(t *testing.T, m *metrics.Metrics, name string, labels ...string) {
	t.Helper()
	if got := sample(t, m, name, labels...).GetCounter().GetValue(); got == 0 {
		t.Errorf("%s%v is 0", name, labels)
	}
}

// wantMissing checks that there is no such metric.
func wantMissing(t *testing.T, m *metrics.Metrics, name string, labels ...string) {
	t.Helper()
	if metric := sample(t, m, name, labels...); metric != nil {
		t.Errorf("%s%v is %v, want none", name, labels, metric)
	}
}

// wantObserved checks a histogram's count and sum.
func wantObserved(t *testing.T, m *metrics.Metrics, count uint64, sum float64, name string, labels ...string) {
	t.Helper()
	metric := sample(t, m, name, labels...)
	if metric == nil {
		t.Errorf("%s%v is not there", name, labels)
		return
	}
	if h := metric.GetHistogram(); h.GetSampleCount() != count || h.GetSampleSum() != sum {
		t.Errorf("%s%v has %d of together %v, want %d of %v", name, labels, h.GetSampleCount(), h.GetSampleSum(), count, sum)
	}
}

// TestHandler serves the text format, from a registry of its own.
func TestHandler(t *testing.T) {
	m, second := metrics.New("1.2.3"), metrics.New("other")
	recorder := httptest.NewRecorder()
	m.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	body, err := io.ReadAll(recorder.Body)
	if err != nil || recorder.Code != http.StatusOK || !strings.HasPrefix(recorder.Header().Get("Content-Type"), "text/plain") {
		t.Fatalf("%d %v %v", recorder.Code, recorder.Header(), err)
	}
	for _, line := range []string{`ledgerd_build_info{version="1.2.3"} 1`, "# HELP ledgerd_decisions_total ", "go_goroutines ", "process_cpu_seconds_total "} {
		if !strings.Contains(string(body), line) {
			t.Errorf("lacks %q", line)
		}
	}
	want(t, second, 1, "ledgerd_build_info", "version", "other")
}

// TestReady shows what it is told.
func TestReady(t *testing.T) {
	m, ready := metrics.New("test"), false
	m.WatchReady(func() bool { return ready })
	want(t, m, 0, "ledgerd_ready")
	ready = true
	want(t, m, 1, "ledgerd_ready")
}
