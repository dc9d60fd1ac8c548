package jetstream

import (
	"context"
	"time"

	"github.com/cockroachdb/errors"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/ledgerd/ledgerd/events"
)

// MetadataLedgerID is the stream's metadata that names the ledger it belongs
// to.
const MetadataLedgerID = "ledgerd-ledger-id"

// Log is a stream in JetStream. It is safe for concurrent use.
type Log struct {
	stream
}

var _ events.Log = (*Log)(nil)

// Open gives the log of a stream, [events.ArrivalsStream] or
// [events.LedgerStream]. It asks nothing of the server yet.
func Open(js natsjs.JetStream, name string) *Log { return &Log{newStream(js, name)} }

// Identity is the ledger id that the stream was made with, or else when it was
// made.
func (l *Log) Identity(ctx context.Context) (string, error) { return l.identity(ctx) }

// Tail reads the end of the stream.
func (l *Log) Tail(ctx context.Context) (events.Tail, error) { return l.tail(ctx) }

// Get reads the message at seq.
func (l *Log) Get(ctx context.Context, seq uint64) (*events.Message, error) { return l.get(ctx, seq) }

// Last reads the last message whose subject matches filter.
func (l *Log) Last(ctx context.Context, filter string) (*events.Message, error) {
	return l.message(ctx, "last_by_subj", filter)
}

func (s stream) identity(ctx context.Context) (string, error) {
	info, err := s.info(ctx)
	if err != nil {
		return "", err
	}
	return identity(info), nil
}

func identity(info *natsjs.StreamInfo) string {
	if id := info.Config.Metadata[MetadataLedgerID]; id != "" {
		return id
	}
	return info.Created.UTC().Format(time.RFC3339Nano)
}

func (s stream) get(ctx context.Context, seq uint64) (*events.Message, error) {
	if seq == 0 { // to the server that is no sequence but a missing one
		return nil, errors.Wrapf(events.ErrNotFound, "%s: sequences begin at 1", s.name)
	}
	return s.message(ctx, "seq", seq)
}

func (s stream) tail(ctx context.Context) (events.Tail, error) {
	info, err := s.info(ctx)
	if err != nil {
		return events.Tail{}, err
	}
	tail := events.Tail{First: max(info.State.FirstSeq, 1), Last: info.State.LastSeq}
	if info.State.Msgs == 0 {
		return tail, nil
	}
	tail.End, err = s.get(ctx, tail.Last)
	if errors.Is(err, events.ErrNotFound) {
		return events.Tail{}, errors.Wrapf(events.ErrGap, "%s: sequence %d, the last one, is missing", s.name, tail.Last)
	}
	if err != nil {
		return events.Tail{}, err
	}
	return tail, nil
}
