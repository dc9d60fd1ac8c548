package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/nats-io/nats.go"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/decisions"
	"github.com/ledgerd/ledgerd/internal/natsclient"
	"github.com/ledgerd/ledgerd/internal/progress"
	"github.com/ledgerd/ledgerd/internal/simci"
)

// demoSource is the ce-source of the demo's arrivals.
const demoSource = "/ledgerd/demo"

// demoRun publishes a simulated CI to a daemon and compares what comes of it
// with what must.
type demoRun struct {
	daemon  *daemon
	ci      *simci.CI
	log     *slog.Logger
	answers readAnswers // to the reads of checkpoints
	wrong   []string    // answers that are not what they must be
}

// publish sends the plan through the listener, as any producer does, and reads
// the decision on each arrival.
func (r *demoRun) publish(ctx context.Context, artifacts string, progressTo io.Writer) error {
	config := natsclient.Config{DataDir: r.daemon.dir.Path(), Role: natsdeploy.Operator, Name: "ledgerd demo", Logger: r.log}
	conn, denials, err := natsclient.Connect(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close()
	var batch []events.Outgoing
	var plan []simci.Arrival
	for arrival, err := range r.ci.ArrivalsFrom(ctx, artifacts) {
		if err != nil {
			return err
		}
		out, err := events.NewArrival(arrival.Campaign, arrival.Kind, arrival.Body, arrival.ID, demoSource, time.Now())
		if err != nil {
			return err
		}
		arrival.Body = nil
		batch, plan = append(batch, out), append(plan, arrival)
	}
	results, err := jetstream.NewPublisher(conn).PublishAll(ctx, batch)
	if err != nil {
		return denials.Explain(err)
	}
	return r.compare(ctx, conn, plan, results, progressTo)
}

// compare holds every decision against what the plan says.
func (r *demoRun) compare(ctx context.Context, conn *nats.Conn, plan []simci.Arrival, results []jetstream.Result, progressTo io.Writer) error {
	bar := progress.Start(progressTo, "decided", int64(len(plan)))
	defer bar.Done()
	r.answers = readAnswers{}
	i := 0
	for answer, err := range decisions.WaitAll(ctx, conn, jetstream.Sequences(results)) {
		if err != nil {
			return err
		}
		if d, want := answer.Decision, plan[i].Want; d.Outcome != want.Outcome || d.Reason != want.Reason {
			r.wrong = append(r.wrong, fmt.Sprintf("arrival %d (%s): %s %s, must be %s %s: %s", answer.Sequence, plan[i].Trouble, d.Outcome, d.Reason, want.Outcome, want.Reason, d.Detail))
		}
		r.answers.add(answer.Decision)
		i++
		bar.Add(1)
	}
	_, err := r.daemon.runner.WaitFor(ctx, results[len(results)-1].Sequence)
	return err
}

// demoSummary is what --json prints.
type demoSummary struct {
	Arrivals  int64                   `json:"arrivals"`
	Accepted  int64                   `json:"accepted"`
	Duplicate int64                   `json:"duplicate"`
	Pending   int64                   `json:"pending"`
	Rejected  int64                   `json:"rejected"`
	Reasons   map[domain.Reason]int64 `json:"reasons"` // of rejected ones
	Campaigns []demoCampaign          `json:"campaigns"`
}

// demoCampaign is a campaign in short. Cells are passed + failed + missing.
type demoCampaign struct {
	ID      string             `json:"id"`
	Verdict domain.VerdictWord `json:"verdict"`
	Cells   int64              `json:"cells"`
	Passed  int64              `json:"passed"`
	Failed  int64              `json:"failed"` // failed cleanup included
	Missing int64              `json:"missing"`
	Tokens  *decimal           `json:"tokens"`   // null when no cell reported any
	CostUSD *string            `json:"cost_usd"` // likewise
}

// decimal prints an exact decimal as a JSON number.
type decimal string

// MarshalJSON implements json.Marshaler.
func (d decimal) MarshalJSON() ([]byte, error) { return []byte(d), nil }

// summarise reads the views.
func (r *demoRun) summarise(ctx context.Context) (*demoSummary, error) {
	counts, err := r.daemon.store.Summary(ctx, "")
	if err != nil {
		return nil, err
	}
	outcomes := counts.Item.Outcomes
	s := &demoSummary{
		Accepted: outcomes[domain.Accepted], Duplicate: outcomes[domain.Duplicate], Pending: outcomes[domain.Pending], Rejected: outcomes[domain.Rejected],
		Reasons: counts.Item.Reasons,
	}
	s.Arrivals = s.Accepted + s.Duplicate + s.Pending + s.Rejected
	for _, id := range r.ci.Campaigns() {
		campaign, err := r.daemon.store.Campaign(ctx, id)
		if err != nil {
			return nil, err
		}
		c := &campaign.Item
		s.Campaigns = append(s.Campaigns, demoCampaign{ID: c.ID, Verdict: c.Verdict, Cells: c.Cells, Passed: c.Passed, Failed: c.Failed,
			Missing: c.Missing, Tokens: (*decimal)(c.Effective.Tokens), CostUSD: c.Effective.CostUSD})
	}
	return s, nil
}

// print shows the campaigns with their grids and checkpoints, and the refusals.
func (r *demoRun) print(ctx context.Context, out io.Writer, s *demoSummary) error {
	for _, id := range r.ci.Campaigns() {
		answer, err := readCampaign(ctx, r.daemon.store, id)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s%s", campaignText(&answer.Campaign), cellsTable(answer.Cells))
		if err := r.printCheckpoints(ctx, out, id); err != nil {
			return err
		}
	}
	heading(out, "%d arrivals: %d accepted, %d duplicate, %d pending, %d rejected", s.Arrivals, s.Accepted, s.Duplicate, s.Pending, s.Rejected)
	fmt.Fprint(out, reasonsTable(s.Reasons))
	heading(out, "every arrival was decided as it must be, and every campaign came to what it must")
	return nil
}

func reasonsTable(reasons map[domain.Reason]int64) string {
	t := newTable("rejected for", "arrivals")
	codes := make([]domain.Reason, 0, len(reasons))
	for code := range reasons {
		codes = append(codes, code)
	}
	slices.SortFunc(codes, func(a, b domain.Reason) int {
		return cmp.Or(cmp.Compare(reasons[b], reasons[a]), cmp.Compare(a, b))
	})
	for _, code := range codes {
		t.AppendRow(table.Row{code, reasons[code]})
	}
	return render(t)
}

// check compares the campaigns with what they must come to.
func (r *demoRun) check(ctx context.Context, s *demoSummary) error {
	for i, want := range r.ci.Expected() {
		got := s.Campaigns[i]
		if got.Verdict != want.Verdict || got.Passed != want.Tally.Passed || got.Failed != want.Tally.Failed || got.Missing != want.Tally.Missing ||
			orUnknown(got.CostUSD) != orUnknown(want.Tally.Spend.Counted.CostUSD) {
			r.wrong = append(r.wrong, fmt.Sprintf("campaign %s came to %+v, must be %s %+v", got.ID, got, want.Verdict, want.Tally))
		}
		if err := r.checkCheckpoints(ctx, want); err != nil {
			return err
		}
	}
	if len(r.wrong) == 0 {
		return nil
	}
	const shown = 10
	err := errors.Newf("%d answers are wrong", len(r.wrong))
	for _, wrong := range r.wrong[:min(len(r.wrong), shown)] {
		err = errors.WithDetail(err, wrong)
		r.log.Error("wrong answer", "what", wrong)
	}
	return err
}
