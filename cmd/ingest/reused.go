package main

import (
	"bytes"
	"context"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/decisions"
)

// An id names one publication: the server takes another one with the same id
// for a retry, acknowledges it, and stores nothing. Whoever brings ids of their
// own must hear when that swallows a fact.

// errReused: the id was used for another fact before.
var errReused = errors.New("the id was used before, for another arrival: this one was not stored")

const hintReused = "give each fact an id of its own, or leave the ids out to have them made"

// refuseReused refuses facts that share an id and are not the same.
func refuseReused(batch []events.Outgoing) error {
	first := make(map[string]int, len(batch))
	for i := range batch {
		id := batch[i].Header.Get(events.HeaderID)
		before, again := first[id]
		if !again {
			first[id] = i
			continue
		}
		if batch[i].Subject != batch[before].Subject || !bytes.Equal(batch[i].Data, batch[before].Data) {
			return errors.WithHint(cli.Usagef("arrivals %d and %d have the same id %q and are not the same; nothing was published", before+1, i+1, id), hintReused)
		}
	}
	return nil
}

// repeatedPatience is how long the decision on an arrival that was stored
// before is waited for.
const repeatedPatience = 10 * time.Second

// checkRepeated makes sure that what the server says it had before is what was
// sent now. Mostly it is: an acknowledgement was lost and the message sent
// again.
func checkRepeated(ctx context.Context, conn *nats.Conn, batch []events.Outgoing, results []jetstream.Result) error {
	ctx, cancel := context.WithTimeout(ctx, repeatedPatience)
	defer cancel()
	for i, result := range results {
		if !result.Duplicate {
			continue
		}
		decision, _, err := decisions.Wait(ctx, conn, result.Sequence)
		if err != nil {
			return errors.WithHint(errors.Wrapf(err, "arrival %d of %d was stored before, as sequence %d, and it is not known whether it is the same", i+1, len(batch), result.Sequence),
				"ask with `ingest status` and compare, or publish it under another id")
		}
		if err := answers(decision, &batch[i]); err != nil {
			return err
		}
	}
	return nil
}

// answers makes sure that a decision is on the arrival that was sent.
func answers(d *domain.Decision, sent *events.Outgoing) error {
	if events.ArrivalSubject(d.Campaign, d.Kind) == sent.Subject && d.Arrival.SHA256 == events.RecordHash(sent.Data) {
		return nil
	}
	return errors.WithHint(errors.Wrapf(errReused, "id %q, sequence %d", sent.Header.Get(events.HeaderID), d.Arrival.Seq), hintReused)
}
