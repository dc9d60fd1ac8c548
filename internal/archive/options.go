package archive

import (
	"path"
	"strings"
)

// Documents are the patterns, as [path.Match] has them, that the base names of
// an execution's documents match. It converts from a policy's Documents.
type Documents struct {
	Result     string
	Host       string
	Definition string
}

// DefaultDocuments are the patterns for which Options leaves a field empty.
var DefaultDocuments = Documents{Result: "result.json", Host: "host.json", Definition: "definition.json"}

// Options say how an archive is read. The zero value reads with the defaults.
type Options struct {
	Documents Documents // empty patterns are those of DefaultDocuments
	Limits    Limits

	// PathPrefix is put before names that do not begin with it: uploaders strip
	// the folders that all files have in common.
	PathPrefix string

	// AnyContent takes documents that are not JSON objects as they are, for
	// whoever wants the ledger to refuse them. An execution whose result cannot
	// be read has no id then.
	AnyContent bool
}

// prepared is Options with defaults, checked.
type prepared struct {
	patterns [documentKinds]string
	prefix   string
	limits   Limits
	any      bool
}

func (o Options) prepare() (*prepared, error) {
	p := &prepared{limits: o.Limits.withDefaults(), any: o.AnyContent}
	for kind, pattern := range [documentKinds][2]string{
		result:     {o.Documents.Result, DefaultDocuments.Result},
		host:       {o.Documents.Host, DefaultDocuments.Host},
		definition: {o.Documents.Definition, DefaultDocuments.Definition},
	} {
		p.patterns[kind] = pattern[0]
		if pattern[0] == "" {
			p.patterns[kind] = pattern[1]
		}
		if _, err := path.Match(p.patterns[kind], ""); err != nil || strings.Contains(p.patterns[kind], "/") {
			return nil, refuse(ErrArchiveOptions, "a pattern is for a base name, like *.result.json, with * ? [a-z]",
				"the pattern %q of %s documents", p.patterns[kind], documentKind(kind))
		}
	}
	if o.PathPrefix == "" {
		return p, nil
	}
	p.prefix = strings.TrimSuffix(o.PathPrefix, "/") + "/"
	if why := unsafeName(strings.TrimSuffix(p.prefix, "/")); why != "" {
		return nil, refuse(ErrArchiveOptions, "the prefix is the folder that the results had in their repository, like tests/results/",
			"the path prefix %q %s", o.PathPrefix, why)
	}
	return p, nil
}

// retained is the path that an entry had before it was uploaded.
func (p *prepared) retained(name string) string {
	if strings.HasPrefix(name, p.prefix) {
		return name
	}
	return p.prefix + name
}

// The default limits. CI artifacts of this kind are a few megabytes; the
// limits leave room for logs and traces beside the documents and keep a hostile
// archive from costing more than seconds.
const (
	// MaxArchiveBytes is how large the zip file may be.
	MaxArchiveBytes = 256 << 20
	// MaxEntries is how many files and directories it may have.
	MaxEntries = 20_000
	// MaxTotalBytes is how large all entries together may be, unpacked.
	MaxTotalBytes = 1 << 30
	// MaxEntryBytes is how large one entry may be, unpacked.
	MaxEntryBytes = 512 << 20
	// MaxDocumentBytes is how large one document may be: a larger one fits no
	// message.
	MaxDocumentBytes = 8 << 20
	// MaxDocumentsBytes is how large all documents together may be: they are
	// held in memory.
	MaxDocumentsBytes = 256 << 20
	// MaxExecutions is how many executions one archive may hold.
	MaxExecutions = 5_000
	// MaxRatio is how many times larger than its compressed bytes an entry may
	// become, once it is larger than RatioFreeBytes. Text packs 5 to 50 times.
	MaxRatio = 250
)

// Limits that do not change.
const (
	// RatioFreeBytes is how much an entry may hold before its ratio counts:
	// short runs of one byte pack well beyond MaxRatio and hurt nobody.
	RatioFreeBytes = 1 << 20
	// MaxNameBytes is how long an entry's name may be.
	MaxNameBytes = 1024
	// MaxDirectoryBytes is how large the list of entries may be: it is held in
	// memory.
	MaxDirectoryBytes = 32 << 20
)

// Limits bound what reading an archive may cost. A zero field is the default,
// the constant of its name.
type Limits struct {
	ArchiveBytes   int64 // MaxArchiveBytes
	Entries        int   // MaxEntries
	TotalBytes     int64 // MaxTotalBytes
	EntryBytes     int64 // MaxEntryBytes
	DocumentBytes  int64 // MaxDocumentBytes
	DocumentsBytes int64 // MaxDocumentsBytes
	Executions     int   // MaxExecutions
	Ratio          int64 // MaxRatio
}

func (l Limits) withDefaults() Limits {
	return Limits{
		ArchiveBytes:   orDefault(l.ArchiveBytes, MaxArchiveBytes),
		Entries:        orDefault(l.Entries, MaxEntries),
		TotalBytes:     orDefault(l.TotalBytes, MaxTotalBytes),
		EntryBytes:     orDefault(l.EntryBytes, MaxEntryBytes),
		DocumentBytes:  orDefault(l.DocumentBytes, MaxDocumentBytes),
		DocumentsBytes: orDefault(l.DocumentsBytes, MaxDocumentsBytes),
		Executions:     orDefault(l.Executions, MaxExecutions),
		Ratio:          orDefault(l.Ratio, MaxRatio),
	}
}

func orDefault[N int | int64](value, otherwise N) N {
	if value == 0 {
		return otherwise
	}
	return value
}
