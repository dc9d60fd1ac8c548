package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	namespace = "ledgerd"

	// scrapeTimeout bounds what is asked of streams and databases while
	// somebody waits for the metrics; Prometheus waits ten seconds.
	scrapeTimeout = 2 * time.Second
	// maxScrapes bounds how many are answered at once.
	maxScrapes = 4
)

// Metrics is everything that is counted. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	decisions *prometheus.CounterVec // by outcome and reason
	arrivals  *prometheus.CounterVec // by kind
	batch     prometheus.Histogram
	bytes     prometheus.Histogram
	append    prometheus.Histogram
	waiting   prometheus.Gauge

	applied     *prometheus.CounterVec // by projection, as the next three
	rows        *prometheus.CounterVec
	apply       *prometheus.HistogramVec
	scrapeFails *prometheus.CounterVec // by source

	rebuild rebuildMetrics
	queries *prometheus.HistogramVec // by operation
	errors  *prometheus.CounterVec   // by operation and error
}

// New makes a registry with the process's and the Go runtime's own metrics.
func New(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: "build_info",
		Help: "1, with the program's version.", ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	m.registry.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registerWriter()
	m.registerProjections()
	m.registerRebuild()
	m.registerStore()
	m.scrapeFails = m.counters("scrape_errors_total", "Scrapes that lack what could not be asked in time, by what was asked.", "source")
	for _, source := range []string{sourceArrivals, sourceLedger, sourceViews} {
		m.scrapeFails.WithLabelValues(source)
	}
	return m
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		Registry:            m.registry,
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes,
		DisableCompression:  true, // whoever serves it compresses
	})
}

// Gatherer is the registry, for tests and for other exporters.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// WatchReady shows readiness as 1 or 0.
func (m *Metrics) WatchReady(ready func() bool) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: "ready",
		Help: "1 while every loop of the daemon runs, 0 while one starts or has stopped."}, func() float64 {
		if ready() {
			return 1
		}
		return 0
	}))
}

func (m *Metrics) counters(name, help string, labels ...string) *prometheus.CounterVec {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	m.registry.MustRegister(vec)
	return vec
}

func (m *Metrics) gauge(name, help string) prometheus.Gauge {
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help})
	m.registry.MustRegister(gauge)
	return gauge
}

func (m *Metrics) histogram(name, help string, buckets []float64) prometheus.Histogram {
	histogram := prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets})
	m.registry.MustRegister(histogram)
	return histogram
}

func (m *Metrics) histograms(name, help string, buckets []float64, label string) *prometheus.HistogramVec {
	vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, []string{label})
	m.registry.MustRegister(vec)
	return vec
}
