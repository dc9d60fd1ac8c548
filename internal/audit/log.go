package audit

import (
	"context"
	"fmt"
	"io"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
)

// Live is the source of a ledger that a server keeps. The end of each stream
// is the one it has when the walk begins.
func Live(arrivals, ledger events.Log) Source {
	return Streams{
		Arrivals: logStream{log: arrivals, name: events.ArrivalsStream, all: events.ArrivalsFilter, of: arrivalsOf},
		Ledger:   logStream{log: ledger, name: events.LedgerStream, all: events.DecisionsFilter, of: events.CampaignFilter},
	}
}

// arrivalsOf matches every arrival under a campaign's subjects.
func arrivalsOf(campaign string) string { return events.ArrivalSubject(campaign, "*") }

// logStream is a stream on a server.
type logStream struct {
	log  events.Log
	name string
	all  string              // matches every subject of the stream
	of   func(string) string // matches a campaign's
}

func (s logStream) Open(ctx context.Context, campaign string) (StreamReader, error) {
	r := &logReader{stream: s, next: 1, filter: s.all}
	if campaign != "" {
		r.filter = s.of(campaign)
		r.filters = []string{r.filter}
	}
	if err := r.findEnd(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// logReader reads a stream on a server up to the end it had at first.
type logReader struct {
	stream  logStream
	filter  string
	filters []string // none while every sequence must be there: a hole is then noticed by the cursor

	next   uint64
	last   uint64
	cursor events.Cursor // nil until it is needed
	found  []Finding     // not given yet
}

// findEnd fixes the end. A stream that lost its last messages still has a last
// one.
func (r *logReader) findEnd(ctx context.Context) error {
	if len(r.filters) == 0 {
		tail, err := r.stream.log.Tail(ctx)
		switch {
		case err == nil && tail.End != nil || err == nil && tail.Last == 0:
			r.last = tail.Last
			return nil
		case err == nil:
			r.found = append(r.found, Missing(r.stream.name, 1, tail.Last))
			return nil
		case !errors.Is(err, events.ErrGap):
			return err
		}
		r.found = append(r.found, Finding{Problem: ProblemMissing, Stream: r.stream.name, Detail: "its last message is not there"})
	}
	end, err := r.stream.log.Last(ctx, r.filter)
	switch {
	case errors.Is(err, events.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	r.last = end.Seq
	return nil
}

// Missing is the finding that a stream lacks the sequences from to to.
func Missing(stream string, from, to uint64) Finding {
	detail := "it is not there"
	if to > from {
		detail = fmt.Sprintf("the %d sequences from here to %d are not there", to-from+1, to)
	}
	return Finding{Problem: ProblemMissing, Stream: stream, Sequence: from, Detail: detail}
}

func (r *logReader) Last() uint64 { return r.last }

func (r *logReader) Next(ctx context.Context) ([]events.Message, []Finding, error) {
	found := r.found
	r.found = nil
	for {
		if r.next > r.last {
			return nil, found, io.EOF
		}
		if r.cursor == nil {
			cursor, err := r.stream.log.Read(ctx, r.next, r.filters...)
			if err != nil {
				return nil, found, err
			}
			r.cursor = cursor
		}
		messages, err := r.cursor.Next(ctx)
		if errors.Is(err, events.ErrGap) && len(r.filters) == 0 {
			// Go on behind the hole. Whoever walks sees it: sequences are left out.
			_ = r.Close()
			r.filters = []string{r.filter}
			continue
		}
		if err != nil {
			return nil, found, errors.Wrapf(err, "read %s from sequence %d", r.stream.name, r.next)
		}
		messages = r.within(messages)
		if len(messages) > 0 {
			r.next = messages[len(messages)-1].Seq + 1
			return messages, found, nil
		}
	}
}

// within drops what came behind the end.
func (r *logReader) within(messages []events.Message) []events.Message {
	for i := range messages {
		if messages[i].Seq > r.last {
			r.next = r.last + 1
			return messages[:i]
		}
	}
	return messages
}

func (r *logReader) Close() error {
	if r.cursor != nil {
		r.cursor.Close()
		r.cursor = nil
	}
	return nil
}
