package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/projections"
)

// What is asked during a scrape.
const (
	sourceArrivals = "arrivals"
	sourceLedger   = "ledger"
	sourceViews    = "views"
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
}

// WatchStreams shows where both streams end, whoever writes them.
func (m *Metrics) WatchStreams(arrivals, ledger events.Log) {
	m.registry.MustRegister(&streamCollector{
		metrics: m, arrivals: arrivals, ledger: ledger,
		stored:    desc("arrivals_stored_total", "Arrivals in ARRIVALS: its last sequence."),
		decided:   desc("ledger_decisions_total", "Decisions in LEDGER: its last sequence."),
		undecided: desc("arrivals_undecided", "Arrivals that have no decision yet."),
	})
}

type streamCollector struct {
	metrics                    *Metrics
	arrivals, ledger           events.Log
	stored, decided, undecided *prometheus.Desc
}

func (c *streamCollector) Describe(to chan<- *prometheus.Desc) {
	to <- c.stored
	to <- c.decided
	to <- c.undecided
}

// Collect reads the ledger first: what is decided meanwhile counts as
// undecided, and never the other way round.
func (c *streamCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	decided, err := c.ledger.Tail(ctx)
	if err != nil {
		c.metrics.scrapeFails.WithLabelValues(sourceLedger).Inc()
		return
	}
	to <- prometheus.MustNewConstMetric(c.decided, prometheus.CounterValue, float64(decided.Last))
	stored, err := c.arrivals.Tail(ctx)
	if err != nil {
		c.metrics.scrapeFails.WithLabelValues(sourceArrivals).Inc()
		return
	}
	to <- prometheus.MustNewConstMetric(c.stored, prometheus.CounterValue, float64(stored.Last))
	to <- prometheus.MustNewConstMetric(c.undecided, prometheus.GaugeValue, float64(stored.Last-min(decided.Last, stored.Last)))
}

// Positioner says where views are; a projections.Store does.
type Positioner interface {
	Position(ctx context.Context) (projections.Position, error)
}

// WatchLag shows how far views are behind the ledger's end: in entries, and in
// seconds since the oldest decision that they lack was stored.
func (m *Metrics) WatchLag(projection string, views Positioner, ledger events.Log, options ...LagOption) {
	labels := prometheus.Labels{"projection": projection}
	collector := &lagCollector{
		metrics: m, views: views, ledger: ledger, now: time.Now,
		position: prometheus.NewDesc(namespace+"_projection_position", "LEDGER sequence of the last decision in the views.", nil, labels),
		entries:  prometheus.NewDesc(namespace+"_projection_lag_entries", "Decisions that the views lack.", nil, labels),
		seconds:  prometheus.NewDesc(namespace+"_projection_lag_seconds", "Age of the oldest decision that the views lack, 0 when they lack none.", nil, labels),
	}
	for _, option := range options {
		option(collector)
	}
	m.registry.MustRegister(collector)
}

// LagOption changes how a lag is measured.
type LagOption func(*lagCollector)

// WithClock sets the clock, for tests.
func WithClock(now func() time.Time) LagOption { return func(c *lagCollector) { c.now = now } }

type lagCollector struct {
	metrics                    *Metrics
	views                      Positioner
	ledger                     events.Log
	now                        func() time.Time
	position, entries, seconds *prometheus.Desc
}

func (c *lagCollector) Describe(to chan<- *prometheus.Desc) {
	to <- c.position
	to <- c.entries
	to <- c.seconds
}

func (c *lagCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	position, err := c.views.Position(ctx)
	if err != nil {
		c.metrics.scrapeFails.WithLabelValues(sourceViews).Inc()
		return
	}
	to <- prometheus.MustNewConstMetric(c.position, prometheus.GaugeValue, float64(position.Seq))
	tail, err := c.ledger.Tail(ctx)
	if err != nil {
		c.metrics.scrapeFails.WithLabelValues(sourceLedger).Inc()
		return
	}
	lag := tail.Last - min(position.Seq, tail.Last)
	to <- prometheus.MustNewConstMetric(c.entries, prometheus.GaugeValue, float64(lag))
	age, err := c.age(ctx, position.Seq+1, lag)
	if err != nil {
		c.metrics.scrapeFails.WithLabelValues(sourceLedger).Inc()
		return
	}
	to <- prometheus.MustNewConstMetric(c.seconds, prometheus.GaugeValue, age.Seconds())
}

// age is how long ago the decision at a sequence was stored, if there is one.
func (c *lagCollector) age(ctx context.Context, seq, lag uint64) (time.Duration, error) {
	if lag == 0 {
		return 0, nil
	}
	oldest, err := c.ledger.Get(ctx, seq)
	if err != nil {
		return 0, err
	}
	return max(0, c.now().Sub(oldest.Time)), nil
}
