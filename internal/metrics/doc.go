// Package metrics counts what the daemon does, for Prometheus.
//
// Model: one [Metrics] has a registry of its own and hands out observers for
// the writer, the projection runner, rebuilds and the store. What can be asked
// when somebody looks (the streams' ends, the views' lag, readiness) is asked
// then, with a time limit, and is missing from that scrape when it cannot be.
//
// Labels are bounded: outcomes, kinds and reasons are the domain's, whatever
// else is given by the wiring. Nothing that a producer wrote becomes a label.
package metrics
