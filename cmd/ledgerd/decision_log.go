package main

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/internal/writer"
)

// maxLoggedBatches is how many batches wait for a slow log before lines are
// left out: the writer never waits for its log.
const maxLoggedBatches = 256

// decisionLog writes a line for each decision that refuses, voids, seals or
// opens, and at debug one for each batch. It is an observer of the writer in
// front of another one; run writes the lines.
type decisionLog struct {
	writer.Observer
	log     *slog.Logger
	waiting chan loggedBatch
	missed  atomic.Uint64 // decisions of batches that found no room
}

type loggedBatch struct {
	decisions []*domain.Decision
	bytes     int
	took      time.Duration
}

func newDecisionLog(next writer.Observer, log *slog.Logger) *decisionLog {
	return &decisionLog{Observer: next, log: log, waiting: make(chan loggedBatch, maxLoggedBatches)}
}

// Appended implements writer.Observer.
func (l *decisionLog) Appended(decisions []*domain.Decision, bytes int, took time.Duration) {
	l.Observer.Appended(decisions, bytes, took)
	select {
	case l.waiting <- loggedBatch{decisions, bytes, took}:
	default:
		l.missed.Add(uint64(len(decisions)))
	}
}

// run writes lines until ctx ends, and then those that wait.
func (l *decisionLog) run(ctx context.Context) {
	for {
		select {
		case batch := <-l.waiting:
			l.write(batch)
		case <-ctx.Done():
			l.drain()
			return
		}
	}
}

func (l *decisionLog) drain() {
	for {
		select {
		case batch := <-l.waiting:
			l.write(batch)
		default:
			return
		}
	}
}

func (l *decisionLog) write(batch loggedBatch) {
	if missed := l.missed.Swap(0); missed > 0 {
		l.log.Warn("the log is too slow: decisions have no line", "decisions", missed)
	}
	l.log.Debug("appended", "decisions", len(batch.decisions), "bytes", batch.bytes, "took", batch.took)
	for _, d := range batch.decisions {
		if message := lineOf(d); message != "" {
			l.log.LogAttrs(context.Background(), slog.LevelInfo, message, attributes(d)...)
		}
	}
}

// lineOf is the message about a decision, "" for those that are no event of
// their own: an accepted cell or checkpoint, a repeat.
func lineOf(d *domain.Decision) string {
	switch {
	case d.Outcome == domain.Rejected:
		return "refused"
	case d.Outcome != domain.Accepted:
		return ""
	}
	switch d.Kind {
	case domain.KindCampaign:
		return "campaign opened"
	case domain.KindVoid:
		return "import voided"
	case domain.KindSeal:
		return "campaign sealed"
	}
	return ""
}

// attributes are what a line says about a decision. Strangers' text in it is
// escaped by the log's handler.
func attributes(d *domain.Decision) []slog.Attr {
	all := []slog.Attr{slog.Uint64("index", d.Index), slog.String("campaign", d.Campaign), slog.String("kind", string(d.Kind)), slog.String("arrival", d.Arrival.ID)}
	if d.Reason != "" {
		all = append(all, slog.String("reason", string(d.Reason)), slog.String("field", d.Field), slog.String("detail", d.Detail))
	}
	switch data := d.Latest().(type) {
	case *domain.VoidReference:
		all = append(all, slog.String("import", data.ImportKey), slog.String("actor", data.Actor), slog.String("why", data.Reason))
	case *domain.Seal:
		all = append(all, slog.String("actor", data.Actor), slog.String("verdict", string(data.Verdict.Word)))
	}
	return all
}
