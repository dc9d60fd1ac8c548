package jetstream

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/ledgerd/ledgerd/events"
)

// requestTimeout bounds one question to the server. A leader's election takes
// a few seconds.
const requestTimeout = 5 * time.Second

// stream asks the server about one stream. What it asks goes to the stream's
// leader.
type stream struct {
	js   natsjs.JetStream
	conn *nats.Conn
	name string
}

func newStream(js natsjs.JetStream, name string) stream {
	return stream{js: js, conn: js.Conn(), name: name}
}

// subject is the API subject of a verb, as the JetStream context is set up.
func (s stream) subject(verb string) string {
	switch options := s.js.Options(); {
	case options.APIPrefix != "":
		return strings.TrimSuffix(options.APIPrefix, ".") + "." + verb
	case options.Domain != "":
		return "$JS." + options.Domain + ".API." + verb
	default:
		return "$JS.API." + verb
	}
}

// info reads the stream's configuration and state.
func (s stream) info(ctx context.Context) (*natsjs.StreamInfo, error) {
	var answer struct {
		*natsjs.StreamInfo
		Error *natsjs.APIError `json:"error"`
	}
	if err := s.request(ctx, "STREAM.INFO."+s.name, nil, &answer); err != nil {
		return nil, err
	}
	if answer.Error != nil {
		return nil, errors.Wrapf(asUnavailable(answer.Error), "information on %s", s.name)
	}
	return answer.StreamInfo, nil
}

// storedMessage is a message as the API gives it.
type storedMessage struct {
	Subject  string    `json:"subject"`
	Sequence uint64    `json:"seq"`
	Header   string    `json:"hdrs"`
	Data     string    `json:"data"`
	Time     time.Time `json:"time"`
}

// message reads one message: by "seq", or by "last_by_subj" with wildcards.
func (s stream) message(ctx context.Context, key string, value any) (*events.Message, error) {
	question, err := json.Marshal(map[string]any{key: value})
	if err != nil {
		return nil, errors.Wrap(err, "ask for a message")
	}
	var answer struct {
		Message *storedMessage   `json:"message"`
		Error   *natsjs.APIError `json:"error"`
	}
	if err := s.request(ctx, "STREAM.MSG.GET."+s.name, question, &answer); err != nil {
		return nil, err
	}
	switch {
	case answer.Error != nil && answer.Error.ErrorCode == codeNoMessage:
		return nil, errors.Wrapf(events.ErrNotFound, "%s: %s %v", s.name, key, value)
	case answer.Error != nil:
		return nil, errors.Wrapf(asUnavailable(answer.Error), "%s: %s %v", s.name, key, value)
	case answer.Message == nil:
		return nil, errors.Wrapf(events.ErrUnavailable, "%s: the server answers without a message", s.name)
	}
	return answer.Message.decode()
}

func (m *storedMessage) decode() (*events.Message, error) {
	data, err := base64.StdEncoding.DecodeString(m.Data)
	if err != nil {
		return nil, errors.Mark(errors.Wrapf(err, "body of sequence %d", m.Sequence), events.ErrUnavailable)
	}
	header, err := base64.StdEncoding.DecodeString(m.Header)
	if err != nil {
		return nil, errors.Mark(errors.Wrapf(err, "headers of sequence %d", m.Sequence), events.ErrUnavailable)
	}
	return &events.Message{
		Seq: m.Sequence, Time: m.Time.UTC(), Subject: m.Subject, Header: DecodeHeader(header), Data: data,
	}, nil
}

// request asks a question and reads the answer, JSON.
func (s stream) request(ctx context.Context, verb string, question []byte, answer any) error {
	ctxt, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	reply, err := s.conn.RequestWithContext(ctxt, s.subject(verb), question)
	if ctx.Err() != nil {
		return errors.Wrapf(ctx.Err(), "ask %s", verb)
	}
	if err != nil {
		return errors.WithHint(errors.Wrapf(errors.Mark(err, events.ErrUnavailable), "ask %s", verb),
			"is the NATS server up and has it the stream? A question that the credentials may not ask is never answered either")
	}
	if err := json.Unmarshal(reply.Data, answer); err != nil {
		return errors.Wrapf(errors.Mark(err, events.ErrUnavailable), "the answer to %s", verb)
	}
	return nil
}

// asUnavailable marks an error of the API as one that may pass.
func asUnavailable(err *natsjs.APIError) error { return errors.Mark(err, events.ErrUnavailable) }

// batchHeaders are the headers that make a message part of a batch. The server
// keeps them; they are nothing to a reader.
var batchHeaders = []string{headerBatchID, headerBatchSequence, headerBatchCommit, natsjs.ExpectedLastSeqHeader, natsjs.ExpectedStreamHeader}

// storedHeader gives a stored message's headers without those that only said
// how to store it.
func storedHeader(header nats.Header) events.Header {
	for _, name := range batchHeaders {
		delete(header, name)
	}
	return events.Header(header)
}
