package projections

import (
	"context"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

// record is a decision as it was read, with the hash of its bytes.
type record struct {
	decision *domain.Decision
	hash     string
}

// chunk is a run of messages that is decoded on its own.
type chunk struct {
	messages []events.Message
	done     chan struct{} // closed when records and err are set
	records  []record
	err      error // of the first message behind records
}

func newChunk(messages []events.Message) *chunk {
	return &chunk{messages: messages, done: make(chan struct{})}
}

// failedChunk ends a reading.
func failedChunk(err error) *chunk {
	c := newChunk(nil)
	c.err = asDamage(err)
	close(c.done)
	return c
}

func (c *chunk) decode() {
	defer close(c.done)
	c.records = make([]record, 0, len(c.messages))
	for i := range c.messages {
		decision, err := decodeMessage(&c.messages[i])
		if err != nil {
			c.err = err
			return
		}
		c.records = append(c.records, record{decision: decision, hash: events.RecordHash(c.messages[i].Data)})
	}
	c.messages = nil
}

// decodeMessage reads a record and makes sure that it is where it says.
func decodeMessage(m *events.Message) (*domain.Decision, error) {
	d, err := events.DecodeRecord(m.Data)
	switch {
	case err != nil:
		return nil, asDamage(errors.Wrapf(err, "projections: LEDGER sequence %d", m.Seq))
	case d.Arrival.Seq != m.Seq || events.DecisionSubject(d) != m.Subject:
		return nil, damaged("LEDGER sequence %d on %s holds the record of decision %d on %q", m.Seq, m.Subject, d.Index, d.Campaign)
	case d.V > domain.RuleVersion:
		return nil, errors.Wrapf(domain.ErrUnknownRules, "decision %d has version %d, this program knows up to %d", d.Index, d.V, domain.RuleVersion)
	}
	return d, nil
}

// wait gives the records, also those before an error.
func (c *chunk) wait(ctx context.Context) ([]record, error) {
	select {
	case <-c.done:
		return c.records, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
