package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/decisions"
	"github.com/ledgerd/ledgerd/internal/natsclient"
	"github.com/ledgerd/ledgerd/internal/progress"
)

// sendFlags are on every command that publishes.
type sendFlags struct {
	natsclient.Flags
	Wait    bool          `help:"Print the ledger's decision on each arrival as a JSON line; exit 3 if any was rejected."`
	Timeout time.Duration `default:"60s" help:"How long --wait waits for all decisions."`
	Source  string        `default:"/ledgerd/ingest" help:"Who publishes, as a URI reference (ce-source)."`
	receiptFlags
}

// Validate is kong's check.
func (f *sendFlags) Validate() error {
	if f.Receipt != "" && !f.Wait {
		return errors.New("--receipt needs --wait: a receipt is of a decision")
	}
	return f.Flags.Validate()
}

// fact is an arrival to be.
type fact struct {
	campaign string
	kind     domain.Kind
	data     []byte
	id       string // "": a new one
}

// published is what is printed of an arrival without --wait.
type published struct {
	Arrival  uint64      `json:"arrival"` // sequence on ARRIVALS
	Campaign string      `json:"campaign"`
	Kind     domain.Kind `json:"kind"`
	ID       string      `json:"id"`
}

// decided is what is printed of an arrival with --wait.
type decided struct {
	Arrival  uint64         `json:"arrival"`
	Campaign string         `json:"campaign"`
	Kind     domain.Kind    `json:"kind"`
	Outcome  domain.Outcome `json:"outcome"`
	Reason   domain.Reason  `json:"reason"`
	Field    string         `json:"field"`
	Detail   string         `json:"detail"`
	Repeats  *uint64        `json:"repeats"`
	Index    uint64         `json:"index"`
	ID       string         `json:"id"`
}

func decidedOf(d *domain.Decision) decided {
	return decided{
		Arrival: d.Arrival.Seq, Campaign: d.Campaign, Kind: d.Kind, Outcome: d.Outcome, Reason: d.Reason,
		Field: d.Field, Detail: d.Detail, Repeats: d.Repeats, Index: d.Index, ID: d.Arrival.ID,
	}
}

// send publishes facts in order, and prints what became of them.
func (f *sendFlags) send(ctx context.Context, streams cli.Streams, log *slog.Logger, facts []fact) error {
	batch, err := f.outgoing(facts)
	if err != nil {
		return err
	}
	conn, denials, err := natsclient.Connect(ctx, f.Config(roleFor(facts), "ingest", log))
	if err != nil {
		return err
	}
	defer conn.Close()
	results, err := f.publish(ctx, conn, denials, streams, batch)
	if err == nil && f.Wait {
		return f.wait(ctx, conn, denials, streams.Out, batch, results) // holds every decision against what was sent
	}
	if err == nil {
		err = checkRepeated(ctx, conn, batch, results)
	}
	// What was published is said in any case.
	return errors.CombineErrors(err, printPublished(streams.Out, facts, batch, results))
}

func printPublished(out io.Writer, facts []fact, batch []events.Outgoing, results []jetstream.Result) error {
	for i, result := range results {
		if result.Err != nil {
			continue
		}
		line := published{Arrival: result.Sequence, Campaign: facts[i].campaign, Kind: facts[i].kind, ID: batch[i].Header.Get(events.HeaderID)}
		if err := printLine(out, line); err != nil {
			return err
		}
	}
	return nil
}

// roleFor is the least role that may publish all of the facts.
func roleFor(facts []fact) natsdeploy.Role {
	for _, fact := range facts {
		if fact.kind != domain.KindCell && fact.kind != domain.KindCheckpoint {
			return natsdeploy.Operator
		}
	}
	return natsdeploy.Coordinator
}

// outgoing makes the messages: all of them, before one is sent.
func (f *sendFlags) outgoing(facts []fact) ([]events.Outgoing, error) {
	batch := make([]events.Outgoing, len(facts))
	for i, fact := range facts {
		out, err := events.NewArrival(fact.campaign, fact.kind, fact.data, fact.id, f.Source, time.Now())
		if err != nil {
			return nil, errors.Mark(errors.Wrapf(err, "arrival %d of %d; nothing was published", i+1, len(facts)), cli.ErrUsage)
		}
		batch[i] = out
	}
	return batch, refuseReused(batch)
}

func (f *sendFlags) publish(ctx context.Context, conn *nats.Conn, denials *natsclient.Denials, streams cli.Streams, batch []events.Outgoing) ([]jetstream.Result, error) {
	bounded, cancel := denials.Bound(ctx)
	defer cancel()
	bar := progress.Start(streams.Err, "publishing", int64(len(batch)))
	publisher := jetstream.NewPublisher(conn)
	publisher.Acknowledged = func(int, uint64) { bar.Add(1) }
	results, err := publisher.PublishAll(bounded, batch)
	bar.Done()
	if err == nil {
		return results, nil
	}
	err = errors.Wrapf(denials.Explain(err), "%d of %d arrivals were published", acknowledged(results), len(batch))
	if !errors.IsAny(err, natsclient.ErrDenied, events.ErrRefused) {
		err = errors.WithHint(err, "publish the same again: what the ledger has already is answered with duplicate and counts once")
	}
	return results, err
}

func acknowledged(results []jetstream.Result) int {
	n := 0
	for _, result := range results {
		if result.Err == nil {
			n++
		}
	}
	return n
}

// wait prints each arrival's decision, in order.
func (f *sendFlags) wait(ctx context.Context, conn *nats.Conn, denials *natsclient.Denials, out io.Writer, batch []events.Outgoing, results []jetstream.Result) error {
	ctx, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	ctx, undeny := denials.Bound(ctx)
	defer undeny()
	rejected, printed := 0, 0
	var indexes []uint64
	for answer, err := range decisions.WaitAll(ctx, conn, jetstream.Sequences(results)) {
		if denied := denials.Err(); err != nil && denied != nil {
			return denied
		}
		if errors.Is(err, decisions.ErrNotDecided) && ctx.Err() == context.DeadlineExceeded {
			return errors.WithHint(errors.Newf("%d of %d arrivals are published and not decided after %s", len(results)-printed, len(results), f.Timeout),
				"ask later with `ingest status`, or see whether the daemon's writer runs (/readyz)")
		}
		if err != nil {
			return denials.Explain(err)
		}
		if err := answers(answer.Decision, &batch[printed]); err != nil {
			return err
		}
		if err := printLine(out, decidedOf(answer.Decision)); err != nil {
			return err
		}
		printed++
		indexes = append(indexes, answer.Decision.Index)
		if answer.Decision.Outcome == domain.Rejected {
			rejected++
		}
	}
	if f.Receipt != "" {
		if err := f.save(ctx, f.DataDir, indexes); err != nil {
			return err
		}
	}
	if rejected > 0 {
		return errors.Mark(errors.Newf("the ledger rejected %d of %d arrivals; each line says why", rejected, len(results)), cli.ErrRefused)
	}
	return nil
}

// printLine prints one JSON line.
func printLine(out io.Writer, line any) error {
	raw, err := json.Marshal(line)
	if err != nil {
		return errors.Wrap(err, "print a line")
	}
	_, err = out.Write(append(raw, '\n'))
	return errors.Wrap(err, "print a line")
}
