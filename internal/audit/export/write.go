package export

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/audit"
)

// Config says what is exported.
type Config struct {
	Source   audit.Source
	Ledger   string // its name, for people; "": what a Source says of itself
	Evidence bool   // the arrivals too
	Progress audit.Progress
}

// Exported is what was written.
type Exported struct {
	Arrivals  uint64          `json:"arrivals"`
	Decisions uint64          `json:"decisions"`
	Found     []audit.Finding `json:"findings"` // what of the source could not be read, and is not in the export
}

// Write exports a ledger. Errors: the source's and the writer's.
func Write(ctx context.Context, to io.Writer, cfg Config) (written *Exported, err error) {
	walk, err := cfg.Source.Walk(ctx, audit.Selection{Arrivals: cfg.Evidence})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.CombineErrors(err, walk.Close()) }()
	if named, ok := walk.(interface{ Ledger() string }); ok && cfg.Ledger == "" {
		cfg.Ledger = named.Ledger()
	}
	e := &exporter{to: bufio.NewWriterSize(to, writeBufferBytes), sum: sha256.New()}
	e.add(&line{Ledgerd: magic, Format: format, Ledger: cfg.Ledger, Evidence: cfg.Evidence})
	for e.err == nil {
		portion, err := walk.Next(ctx)
		if errors.Is(err, io.EOF) {
			e.found = append(e.found, portion.Found...)
			break
		}
		if err != nil {
			return nil, err
		}
		e.portion(portion)
		if n := len(portion.Pairs); n > 0 && cfg.Progress != nil {
			cfg.Progress(portion.Pairs[n-1].Seq, max(portion.Pairs[n-1].Seq, walk.Last()))
		}
	}
	return e.finish()
}

// writeBufferBytes is how much is collected before it is written.
const writeBufferBytes = 1 << 20

// exporter writes lines; the first error stays.
type exporter struct {
	to  *bufio.Writer
	sum hash.Hash // of all lines so far

	end   end
	found []audit.Finding
	err   error
}

func (e *exporter) add(l *line) {
	if e.err != nil {
		return
	}
	raw, err := l.print()
	if err == nil {
		_, err = e.to.Write(raw)
	}
	_, _ = e.sum.Write(raw) // never fails
	e.err = err
}

func (e *exporter) portion(portion audit.Portion) {
	e.found = append(e.found, portion.Found...)
	for _, pair := range portion.Pairs {
		if pair.Arrival != nil {
			e.end.Arrivals++
			e.add(&line{Arrival: newArrival(pair.Arrival)})
		}
		if pair.Decision != nil {
			e.end.Decisions++
			e.add(&line{Decision: newDecision(pair.Decision)})
		}
	}
}

func (e *exporter) finish() (*Exported, error) {
	e.end.SHA256 = hex.EncodeToString(e.sum.Sum(nil))
	e.add(&line{End: &e.end})
	if e.err == nil {
		e.err = e.to.Flush()
	}
	return &Exported{Arrivals: e.end.Arrivals, Decisions: e.end.Decisions, Found: e.found}, errors.Wrap(e.err, "write the export")
}
