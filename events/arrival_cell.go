package events

import "github.com/ledgerd/ledgerd/domain"

// cellMembers read a cell arrival:
//
//	{"provenance":{…},"result":{"path","bytes"|"base64","sha256"},"host":{…},"definition":{…},
//	 "qualification"?:{"attempt":{…},"completion":{…}}}
var cellMembers = []member[domain.CellEvidence]{
	{name: "provenance", read: func(b *body, c *domain.CellEvidence) *domain.Refusal {
		return object(b, &c.Provenance, provenanceMembers)
	}},
	{name: "result", read: func(b *body, c *domain.CellEvidence) *domain.Refusal { return b.document(&c.Result) }},
	{name: "host", read: func(b *body, c *domain.CellEvidence) *domain.Refusal { return b.document(&c.Host) }},
	{name: "definition", read: func(b *body, c *domain.CellEvidence) *domain.Refusal { return b.document(&c.Definition) }},
	{name: "qualification", optional: true, read: func(b *body, c *domain.CellEvidence) *domain.Refusal {
		return b.qualification(&c.Qualification)
	}},
}

var provenanceMembers = []member[domain.Provenance]{
	gatedText("repository", func(p *domain.Provenance) *string { return &p.Repository }),
	gatedText("workflow", func(p *domain.Provenance) *string { return &p.Workflow }),
	gatedText("workflowRef", func(p *domain.Provenance) *string { return &p.WorkflowRef }),
	gatedText("runId", func(p *domain.Provenance) *string { return &p.RunID }),
	{name: "runAttempt", optional: true, read: func(b *body, p *domain.Provenance) *domain.Refusal {
		return b.lenientInteger(&p.RunAttempt)
	}},
	gatedText("artifactId", func(p *domain.Provenance) *string { return &p.ArtifactID }),
	gatedText("archiveSha256", func(p *domain.Provenance) *string { return &p.ArchiveSHA256 }),
	gatedText("targetSourceRevision", func(p *domain.Provenance) *string { return &p.TargetSourceRevision }),
}

// documentBody is a document as it arrives. Of bytes and base64 exactly one is
// there.
type documentBody struct {
	path, sha256  string
	bytes, base64 []byte // nil: not there
}

var documentMembers = []member[documentBody]{
	gatedText("path", func(d *documentBody) *string { return &d.path }),
	{name: "bytes", optional: true, read: func(b *body, d *documentBody) *domain.Refusal { return b.bytes(&d.bytes) }},
	{name: "base64", optional: true, read: func(b *body, d *documentBody) *domain.Refusal { return b.base64(&d.base64) }},
	gatedText("sha256", func(d *documentBody) *string { return &d.sha256 }),
}

// document reads a document and parses what it holds.
func (b *body) document(into *domain.Document) *domain.Refusal {
	var d documentBody
	if refusal := object(b, &d, documentMembers); refusal != nil {
		return refusal
	}
	raw := d.bytes
	switch {
	case d.bytes != nil && d.base64 != nil:
		return malformed(b.pointer(), "it has bytes and base64 and must have one of them")
	case d.bytes == nil && d.base64 == nil:
		return malformed(b.pointer()+"/bytes", "bytes is missing, and so is base64")
	case d.base64 != nil:
		raw = d.base64
	}
	*into = domain.ReadDocument(d.path, raw, d.sha256)
	return nil
}

// qualification reads the statement that may come with a cell.
func (b *body) qualification(into **domain.Qualification) *domain.Refusal {
	qualification, refusal := domain.NewQualification(b.value)
	*into = qualification
	return refusal
}
