package simci_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/internal/simci"
)

// reads are the checkpoint reads that were decided, by campaign and key.
type reads map[string]map[domain.CheckpointKey]domain.Outcome

func newReads() reads { return reads{} }

// add keeps what binds a read, else the last answer to it.
func (r reads) add(d *domain.Decision) {
	var key domain.CheckpointKey
	switch data := d.Data.(type) {
	case *domain.CheckpointBound:
		key = data.Key
	case *domain.CheckpointReference:
		key = data.Key
	default:
		return
	}
	if r[d.Campaign] == nil {
		r[d.Campaign] = map[domain.CheckpointKey]domain.Outcome{}
	}
	if r[d.Campaign][key] != domain.Accepted {
		r[d.Campaign][key] = d.Outcome
	}
}

func (r reads) of(campaign string) simci.Checkpoints {
	var counts simci.Checkpoints
	for _, outcome := range r[campaign] {
		switch outcome {
		case domain.Accepted:
			counts.Bound++
		case domain.Pending:
			counts.Pending++
		case domain.Rejected:
			counts.Rejected++
		}
	}
	return counts
}

// TestCheckpointsAreOfCellsThatCount holds that the run of every read is named
// by a cell that is imported and not voided.
func TestCheckpointsAreOfCellsThatCount(t *testing.T) {
	ci := newCI(t, simci.Demo(1))
	l := &ledger{states: map[string]*domain.Campaign{}}
	named, keyed, decided := map[string]string{}, map[string]string{}, newReads()
	for a := range ci.Arrivals() {
		d := l.decide(t, a)
		decided.add(d)
		switch data := d.Data.(type) {
		case *domain.CellImported:
			for _, run := range data.Result.RunIDs {
				named[d.Campaign+run], keyed[d.Campaign+data.Cell.ImportKey] = run, d.Campaign+run
			}
		case *domain.VoidReference:
			if d.Outcome == domain.Accepted {
				delete(named, keyed[d.Campaign+data.ImportKey])
			}
		}
	}
	for _, campaign := range ci.Campaigns() {
		runs := map[string]bool{}
		for key := range decided[campaign] {
			if named[campaign+key.RunID] == "" {
				t.Errorf("campaign %s: no cell names run %s", campaign, key.RunID)
			}
			runs[key.RunID] = true
		}
		if len(runs) != len(decided[campaign]) || len(runs) == 0 {
			t.Errorf("campaign %s: %d reads of %d runs", campaign, len(decided[campaign]), len(runs))
		}
	}
	want := []simci.Checkpoints{{Bound: 5, Pending: 1, Rejected: 3}, {Bound: 2}, {Pending: 1, Rejected: 1}}
	for i, e := range ci.Expected() {
		if diff := cmp.Diff(want[i], e.Checkpoints); diff != "" {
			t.Errorf("campaign %d: %s", i, diff)
		}
	}
}

// A run that is read for two requests is two reads; so are runs that no cell
// names.
func TestReadsOfOneRun(t *testing.T) {
	for name, config := range map[string]simci.Config{
		"two cells": {Scenarios: 1, Troubles: simci.Troubles{simci.Awaited: 5, simci.Settled: 5}},
		"no cell":   {Scenarios: 1, Troubles: simci.Troubles{simci.Missing: 2, simci.Awaited: 5, simci.Settled: 5}},
	} {
		t.Run(name, func(t *testing.T) {
			ci := newCI(t, config)
			if got := ci.Expected()[0].Checkpoints; got != (simci.Checkpoints{Bound: 5, Pending: 5}) {
				t.Errorf("expected %+v", got)
			}
			checkAgainstRules(t, ci)
		})
	}
}
