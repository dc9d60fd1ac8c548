package export

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/audit"
)

// Errors of a Source.
var (
	// ErrNoExport: the text does not begin like an export.
	ErrNoExport = errors.New("export: this is no export of a ledger")
	// ErrNoEvidence: arrivals are wanted, and the export has none.
	ErrNoEvidence = errors.New("export: the arrivals are not in it")
)

// Source reads an export. open is called once for each walk; name is the
// file's, for findings.
func Source(name string, open func() (io.ReadCloser, error)) audit.Source {
	return source{name: name, open: open}
}

type source struct {
	name string
	open func() (io.ReadCloser, error)
}

// Walk begins to read. Errors: ErrNoExport, ErrNoEvidence.
func (s source) Walk(_ context.Context, what audit.Selection) (audit.Walk, error) {
	file, err := s.open()
	if err != nil {
		return nil, errors.Wrap(err, "open the export")
	}
	w := &walk{name: s.name, file: file, lines: bufio.NewReaderSize(file, readBufferBytes), sum: sha256.New(), arrivals: what.Arrivals}
	if what.Campaign != "" {
		w.filters = []string{events.ArrivalSubject(what.Campaign, "*"), events.CampaignFilter(what.Campaign)}
	}
	if err := w.begin(what); err != nil {
		return nil, errors.CombineErrors(err, file.Close())
	}
	return w, nil
}

const readBufferBytes = 1 << 20

type walk struct {
	name     string
	file     io.Closer
	lines    *bufio.Reader
	ledger   string // as the first line names it
	arrivals bool
	filters  []string // subjects that are wanted; none: all

	number int       // of the line that was read last
	sum    hash.Hash // of the lines before it
	counts end       // of the messages so far
	ended  bool      // the last line was read, or what stood in its place
	found  []audit.Finding

	last place       // of the message that was read last
	open *audit.Pair // the last one, whose decision may still come
}

// place is where a message stands: an arrival before the decision on it.
type place struct {
	seq      uint64
	decision bool
}

func (p place) before(q place) bool {
	return p.seq < q.seq || p.seq == q.seq && !p.decision && q.decision
}

// begin reads the first line.
func (w *walk) begin(what audit.Selection) error {
	raw, err := w.line()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, _ = w.sum.Write(raw) // never fails
	first, err := parse(raw)
	switch {
	case err != nil || first.Ledgerd != magic:
		return errors.WithHint(errors.Wrap(ErrNoExport, w.name), "give a file that `ledgerd export` wrote, or a directory that `ledgerd backup` wrote")
	case first.Format != format:
		return errors.WithHint(errors.Wrapf(ErrNoExport, "%s has format %d, this program reads %d", w.name, first.Format, format), "use the ledgerd that wrote it, or a later one")
	case what.Arrivals && !first.Evidence:
		return errors.WithHint(errors.Wrap(ErrNoEvidence, w.name), "make it with `ledgerd export --evidence`; `ledgerd verify` without --evidence needs the decisions alone")
	}
	w.ledger = first.Ledger
	return nil
}

// Ledger is the name of the ledger that was exported.
func (w *walk) Ledger() string { return w.ledger }

// line reads the next line with its line feed. io.EOF comes with what stands
// behind the last line feed.
func (w *walk) line() ([]byte, error) {
	var raw []byte
	for {
		part, err := w.lines.ReadSlice('\n')
		raw = append(raw, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(raw) <= maxLineBytes:
			continue
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, errors.Newf("%s: line %d is longer than %d bytes", w.name, w.number+1, maxLineBytes)
		case err != nil && !errors.Is(err, io.EOF):
			return nil, errors.Wrapf(err, "read %s", w.name)
		case len(raw) > 0:
			w.number++
		}
		return raw, err
	}
}

// Last is not known: the count stands at the end.
func (w *walk) Last() uint64 { return 0 }

func (w *walk) Close() error { return errors.Wrap(w.file.Close(), "close the export") }

func (w *walk) report(format string, args ...any) {
	w.found = append(w.found, audit.Finding{Problem: audit.ProblemManifest, File: w.name, Detail: fmt.Sprintf("line %d: ", w.number) + fmt.Sprintf(format, args...)})
}

func (w *walk) Next(ctx context.Context) (audit.Portion, error) {
	var p audit.Portion
	for size := 0; len(p.Pairs) < audit.PortionMessages && size < audit.PortionBytes && !w.ended; {
		if err := ctx.Err(); err != nil {
			return p, err
		}
		raw, err := w.line()
		if err != nil && !errors.Is(err, io.EOF) {
			return p, err
		}
		size += len(raw)
		if len(raw) == 0 {
			w.number++
			w.report("it is not there: the export was cut off before its end")
			w.ended = true
			break
		}
		p.Pairs = w.take(p.Pairs, raw)
	}
	if w.ended && w.open != nil {
		p.Pairs = append(p.Pairs, *w.open)
		w.open = nil
	}
	p.Found, w.found = w.found, nil
	if len(p.Pairs) == 0 && w.ended {
		return p, io.EOF
	}
	return p, nil
}

// take reads one line, and appends a pair when one is complete.
func (w *walk) take(pairs []audit.Pair, raw []byte) []audit.Pair {
	l, err := parse(raw)
	before := hex.EncodeToString(w.sum.Sum(nil))
	_, _ = w.sum.Write(raw) // never fails
	if err != nil {
		w.report("%v", err)
		return pairs
	}
	switch {
	case l.End != nil:
		w.finish(l.End, before)
	case l.Arrival != nil:
		w.counts.Arrivals++
		m, err := l.Arrival.read(l.Arrival.Body, nil, l.Arrival.BodyBase64)
		return w.join(pairs, m, err, false)
	case l.Decision != nil:
		w.counts.Decisions++
		m, err := l.Decision.read(nil, l.Decision.Record, l.Decision.RecordBase64)
		return w.join(pairs, m, err, true)
	default:
		w.report("it is no message")
	}
	return pairs
}

// finish compares the last line with those before it.
func (w *walk) finish(said *end, sum string) {
	w.ended = true
	if said.Arrivals != w.counts.Arrivals || said.Decisions != w.counts.Decisions {
		w.report("it counts %d arrivals and %d decisions, and there are %d and %d", said.Arrivals, said.Decisions, w.counts.Arrivals, w.counts.Decisions)
	}
	if said.SHA256 != sum {
		w.report("it gives SHA-256 %s for the lines before it, which have %s", said.SHA256, sum)
	}
	if more, _ := w.lines.Peek(1); len(more) > 0 {
		w.report("there is more behind it")
	}
}

// join puts a message to the one with its sequence.
func (w *walk) join(pairs []audit.Pair, m *events.Message, err error, decision bool) []audit.Pair {
	at := place{m.Seq, decision}
	switch {
	case err != nil:
		w.report("%v", err)
		return pairs
	case !w.last.before(at):
		w.report("sequence %d stands behind sequence %d", m.Seq, w.last.seq)
		return pairs
	}
	w.last = at
	if !events.AnyMatches(w.filters, m.Subject) || !decision && !w.arrivals {
		return pairs
	}
	if w.open != nil && w.open.Seq != m.Seq {
		pairs = append(pairs, *w.open)
		w.open = nil
	}
	if w.open == nil {
		w.open = &audit.Pair{Seq: m.Seq}
	}
	if decision {
		w.open.Decision = m
	} else {
		w.open.Arrival = m
	}
	return pairs
}
