package jetstream

import (
	"context"
	"encoding/json"
	"maps"
	"strconv"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/ledgerd/ledgerd/events"
)

// Headers of an atomic batch.
const (
	headerBatchID       = "Nats-Batch-Id"
	headerBatchSequence = "Nats-Batch-Sequence"
	headerBatchCommit   = "Nats-Batch-Commit"
)

// appendTimeout bounds how long an append waits for its acknowledgement: as
// long as the server keeps an unfinished batch. A slow disk answers late; after
// this it is a matter for the tail.
const appendTimeout = 10 * time.Second

// Append stores a batch whole behind expectedLast, or nothing of it.
//
// All messages but the last are only staged by the server, without an answer:
// what is wrong with one shows when the last one, the commit, is refused. So a
// batch costs one round trip whatever its size.
func (l *Log) Append(ctx context.Context, expectedLast uint64, batch []events.Outgoing) (uint64, error) {
	if err := events.CheckBatch(batch); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, errors.Wrap(err, "append")
	}
	id := nuid.Next()
	staged := len(batch) - 1
	for i := range staged {
		// Lost from here to the commit: the server drops what it staged.
		if err := l.conn.PublishMsg(l.batchMessage(id, i, expectedLast, batch[i])); err != nil {
			return 0, errors.Wrapf(notSent(err), "stage message %d of %d", i+1, len(batch))
		}
	}
	commit := l.batchMessage(id, staged, expectedLast, batch[staged])
	commit.Header.Set(headerBatchCommit, "1")
	ctx, cancel := context.WithTimeout(ctx, appendTimeout)
	defer cancel()
	// From here on the batch may be stored although nobody hears of it.
	reply, err := l.conn.RequestMsgWithContext(ctx, commit)
	if err != nil {
		return 0, errors.Wrapf(notAnswered(err), "commit %d messages behind %d", len(batch), expectedLast)
	}
	return readAck(reply.Data, l.name, id, expectedLast, len(batch))
}

// batchMessage makes a message a part of a batch. The expectation is on the
// first one: there it fences the whole batch.
func (l *Log) batchMessage(id string, index int, expectedLast uint64, out events.Outgoing) *nats.Msg {
	header := make(nats.Header, len(out.Header)+5)
	maps.Copy(header, out.Header)
	header[headerBatchID] = []string{id}
	header[headerBatchSequence] = []string{strconv.Itoa(index + 1)}
	if index == 0 {
		header[natsjs.ExpectedStreamHeader] = []string{l.name}
		header[natsjs.ExpectedLastSeqHeader] = []string{strconv.FormatUint(expectedLast, 10)}
	}
	return &nats.Msg{Subject: out.Subject, Header: header, Data: out.Data}
}

// notSent marks a failure before the commit: nothing can have been stored.
func notSent(err error) error {
	if errors.IsAny(err, nats.ErrMaxPayload, nats.ErrBadSubject, nats.ErrBadHeaderMsg, nats.ErrHeadersNotSupported) {
		return errors.Mark(err, events.ErrRefused)
	}
	return errors.Mark(err, events.ErrUnavailable)
}

// notAnswered marks a commit without an answer. What the client itself refuses
// to send was not stored, and what nobody listens for neither.
func notAnswered(err error) error {
	switch {
	case errors.IsAny(err, nats.ErrMaxPayload, nats.ErrBadSubject, nats.ErrBadHeaderMsg, nats.ErrHeadersNotSupported):
		return errors.Mark(err, events.ErrRefused)
	case errors.IsAny(err, nats.ErrNoResponders, nats.ErrInvalidConnection):
		return errors.Mark(err, events.ErrUnavailable)
	}
	return errors.Mark(err, events.ErrStateUnknown)
}

// batchAck is the server's answer to a commit.
type batchAck struct {
	Error    *natsjs.APIError `json:"error"`
	Stream   string           `json:"stream"`
	Sequence uint64           `json:"seq"`
	BatchID  string           `json:"batch"`
	Count    int              `json:"count"`
}

// readAck makes sure that an acknowledgement is of this batch and of all of
// it.
func readAck(data []byte, stream, id string, expectedLast uint64, count int) (uint64, error) {
	var ack batchAck
	if err := json.Unmarshal(data, &ack); err != nil {
		return 0, errors.Mark(errors.Wrap(err, "read the acknowledgement"), events.ErrStateUnknown)
	}
	if ack.Error != nil {
		return 0, errors.Wrapf(classify(ack.Error), "commit %d messages behind %d", count, expectedLast)
	}
	want := batchAck{Stream: stream, Sequence: expectedLast + uint64(count), BatchID: id, Count: count}
	if ack != want {
		return 0, errors.Wrapf(events.ErrStateUnknown, "the acknowledgement says %+v, not %+v", ack, want)
	}
	return ack.Sequence, nil
}
