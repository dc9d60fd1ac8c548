package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/internal/metrics"
)

// TestDecisionsHaveALine: those that refuse, void, seal or open; the others do
// not.
func TestDecisionsHaveALine(t *testing.T) {
	decisions := []*domain.Decision{
		{Index: 0, Campaign: "one", Kind: domain.KindCampaign, Outcome: domain.Accepted},
		{Index: 1, Campaign: "one", Kind: domain.KindCell, Outcome: domain.Accepted},
		{Index: 2, Campaign: "one", Kind: domain.KindCell, Outcome: domain.Duplicate},
		{Index: 3, Campaign: "one", Kind: domain.KindCell, Outcome: domain.Rejected, Reason: "foreign_workflow", Field: "/provenance/workflow", Detail: "a\x1b[31m\nforged line"},
		{Index: 4, Campaign: "one", Kind: domain.KindVoid, Outcome: domain.Accepted, Data: &domain.VoidReference{ImportKey: "1/1/x", Actor: "ana", Reason: "wrong branch"}},
		{Index: 5, Campaign: "one", Kind: domain.KindSeal, Outcome: domain.Accepted, Data: &domain.Seal{Actor: "ana", Verdict: domain.Verdict{Word: domain.NotQualified}}},
	}
	var out bytes.Buffer
	log := newDecisionLog(metrics.New("test").Writer(), slog.New(slog.NewTextHandler(&out, nil)))
	log.Appended(decisions, 1000, time.Millisecond)
	ended, end := context.WithCancel(t.Context())
	end()
	log.run(ended) // writes what waits, and ends
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, want := range [][]string{
		{`msg="campaign opened"`, "index=0", "campaign=one"},
		{"msg=refused", "index=3", "reason=foreign_workflow", "field=/provenance/workflow", `\x1b[31m\nforged`},
		{`msg="import voided"`, "index=4", "import=1/1/x", "actor=ana", `why="wrong branch"`},
		{`msg="campaign sealed"`, "index=5", "actor=ana", "verdict=not_qualified"},
	} {
		for _, part := range want {
			if i >= len(lines) || !strings.Contains(lines[i], part) {
				t.Fatalf("line %d lacks %s:\n%s", i, part, out.String())
			}
		}
	}
	if len(lines) != 4 {
		t.Errorf("%d lines, want 4:\n%s", len(lines), out.String())
	}
}

// TestASlowLogDoesNotHoldTheWriter: what finds no room is counted.
func TestASlowLogDoesNotHoldTheWriter(t *testing.T) {
	var out bytes.Buffer
	log := newDecisionLog(metrics.New("test").Writer(), slog.New(slog.NewTextHandler(&out, nil)))
	for range maxLoggedBatches + 3 { // nobody takes them
		log.Appended([]*domain.Decision{{Kind: domain.KindCell, Outcome: domain.Accepted}}, 1, 0)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	log.run(ended)
	if !strings.Contains(out.String(), "decisions=3") {
		t.Errorf("the log says %s", out.String())
	}
}
