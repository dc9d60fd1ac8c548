package simci

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"

	"github.com/go-json-experiment/json"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/internal/archive"
)

// Evidence is what a cell arrival carries.
type Evidence struct {
	Provenance domain.Provenance
	Execution  archive.Execution
}

// Body is the cell arrival's JSON.
func (e *Evidence) Body() []byte {
	body, err := archive.CellBody(provenanceFile(e.Provenance), &e.Execution)
	if err != nil {
		panic("simci: print a cell: " + err.Error()) // the provenance was printed above
	}
	return body
}

// Decoded is the evidence as the writer sees it.
func (e *Evidence) Decoded() *domain.CellEvidence {
	read := func(d archive.Document) domain.Document { return domain.ReadDocument(d.Path, d.Raw, d.SHA256) }
	return &domain.CellEvidence{
		Provenance: e.Provenance,
		Result:     read(e.Execution.Result),
		Host:       read(e.Execution.Host),
		Definition: read(e.Execution.Definition),
	}
}

// ImportKey is the key that the cell is imported by.
func (e *Evidence) ImportKey() string {
	return fmt.Sprintf("%s/%d/%s", e.Provenance.RunID, e.Provenance.RunAttempt, e.Execution.ExecutionID)
}

// provenanceFile prints a provenance as it stands beside an archive.
func provenanceFile(p domain.Provenance) []byte {
	raw, err := json.Marshal(&p)
	if err != nil {
		panic("simci: print a provenance: " + err.Error()) // it has strings and a number
	}
	return raw
}

// layout says where a job keeps its documents: definition and result in a
// folder for each execution, the host beside them or, for several executions,
// once above them.
type layout struct {
	names  domain.Documents
	folder string // of the job's files
	shared bool   // the host document is above
}

func (m *measurement) layout() layout {
	return layout{
		names:  m.policy.Documents,
		folder: fmt.Sprintf("%s-%d", m.runID, m.attempt),
		shared: len(m.siblings) > 1,
	}
}

func (l layout) result(execution string) string {
	return path.Join(l.folder, execution, "attempt-1", l.names.Result)
}

func (l layout) definition(execution string) string {
	return path.Join(l.folder, execution, "attempt-1", l.names.Definition)
}

func (l layout) host(execution string) string {
	if l.shared {
		return path.Join(l.folder, l.names.Host)
	}
	return path.Join(l.folder, execution, "attempt-1", l.names.Host)
}

// execution prints the documents, with the paths they had before the upload.
func (m *measurement) execution(breaking breakage) archive.Execution {
	l := m.layout()
	raw := [3][]byte{m.resultDocument(), m.hostDocument(), m.definitionDocument()}
	if breaking.how != nil {
		raw[breaking.document] = breaking.how(raw[breaking.document])
	}
	return archive.Execution{
		ExecutionID: m.executionID,
		Result:      newDocument(m.policy, l.result(m.executionID), raw[0]),
		Host:        newDocument(m.policy, l.host(m.executionID), raw[1]),
		Definition:  newDocument(m.policy, l.definition(m.executionID), raw[2]),
	}
}

// retained is the path that a file of an artifact had before the upload.
func retained(policy *domain.Policy, name string) string {
	return path.Join(policy.ResultsPrefix, name)
}

func newDocument(policy *domain.Policy, name string, raw []byte) archive.Document {
	return archive.Document{Path: retained(policy, name), Raw: raw, SHA256: digestOf(raw)}
}

func digestOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
