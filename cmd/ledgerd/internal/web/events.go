package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/ledgerd/ledgerd/projections"
)

// Server-sent events. A stream is lines like
//
//	retry: 2000
//
//	id: 16
//	event: begin
//	data: {"as_of":20,"after":16}
//
//	id: 17
//	event: entry
//	data: {"index":17,"at":"2026-01-02T15:04:05Z","campaign":"alpha",…}
//
//	: alive
//
// An id is a ledger index. A client that comes back with it in Last-Event-ID
// goes on behind it: the views hold every entry, so nothing is missed however
// long it was away. The first event says where the stream begins, so that a
// client that saw no entry yet has an id too.

type eventsInput struct {
	LastEventID string           `header:"Last-Event-ID" doc:"Id of the last event that was seen; entries behind it follow. It goes before after."`
	After       Optional[uint64] `query:"after" maximum:"9007199254740991" doc:"Index; entries behind it follow. Without it: what is decided from now on."`
	EntryFilter

	from *int64 // of Last-Event-ID
}

// Resolve checks what the schema cannot say.
func (in *eventsInput) Resolve(ctx huma.Context) []error {
	url := ctx.URL()
	wrong := checkQuery(url.RawQuery)
	if in.LastEventID != "" {
		index, err := strconv.ParseInt(in.LastEventID, 10, 64)
		if err != nil || index < -1 || index > maxIndex {
			return append(wrong, &huma.ErrorDetail{Message: "not an id of this stream", Location: "header.Last-Event-ID", Value: in.LastEventID})
		}
		in.from = &index
	}
	return wrong
}

// begin is the index behind which a stream begins.
func (in *eventsInput) begin(now int64) int64 {
	switch {
	case in.from != nil:
		return *in.from
	case in.After.Set:
		return int64(in.After.Value)
	}
	return now
}

func (s *server) eventOperation(api huma.API) {
	op := operation("follow-entries", "/v1/events", "ledger", "Entries as they are decided, as server-sent events")
	op.Description = "Each event `entry` holds an entry; its id is the entry's index. The first event, `begin`, says where the views are and where the stream begins. " +
		"A comment line comes when nothing else does. A client that comes back with Last-Event-ID misses nothing."
	op.Responses["200"] = &huma.Response{
		Description: "Events until either side ends the stream.",
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: eventSchema(api)}},
	}
	huma.Register(api, op, func(ctx context.Context, in *eventsInput) (*huma.StreamResponse, error) {
		if !s.streams.take() {
			return nil, unavailable(problemStreams, fmt.Sprintf("%d event streams are open already", maxStreams))
		}
		position, err := s.Reader.Position(ctx)
		if err != nil {
			s.streams.give()
			return nil, s.explain(ctx, err)
		}
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			defer s.streams.give()
			s.stream(ctx, in, position.AsOf())
		}}, nil
	})
}

// eventSchema describes one event, as a client's library gives it.
func eventSchema(api huma.API) *huma.Schema {
	id := &huma.Schema{Type: huma.TypeInteger, Format: "int64", Description: "A ledger index."}
	event := func(name string, data *huma.Schema) *huma.Schema {
		return &huma.Schema{Type: huma.TypeObject, Required: []string{"id", "event", "data"}, Properties: map[string]*huma.Schema{
			"id": id, "event": {Type: huma.TypeString, Enum: []any{name}}, "data": data,
		}}
	}
	return &huma.Schema{Title: "Event", OneOf: []*huma.Schema{
		event(eventBegin, schemaOf[streamBegin](api)),
		event(eventEntry, schemaOf[projections.Entry](api)),
	}}
}

const (
	eventBegin = "begin"
	eventEntry = "entry"
)

// streamBegin is the data of the first event.
type streamBegin struct {
	AsOf  int64 `json:"as_of" doc:"Ledger index of the last decision in the views, -1 before the first."`
	After int64 `json:"after" doc:"Entries behind this index follow."`
}

// stream is one open event stream. It belongs to its request's goroutine.
type stream struct {
	server *server
	filter *EntryFilter
	to     http.ResponseWriter
	flush  *http.ResponseController
	seen   int64 // index of the last entry that was looked at
}

func (s *server) stream(to huma.Context, in *eventsInput, asOf int64) {
	request, writer := humago.Unwrap(to)
	header := writer.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", neverStored)
	header.Set("X-Accel-Buffering", "no") // nginx would keep events back
	writer.WriteHeader(http.StatusOK)
	ctx, cancel := context.WithCancel(request.Context())
	defer cancel()
	defer context.AfterFunc(s.ending, cancel)()
	open := &stream{server: s, filter: &in.EntryFilter, to: writer, flush: http.NewResponseController(writer), seen: in.begin(asOf)}
	if request.Method == http.MethodHead {
		return
	}
	if err := open.run(ctx, asOf); err != nil && ctx.Err() == nil {
		s.Logger.DebugContext(ctx, "an event stream ended", "error", err)
	}
}

// run sends until the client has gone or the daemon ends.
func (st *stream) run(ctx context.Context, asOf int64) error {
	var begin bytes.Buffer
	fmt.Fprintf(&begin, "retry: %d\n\n", reconnectDelay.Milliseconds())
	if err := printEvent(&begin, st.seen, eventBegin, streamBegin{AsOf: asOf, After: st.seen}); err != nil {
		return err
	}
	if err := st.send(begin.Bytes()); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if err := st.catchUp(ctx); err != nil {
			return err
		}
		if err := st.wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// catchUp sends what the views have behind seen.
func (st *stream) catchUp(ctx context.Context) error {
	for {
		list, err := st.read(ctx)
		if err != nil {
			return err
		}
		var events bytes.Buffer
		for i := range list.Items {
			if err := printEvent(&events, int64(list.Items[i].Index), eventEntry, &list.Items[i]); err != nil {
				return err
			}
		}
		if events.Len() > 0 {
			if err := st.send(events.Bytes()); err != nil {
				return err
			}
		}
		if list.Next == nil {
			st.seen = max(st.seen, list.AsOf) // nothing else up to there is wanted
			return nil
		}
		st.seen = int64(*list.Next)
	}
}

func (st *stream) read(ctx context.Context) (projections.List[projections.Entry], error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	page := projections.Page{Limit: streamPage}
	if st.seen >= 0 {
		after := uint64(st.seen)
		page.After = &after
	}
	return st.server.Reader.Entries(ctx, st.filter.query(page))
}

// wait returns when the views have something new, and after a sign of life
// when they have not.
func (st *stream) wait(ctx context.Context) error {
	quiet, cancel := context.WithTimeout(ctx, st.server.Heartbeat)
	defer cancel()
	next := uint64(st.seen+1) + 1 // the sequence of the entry behind seen
	if err := st.server.WaitFor(quiet, next); err == nil {
		return nil
	}
	<-quiet.Done() // at once, but for views that stopped: what they have stays readable
	if ctx.Err() != nil {
		return nil
	}
	return st.send([]byte(": alive\n\n"))
}

// send writes and flushes; a client that takes longer than writeTimeout loses
// the stream.
func (st *stream) send(data []byte) error {
	if err := st.flush.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := st.to.Write(data); err != nil {
		return err
	}
	return st.flush.Flush()
}

// printEvent prints an event; JSON has no line breaks, so that data is a line.
func printEvent(to *bytes.Buffer, id int64, name string, data any) error {
	encoded, err := json.Marshal(data)
	if err != nil {
		return err
	}
	fmt.Fprintf(to, "id: %d\nevent: %s\ndata: %s\n\n", id, name, encoded)
	return nil
}
