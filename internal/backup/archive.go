package backup

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/klauspost/compress/s2"
	"github.com/nats-io/nats-server/v2/server/archive"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/audit"
)

// maxHeaderBytes is room for headers that are printed a little longer than they
// came.
const maxHeaderBytes = 2 * events.MaxHeaderBytes

// stateName is the archive's first entry.
const stateName = "state.json"

// state is how far a stream goes, as the server words it.
type state struct {
	Messages uint64    `json:"messages"`
	Bytes    uint64    `json:"bytes"`
	First    uint64    `json:"first_seq"`
	FirstAt  time.Time `json:"first_ts"`
	Last     uint64    `json:"last_seq"`
	LastAt   time.Time `json:"last_ts"`
}

// archiver writes a stream's messages. The first error stays.
type archiver struct {
	file    *file
	packer  *s2.Writer
	entries *archive.Writer
	state   state
	err     error
}

// newArchiver begins an archive. What the server reads first, how far the
// stream goes, is not known yet: it says that the stream is empty, which is no
// limit to what follows.
func newArchiver(path string) (*archiver, error) {
	f, err := create(path)
	if err != nil {
		return nil, err
	}
	a := &archiver{file: f, packer: s2.NewWriter(f), state: state{First: 1}}
	a.entries = archive.NewWriter(a.packer)
	raw, err := json.Marshal(a.state)
	if err != nil {
		return nil, errors.Wrap(err, "begin an archive")
	}
	a.add(&archive.Header{Name: stateName, PayloadSize: int64(len(raw))}, raw)
	return a, nil
}

func (a *archiver) add(header *archive.Header, parts ...[]byte) {
	if a.err == nil {
		a.err = a.entries.WriteHeader(header)
	}
	for _, part := range parts {
		if a.err == nil {
			_, a.err = a.entries.Write(part)
		}
	}
}

func (a *archiver) message(m *events.Message) {
	header := jetstream.EncodeHeader(m.Header)
	a.add(&archive.Header{
		Name: m.Subject, HeaderSize: int64(len(header)), PayloadSize: int64(len(m.Data)), Timestamp: m.Time.UnixNano(), Sequence: m.Seq,
	}, header, m.Data)
	if a.state.Messages == 0 {
		a.state.FirstAt = m.Time
	}
	a.state.Messages++
	a.state.Bytes += uint64(len(m.Subject) + len(header) + len(m.Data))
	a.state.Last, a.state.LastAt = m.Seq, m.Time
}

// finish ends the archive and gives the file's hash.
func (a *archiver) finish() (string, error) {
	a.add(&archive.Header{}) // the end: an archive without it was cut off
	if a.err == nil {
		a.err = a.entries.Close()
	}
	a.err = errors.CombineErrors(a.err, a.packer.Close())
	sum, err := a.file.finish()
	return sum, errors.CombineErrors(errors.Wrap(a.err, "write an archive"), err)
}

// archived is a stream in a backup.
type archived struct {
	path string // of the archive
	name string // of the stream, and of the file for findings
	file string
	want uint64 // messages
}

// Open begins to read.
func (s *archived) Open(_ context.Context, campaign string) (audit.StreamReader, error) {
	opened, err := os.Open(s.path)
	if err != nil {
		return nil, errors.Wrap(err, "open an archive")
	}
	r := &archiveReader{stream: s, file: opened, entries: archive.NewReader(s2.NewReader(opened))}
	if campaign != "" {
		r.filters = []string{events.ArrivalSubject(campaign, "*"), events.CampaignFilter(campaign)}
	}
	return r, nil
}

// archiveReader reads an archive's messages.
type archiveReader struct {
	stream  *archived
	file    io.Closer
	entries *archive.Reader
	filters []string // subjects that are wanted; none: all

	begun bool
	ended bool
	last  uint64 // sequence of the last message
	count uint64
}

// Last is what the backup says.
func (r *archiveReader) Last() uint64 { return r.stream.want }

func (r *archiveReader) Close() error { return errors.Wrap(r.file.Close(), "close an archive") }

func (r *archiveReader) Next(ctx context.Context) ([]events.Message, []audit.Finding, error) {
	var messages []events.Message
	for size := 0; len(messages) < audit.PortionMessages && size < audit.PortionBytes && !r.ended; {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		m, err := r.read()
		if err != nil {
			// Behind a byte that is wrong nothing can be read.
			r.ended = true
			return messages, []audit.Finding{r.finding("it cannot be read behind sequence %d: %v", r.last, err)}, nil
		}
		if m == nil {
			continue
		}
		size += len(m.Data)
		messages = append(messages, *m)
	}
	if len(messages) > 0 {
		return messages, nil, nil
	}
	if r.count != r.stream.want {
		return nil, []audit.Finding{r.finding("it holds %d messages, and the manifest counts %d", r.count, r.stream.want)}, io.EOF
	}
	return nil, nil, io.EOF
}

func (r *archiveReader) finding(format string, args ...any) audit.Finding {
	return audit.Finding{Problem: audit.ProblemFile, Stream: r.stream.name, File: r.stream.file, Detail: fmt.Sprintf(format, args...)}
}

// read gives the next message, nil for what is none or is not wanted.
func (r *archiveReader) read() (*events.Message, error) {
	header, err := r.entries.Next()
	switch {
	case err != nil:
		return nil, err
	case !r.begun && header.Name != stateName:
		return nil, errors.Newf("it begins with %.100q", header.Name)
	case !r.begun:
		r.begun = true
		return nil, nil
	case header.Sequence == 0 && (header.Name != "" || header.HeaderSize+header.PayloadSize != 0):
		return nil, errors.Newf("%.100q is no message", header.Name)
	case header.Sequence == 0:
		r.ended = true
		if _, err := r.entries.Next(); !errors.Is(err, io.EOF) {
			return nil, errors.New("there is more behind its end")
		}
		return nil, nil
	case header.Sequence <= r.last:
		return nil, errors.Newf("sequence %d stands behind %d", header.Sequence, r.last)
	case header.HeaderSize > maxHeaderBytes || header.PayloadSize > events.MaxArrivalBytes:
		return nil, errors.Newf("sequence %d is larger than a message", header.Sequence)
	}
	content := make([]byte, header.HeaderSize+header.PayloadSize)
	if _, err := io.ReadFull(r.entries, content); err != nil {
		return nil, err
	}
	r.last = header.Sequence
	r.count++
	if !events.AnyMatches(r.filters, header.Name) {
		return nil, nil
	}
	return &events.Message{
		Seq: header.Sequence, Time: time.Unix(0, header.Timestamp).UTC(), Subject: header.Name,
		Header: jetstream.DecodeHeader(content[:header.HeaderSize]), Data: content[header.HeaderSize:],
	}, nil
}
