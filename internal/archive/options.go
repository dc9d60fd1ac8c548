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
