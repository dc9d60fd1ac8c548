package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

// checkedPair is what a pair says by itself.
type checkedPair struct {
	decision *domain.Decision // nil: not there, or no record that can be read
	link     *events.Link     // nil: not there, or it does not begin as a record
	hash     string           // of the record's bytes
	leaf     []byte           // likewise, as the tree's
	found    []Finding
}

func checkPair(pair Pair) checkedPair {
	var c checkedPair
	if pair.Decision == nil {
		return c
	}
	c.record(pair.Decision)
	if pair.Arrival != nil && c.decision != nil {
		c.evidence(pair.Arrival)
	}
	return c
}

func (c *checkedPair) add(problem Problem, stream string, seq uint64, format string, args ...any) {
	c.found = append(c.found, Finding{Problem: problem, Stream: stream, Sequence: seq, Detail: fmt.Sprintf(format, args...)})
}

// record checks a record's bytes, place and envelope.
func (c *checkedPair) record(m *events.Message) {
	c.hash, c.leaf = events.RecordHash(m.Data), leafHash(m.Data)
	if link, err := events.ReadLink(m.Data); err == nil {
		c.link = &link
	}
	d, err := events.DecodeCanonicalRecord(m.Data)
	switch {
	case errors.Is(err, domain.ErrUnknownRules):
		return // said with the versions before it
	case err != nil:
		c.add(ProblemRecord, events.LedgerStream, m.Seq, "%v", err)
		return
	}
	c.decision = d
	if err := events.CheckPlace(m, d); err != nil {
		c.add(ProblemPlace, events.LedgerStream, m.Seq, "%v", err)
	}
	// Headers say nothing that the record does not; what a process adds of
	// itself must be there and may be anything.
	want := events.NewDecisionMessage(d, m.Data, m.Header.Get(events.HeaderEpoch), m.Header.Get(events.HeaderHost)).Header
	for name, values := range want {
		if found := m.Header[name]; len(found) != 1 || found[0] != values[0] || found[0] == "" {
			c.add(ProblemEnvelope, events.LedgerStream, m.Seq, "its header %s is %q and must be %q", name, found, values)
		}
	}
}

// evidence checks that an arrival is the one that was decided.
func (c *checkedPair) evidence(m *events.Message) {
	d := c.decision
	envelope := *m // what is in the body is the rules' matter
	envelope.Data = nil
	arrival := events.DecodeArrivalBy(d.V, &envelope)
	arrival.SHA256 = events.RecordHash(m.Data)
	is := domain.RefOf(arrival)
	for _, field := range []struct {
		name        string
		is, decided string
	}{
		{"SHA-256 of the body", is.SHA256, d.Arrival.SHA256},
		{"id", is.ID, d.Arrival.ID},
		{"time", is.Time.Format(time.RFC3339Nano), d.Arrival.Time.Format(time.RFC3339Nano)},
		{"campaign", arrival.Campaign, d.Campaign},
		{"kind", string(arrival.Kind), string(d.Kind)},
	} {
		if field.is != field.decided {
			c.add(ProblemEvidence, events.ArrivalsStream, m.Seq, "its %s is %q, and the record that answers it names %q", field.name, field.is, field.decided)
		}
	}
	if imported, ok := d.Latest().(*domain.CellImported); ok {
		c.documents(m, &imported.Cell)
	}
}

// documents hashes an imported cell's documents again. They are read here by
// other means than the rules read them by.
func (c *checkedPair) documents(m *events.Message, cell *domain.Cell) {
	type document struct {
		Path   string  `json:"path"`
		Text   *string `json:"bytes"`
		Base64 []byte  `json:"base64"`
	}
	var body struct {
		Result     document `json:"result"`
		Host       document `json:"host"`
		Definition document `json:"definition"`
	}
	if err := json.Unmarshal(m.Data, &body); err != nil {
		c.add(ProblemDocument, events.ArrivalsStream, m.Seq, "its documents cannot be read, and were imported: %v", err)
		return
	}
	for _, one := range []struct {
		name     string
		document *document
		want     string
	}{
		{"result", &body.Result, cell.ResultSHA256},
		{"host", &body.Host, cell.HostSHA256},
		{"definition", &body.Definition, cell.DefinitionSHA256},
	} {
		raw := one.document.Base64
		if one.document.Text != nil {
			raw = []byte(*one.document.Text)
		}
		sum := sha256.Sum256(raw)
		if found := hex.EncodeToString(sum[:]); found != one.want {
			c.add(ProblemDocument, events.ArrivalsStream, m.Seq, "its %s has SHA-256 %s, and the record that imports it names %s", one.name, found, one.want)
		}
	}
	if body.Result.Path != cell.ResultPath {
		c.add(ProblemDocument, events.ArrivalsStream, m.Seq, "its result's path is %q, and the record that imports it names %q", body.Result.Path, cell.ResultPath)
	}
}
