package metrics

import (
	"context"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ledgerd/ledgerd/projections"
)

func (m *Metrics) registerStore() {
	m.queries = m.histograms("database_seconds", "Time of one operation on the views' database, by operation.", prometheus.ExponentialBuckets(0.0001, 4, 9), "operation")
	m.errors = m.counters("database_errors_total", "Operations on the views' database that failed, by operation and error.", "operation", "error")
}

// Store counts what a store is asked and what fails. Everything else is the
// store's own.
func (m *Metrics) Store(store projections.Store) projections.Store {
	for _, operation := range operations {
		m.queries.WithLabelValues(operation)
		m.errors.WithLabelValues(operation, "unavailable")
	}
	return &countedStore{Store: store, m: m}
}

// operations are the label values of a store's methods.
var operations = []string{
	"position", "campaigns", "campaign", "scenarios", "cells", "imports", "rejections", "checkpoints", "usage", "entries",
	"shared_measurements", "summary", "version", "apply", "build",
}

type countedStore struct {
	projections.Store
	m *Metrics
}

// counted measures one operation.
func counted[T any](s *countedStore, operation string, work func() (T, error)) (T, error) {
	started := time.Now()
	value, err := work()
	s.m.queries.WithLabelValues(operation).Observe(time.Since(started).Seconds())
	if label := errorLabel(err); label != "" {
		s.m.errors.WithLabelValues(operation, label).Inc()
	}
	return value, err
}

// errorLabel classifies what is the database's, "" for what is the asker's: a
// campaign that does not exist, a request that went away.
func errorLabel(err error) string {
	switch {
	case err == nil, errors.IsAny(err, projections.ErrNoCampaign, context.Canceled):
		return ""
	case errors.Is(err, projections.ErrUnavailable):
		return "unavailable"
	case errors.Is(err, projections.ErrMoved):
		return "moved"
	case errors.Is(err, projections.ErrAnotherVersion):
		return "another_version"
	case errors.Is(err, projections.ErrRebuildRunning):
		return "rebuild_running"
	case errors.Is(err, context.DeadlineExceeded):
		return "timed_out"
	}
	return other
}

func (s *countedStore) Position(ctx context.Context) (projections.Position, error) {
	return counted(s, "position", func() (projections.Position, error) { return s.Store.Position(ctx) })
}

func (s *countedStore) Campaigns(ctx context.Context, query projections.CampaignQuery) (projections.List[projections.Campaign], error) {
	return counted(s, "campaigns", func() (projections.List[projections.Campaign], error) { return s.Store.Campaigns(ctx, query) })
}

func (s *countedStore) Campaign(ctx context.Context, id string) (projections.One[projections.Campaign], error) {
	return counted(s, "campaign", func() (projections.One[projections.Campaign], error) { return s.Store.Campaign(ctx, id) })
}

func (s *countedStore) Scenarios(ctx context.Context, campaign string) (projections.List[projections.Scenario], error) {
	return counted(s, "scenarios", func() (projections.List[projections.Scenario], error) { return s.Store.Scenarios(ctx, campaign) })
}

func (s *countedStore) Cells(ctx context.Context, query projections.CellQuery) (projections.List[projections.Cell], error) {
	return counted(s, "cells", func() (projections.List[projections.Cell], error) { return s.Store.Cells(ctx, query) })
}

func (s *countedStore) Imports(ctx context.Context, query projections.ImportQuery) (projections.List[projections.Import], error) {
	return counted(s, "imports", func() (projections.List[projections.Import], error) { return s.Store.Imports(ctx, query) })
}

func (s *countedStore) Rejections(ctx context.Context, query projections.RejectionQuery) (projections.List[projections.Rejection], error) {
	return counted(s, "rejections", func() (projections.List[projections.Rejection], error) { return s.Store.Rejections(ctx, query) })
}

func (s *countedStore) Checkpoints(ctx context.Context, query projections.CheckpointQuery) (projections.List[projections.Checkpoint], error) {
	return counted(s, "checkpoints", func() (projections.List[projections.Checkpoint], error) { return s.Store.Checkpoints(ctx, query) })
}

func (s *countedStore) Usage(ctx context.Context, query projections.UsageQuery) (projections.List[projections.Usage], error) {
	return counted(s, "usage", func() (projections.List[projections.Usage], error) { return s.Store.Usage(ctx, query) })
}

func (s *countedStore) Entries(ctx context.Context, query projections.EntryQuery) (projections.List[projections.Entry], error) {
	return counted(s, "entries", func() (projections.List[projections.Entry], error) { return s.Store.Entries(ctx, query) })
}

func (s *countedStore) SharedMeasurements(ctx context.Context, page projections.Page) (projections.List[projections.SharedImport], error) {
	return counted(s, "shared_measurements", func() (projections.List[projections.SharedImport], error) {
		return s.Store.SharedMeasurements(ctx, page)
	})
}

func (s *countedStore) Summary(ctx context.Context, campaign string) (projections.One[projections.Summary], error) {
	return counted(s, "summary", func() (projections.One[projections.Summary], error) { return s.Store.Summary(ctx, campaign) })
}

func (s *countedStore) Version(ctx context.Context) (int, error) {
	return counted(s, "version", func() (int, error) { return s.Store.Version(ctx) })
}

func (s *countedStore) Apply(ctx context.Context, from, to projections.Position, changes *projections.Changes) error {
	_, err := counted(s, "apply", func() (struct{}, error) { return struct{}{}, s.Store.Apply(ctx, from, to, changes) })
	return err
}

func (s *countedStore) Build(ctx context.Context, views ...projections.View) (projections.Build, error) {
	return counted(s, "build", func() (projections.Build, error) { return s.Store.Build(ctx, views...) })
}
