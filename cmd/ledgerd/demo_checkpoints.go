package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/internal/simci"
	"github.com/ledgerd/ledgerd/projections"
)

// readName says which read of a checkpoint an answer is about.
type readName struct {
	campaign string
	key      domain.CheckpointKey
}

// readAnswers are the answers to each read of a checkpoint, in their order.
type readAnswers map[readName][]string

// add notes a decision, when it is about a checkpoint that has a name.
func (a readAnswers) add(d *domain.Decision) {
	name := readName{campaign: d.Campaign}
	switch data := d.Latest().(type) {
	case *domain.CheckpointBound:
		name.key = data.Key
	case *domain.CheckpointReference:
		name.key = data.Key
	default:
		return
	}
	a[name] = append(a[name], string(d.Outcome))
}

func (a readAnswers) of(c *projections.Checkpoint) string {
	key := domain.CheckpointKey{RunID: c.RunID, TurnID: c.TurnID, RequestID: c.RequestID}
	return strings.Join(a[readName{c.Campaign, key}], ", ")
}

// readCheckpoints reads all of a campaign's checkpoints.
func readCheckpoints(ctx context.Context, r projections.Reader, campaign string) ([]projections.Checkpoint, error) {
	var all []projections.Checkpoint
	query := projections.CheckpointQuery{Campaign: campaign, Page: projections.Page{Limit: projections.MaxPageLimit}}
	for {
		page, err := r.Checkpoints(ctx, query)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if query.Page.After = page.Next; query.Page.After == nil {
			return all, nil
		}
	}
}

// printCheckpoints shows a campaign's checkpoints, when it has some.
func (r *demoRun) printCheckpoints(ctx context.Context, out io.Writer, campaign string) error {
	checkpoints, err := readCheckpoints(ctx, r.daemon.store, campaign)
	if err != nil || len(checkpoints) == 0 {
		return err
	}
	heading(out, "checkpoints of runs that these cells name")
	_, err = fmt.Fprint(out, demoCheckpointsTable(checkpoints, r.answers))
	return err
}

// checkCheckpoints compares a campaign's checkpoints with what they must come
// to: so many, bound, pending and rejected, each of a cell.
func (r *demoRun) checkCheckpoints(ctx context.Context, want simci.Expected) error {
	checkpoints, err := readCheckpoints(ctx, r.daemon.store, want.ID)
	if err != nil {
		return err
	}
	var got simci.Checkpoints
	for i := range checkpoints {
		c := &checkpoints[i]
		switch c.Outcome {
		case projections.CheckpointBound:
			got.Bound++
		case projections.CheckpointPending:
			got.Pending++
		case projections.CheckpointRejected:
			got.Rejected++
		}
		if len(c.Cells) == 0 {
			r.wrong = append(r.wrong, fmt.Sprintf("campaign %s has a checkpoint of run %s beside no cell", want.ID, c.RunID))
		}
	}
	if got != want.Checkpoints {
		r.wrong = append(r.wrong, fmt.Sprintf("campaign %s has the checkpoints %+v, must have %+v", want.ID, got, want.Checkpoints))
	}
	return nil
}
