package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/natsclient"
	"github.com/ledgerd/ledgerd/projections"
)

type queryCommands struct {
	Campaigns   queryCampaigns   `cmd:"" help:"List campaigns, the last opened first."`
	Campaign    queryCampaign    `cmd:"" help:"Show a campaign: verdict, spend and grid."`
	Imports     queryImports     `cmd:"" help:"List imports."`
	Import      queryImport      `cmd:"" help:"Show an import by its import key or measurement key."`
	Rejections  queryRejections  `cmd:"" help:"List what was refused, and why."`
	Checkpoints queryCheckpoints `cmd:"" help:"List checkpoint reads."`
	Entries     queryEntries     `cmd:"" help:"List the ledger's entries."`
}

// viewFlags say where the views are. They are read directly, beside a running
// daemon or without one.
type viewFlags struct {
	DataDir     string `name:"data-dir" default:"./ledger-data" help:"The ledger's data directory."`
	DatabaseURL string `placeholder:"URL" help:"Where the views are kept, when not in the data directory: postgres://…"`
	JSON        bool   `name:"json" help:"Print JSON instead of a table."`
}

// pageFlags select a part of a list.
type pageFlags struct {
	Limit int     `default:"100" help:"At most so many rows, up to 1000."`
	After *uint64 `placeholder:"N" help:"Go on behind a page: the \"next\" of the one before."`
}

func (p pageFlags) page() projections.Page { return projections.Page{Limit: p.Limit, After: p.After} }

// Validate is kong's check.
func (p pageFlags) Validate() error {
	if p.Limit < 1 || p.Limit > projections.MaxPageLimit {
		return errors.Newf("--limit must be 1 to %d", projections.MaxPageLimit)
	}
	return nil
}

// read opens the views for one question.
func (v viewFlags) read(ctx context.Context, ask func(projections.Reader) error) (err error) {
	if err := v.checkThere(); err != nil {
		return err
	}
	store, err := openViews(ctx, v.DataDir, v.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, store.Close()) }()
	err = ask(store)
	if errors.Is(err, projections.ErrNoCampaign) {
		return errors.WithHint(errors.New("the ledger has no such campaign"), "`ledgerd query campaigns` lists the campaigns")
	}
	return err
}

// checkThere keeps a question from making empty views where there are none.
func (v viewFlags) checkThere() error {
	if _, err := os.Stat(filepath.Join(v.DataDir, elsewhereName)); v.DatabaseURL != "" || err == nil {
		return nil
	}
	_, err := os.Stat(filepath.Join(v.DataDir, viewsName))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errors.WithHint(errors.Newf("%s holds no views", v.DataDir),
			"check --data-dir (default "+natsclient.DefaultDataDir+"); the daemon makes the views when it starts")
	case err != nil:
		return errors.WithHint(errors.Wrap(err, "look for the views"),
			"a ledger's directory is open to its owner alone: ask as the user that runs ledgerd, or over HTTP")
	}
	return nil
}

// show prints an answer as JSON, or by its table.
func show[T any](v viewFlags, out cli.Streams, answer T, table func() string) error {
	if v.JSON {
		return printJSON(out.Out, answer)
	}
	_, err := out.Out.Write([]byte(table()))
	return errors.Wrap(err, "print the answer")
}

type queryCampaigns struct {
	viewFlags
	pageFlags
	Status  projections.CampaignStatus `enum:"open,sealed," default:"" placeholder:"STATUS" help:"Only these: open or sealed."`
	Verdict domain.VerdictWord         `enum:"qualified,not_qualified,incomplete," default:"" placeholder:"WORD" help:"Only with this verdict: qualified, not_qualified or incomplete."`
}

func (c *queryCampaigns) Run(ctx context.Context, streams cli.Streams) error {
	return c.read(ctx, func(r projections.Reader) error {
		list, err := r.Campaigns(ctx, projections.CampaignQuery{Status: c.Status, Verdict: c.Verdict, Page: c.page()})
		if err != nil {
			return err
		}
		return show(c.viewFlags, streams, list, func() string { return campaignsTable(list.Items) + footer(list.AsOf, list.Next) })
	})
}

type queryCampaign struct {
	viewFlags
	ID string `arg:"" help:"The campaign's id."`
}

// campaignAnswer is a campaign with its grid, as of one index.
type campaignAnswer struct {
	AsOf     int64                `json:"as_of"`
	Campaign projections.Campaign `json:"campaign"`
	Cells    []projections.Cell   `json:"cells"`
}

func (c *queryCampaign) Run(ctx context.Context, streams cli.Streams) error {
	return c.read(ctx, func(r projections.Reader) error {
		answer, err := readCampaign(ctx, r, c.ID)
		if err != nil {
			return err
		}
		return show(c.viewFlags, streams, answer, func() string {
			return campaignText(&answer.Campaign) + cellsTable(answer.Cells) + footer(answer.AsOf, nil)
		})
	})
}

// readCampaign reads a campaign and all of its cells. Should the views move on
// in between, it reads again: an answer is of one moment.
func readCampaign(ctx context.Context, r projections.Reader, id string) (*campaignAnswer, error) {
	for {
		campaign, err := r.Campaign(ctx, id)
		if err != nil {
			return nil, err
		}
		answer := &campaignAnswer{AsOf: campaign.AsOf, Campaign: campaign.Item, Cells: []projections.Cell{}}
		same := true
		page := projections.Page{Limit: projections.MaxPageLimit}
		for same {
			cells, err := r.Cells(ctx, projections.CellQuery{Campaign: id, Page: page})
			if err != nil {
				return nil, err
			}
			same = cells.AsOf == answer.AsOf
			answer.Cells = append(answer.Cells, cells.Items...)
			if page.After = cells.Next; page.After == nil {
				break
			}
		}
		if same {
			return answer, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

type queryImports struct {
	viewFlags
	pageFlags
	Campaign string `placeholder:"ID" help:"Only this campaign's."`
}

func (c *queryImports) Run(ctx context.Context, streams cli.Streams) error {
	return c.list(ctx, streams, c.viewFlags, projections.ImportQuery{Campaign: c.Campaign, Page: c.page()})
}

func (*queryImports) list(ctx context.Context, streams cli.Streams, v viewFlags, query projections.ImportQuery) error {
	return v.read(ctx, func(r projections.Reader) error {
		list, err := r.Imports(ctx, query)
		if err != nil {
			return err
		}
		return show(v, streams, list, func() string { return importsTable(list.Items) + footer(list.AsOf, list.Next) })
	})
}

type queryImport struct {
	viewFlags
	Key string `arg:"" help:"Import key (runId/runAttempt/executionId) or measurement key (campaign/attempt/executionId)."`
}

func (c *queryImport) Run(ctx context.Context, streams cli.Streams) error {
	return c.read(ctx, func(r projections.Reader) error {
		for _, query := range []projections.ImportQuery{{ImportKey: c.Key}, {MeasurementKey: c.Key}} {
			list, err := r.Imports(ctx, query)
			if err != nil {
				return err
			}
			if len(list.Items) > 0 {
				return show(c.viewFlags, streams, list, func() string { return importsText(list.Items) + footer(list.AsOf, list.Next) })
			}
		}
		return errors.WithHint(errors.Newf("no import has the key %q", c.Key), "`ledgerd query imports` lists the keys; `ledgerd query rejections` what was refused")
	})
}

type queryRejections struct {
	viewFlags
	pageFlags
	Campaign string        `placeholder:"ID" help:"Only this campaign's."`
	Reason   domain.Reason `env:"-" placeholder:"CODE" help:"Only with this reason."`
	Kind     domain.Kind   `enum:"campaign,cell,checkpoint,void,seal," default:"" placeholder:"KIND" help:"Only of this kind: campaign, cell, checkpoint, void or seal."`
}

func (c *queryRejections) Run(ctx context.Context, streams cli.Streams) error {
	return c.read(ctx, func(r projections.Reader) error {
		list, err := r.Rejections(ctx, projections.RejectionQuery{Campaign: c.Campaign, Reason: c.Reason, Kind: c.Kind, Page: c.page()})
		if err != nil {
			return err
		}
		return show(c.viewFlags, streams, list, func() string { return rejectionsTable(list.Items) + footer(list.AsOf, list.Next) })
	})
}

type queryCheckpoints struct {
	viewFlags
	pageFlags
	Campaign string                        `placeholder:"ID" help:"Only this campaign's."`
	RunID    string                        `placeholder:"ID" help:"Only this runner run's."`
	Outcome  projections.CheckpointOutcome `enum:"bound,pending,rejected," default:"" placeholder:"OUTCOME" help:"Only with this outcome: bound, pending or rejected."`
}

func (c *queryCheckpoints) Run(ctx context.Context, streams cli.Streams) error {
	return c.read(ctx, func(r projections.Reader) error {
		list, err := r.Checkpoints(ctx, projections.CheckpointQuery{Campaign: c.Campaign, RunID: c.RunID, Outcome: c.Outcome, Page: c.page()})
		if err != nil {
			return err
		}
		return show(c.viewFlags, streams, list, func() string { return checkpointsTable(list.Items) + footer(list.AsOf, list.Next) })
	})
}

type queryEntries struct {
	viewFlags
	pageFlags
	Campaign string         `placeholder:"ID" help:"Only this campaign's."`
	Kind     domain.Kind    `enum:"campaign,cell,checkpoint,void,seal," default:"" placeholder:"KIND" help:"Only of this kind: campaign, cell, checkpoint, void or seal."`
	Outcome  domain.Outcome `enum:"accepted,duplicate,pending,rejected," default:"" placeholder:"OUTCOME" help:"Only with this outcome: accepted, duplicate, pending or rejected."`
}

func (c *queryEntries) Run(ctx context.Context, streams cli.Streams) error {
	return c.read(ctx, func(r projections.Reader) error {
		list, err := r.Entries(ctx, projections.EntryQuery{Campaign: c.Campaign, Kind: c.Kind, Outcome: c.Outcome, Page: c.page()})
		if err != nil {
			return err
		}
		return show(c.viewFlags, streams, list, func() string { return entriesTable(list.Items) + footer(list.AsOf, list.Next) })
	})
}
