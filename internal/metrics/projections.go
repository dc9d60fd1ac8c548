package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ledgerd/ledgerd/projections"
)

func (m *Metrics) registerProjections() {
	m.applied = m.counters("projection_applied_decisions_total", "Decisions that this process folded into views.", "projection")
	m.rows = m.counters("projection_applied_rows_total", "Rows that they changed.", "projection")
	m.apply = m.histograms("projection_apply_seconds", "Time of one transaction that moves the views.", prometheus.ExponentialBuckets(0.0005, 2, 15), "projection")
}

// Projection is the observer of a runner; the name becomes a label.
func (m *Metrics) Projection(name string) projections.Observer {
	return projectionObserver{decisions: m.applied.WithLabelValues(name), rows: m.rows.WithLabelValues(name), took: m.apply.WithLabelValues(name)}
}

type projectionObserver struct {
	decisions, rows prometheus.Counter
	took            prometheus.Observer
}

func (o projectionObserver) Applied(_ projections.Position, decisions, rows int, took time.Duration) {
	o.decisions.Add(float64(decisions))
	o.rows.Add(float64(rows))
	o.took.Observe(took.Seconds())
}

type rebuildMetrics struct {
	running prometheus.Gauge
	done    prometheus.Gauge
	target  prometheus.Gauge
	ended   *prometheus.CounterVec // by result
}

func (m *Metrics) registerRebuild() {
	m.rebuild = rebuildMetrics{
		running: m.gauge("rebuild_running", "1 while this process rebuilds views."),
		done:    m.gauge("rebuild_done_decisions", "Decisions that the rebuild which runs, or ran last, has folded."),
		target:  m.gauge("rebuild_target_decisions", "Decisions that it has to fold."),
		ended:   m.counters("rebuilds_total", "Rebuilds that ended, by how.", "result"),
	}
	for _, result := range []string{rebuildSwitched, rebuildFailed} {
		m.rebuild.ended.WithLabelValues(result)
	}
}

// How a rebuild ends.
const (
	rebuildSwitched = "switched"
	rebuildFailed   = "failed"
)

// Rebuild watches one rebuild. Its methods are safe for concurrent use.
type Rebuild struct {
	m   *Metrics
	end sync.Once
}

// Rebuild begins to watch a rebuild; whoever began ends it.
func (m *Metrics) Rebuild() *Rebuild {
	m.rebuild.running.Inc()
	m.rebuild.done.Set(0)
	m.rebuild.target.Set(0)
	return &Rebuild{m: m}
}

// Progress says how far it is; it is a projections.RebuildConfig's Progress.
func (r *Rebuild) Progress(progress projections.RebuildProgress) {
	r.m.rebuild.done.Set(float64(progress.Read))
	r.m.rebuild.target.Set(float64(progress.Target))
}

// End says how it ended; later calls change nothing.
func (r *Rebuild) End(err error) {
	r.end.Do(func() {
		r.m.rebuild.running.Dec()
		result := rebuildSwitched
		if err != nil {
			result = rebuildFailed
		}
		r.m.rebuild.ended.WithLabelValues(result).Inc()
	})
}
