package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/writer"
)

// registerWriter makes the writer's metrics. Every label value that can come is
// there from the start, so that a rate sees the first of each.
func (m *Metrics) registerWriter() {
	m.decisions = m.counters("decisions_total", "Decisions that this process appended, by outcome and reason of refusal.", "outcome", "reason")
	m.arrivals = m.counters("arrivals_decided_total", "Arrivals that this process answered, by kind; none is for subjects that named no kind.", "kind")
	for _, outcome := range domain.Outcomes() {
		if outcome != domain.Rejected {
			m.decisions.WithLabelValues(string(outcome), "")
		}
	}
	for _, reason := range reasons {
		m.decisions.WithLabelValues(string(domain.Rejected), string(reason))
	}
	for _, kind := range append(domain.Kinds(), "") {
		m.arrivals.WithLabelValues(kindLabel(kind))
	}
	m.batch = m.histogram("append_batch_decisions", "Decisions in an appended batch.",
		[]float64{1, 2, 5, 10, 20, 50, 100, 200, 500, events.MaxBatchMessages})
	m.bytes = m.histogram("append_batch_bytes", "Bytes of records in an appended batch.", prometheus.ExponentialBuckets(1<<10, 4, 8))
	m.append = m.histogram("append_seconds", "Time from sending a batch to its acknowledgement.", prometheus.ExponentialBuckets(0.0005, 2, 15))
	m.waiting = m.gauge("writer_waiting_arrivals", "Arrivals that are read and wait for their decision.")
}

// Writer is the writer's observer.
func (m *Metrics) Writer() writer.Observer { return writerObserver{m} }

type writerObserver struct{ m *Metrics }

func (o writerObserver) Appended(decisions []*domain.Decision, bytes int, took time.Duration) {
	for _, d := range decisions {
		o.m.decisions.WithLabelValues(outcomeLabel(d.Outcome), reasonLabel(d.Reason)).Inc()
		o.m.arrivals.WithLabelValues(kindLabel(d.Kind)).Inc()
	}
	o.m.batch.Observe(float64(len(decisions)))
	o.m.bytes.Observe(float64(bytes))
	o.m.append.Observe(took.Seconds())
}

func (o writerObserver) Waiting(arrivals int) { o.m.waiting.Set(float64(arrivals)) }
