package projections

import (
	"context"

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
		decision, err := events.ReadRecord(&c.messages[i])
		if err != nil {
			c.err = asDamage(err)
			return
		}
		c.records = append(c.records, record{decision: decision, hash: events.RecordHash(c.messages[i].Data)})
	}
	c.messages = nil
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
