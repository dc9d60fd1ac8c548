package archive

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// documentKind is one of the three documents of an execution.
type documentKind int

const (
	result documentKind = iota
	host
	definition

	documentKinds = 3
)

func (k documentKind) String() string {
	return [documentKinds]string{"result", "host", "definition"}[k]
}

// found are the executions of an archive: the indexes of their documents'
// entries.
type found struct {
	entries []entry
	triples [][documentKinds]int
}

// findExecutions finds a result for each execution, and its host and
// definition in the result's directory or the nearest parent that has one.
func findExecutions(entries []entry, o *prepared) (*found, error) {
	f := &found{entries: entries}
	kinds, err := f.sort(o)
	if err != nil {
		return nil, err
	}
	var beside [documentKinds]map[string][]int // by directory
	for kind := range beside {
		beside[kind] = map[string][]int{}
		for _, i := range kinds[kind] {
			dir := path.Dir(entries[i].path)
			beside[kind][dir] = append(beside[kind][dir], i)
		}
	}
	switch n := len(kinds[result]); {
	case n == 0:
		return nil, refuse(ErrArchiveNoResult, "check the policy's pattern for result documents, and what the job uploaded",
			"none of its %d entries matches %q", len(entries), o.patterns[result])
	case n > o.limits.Executions:
		return nil, refuse(ErrArchiveTooLarge, "upload fewer executions in one artifact",
			"it has %d executions and may have %d", n, o.limits.Executions)
	}
	for _, i := range kinds[result] {
		triple := [documentKinds]int{result: i}
		for _, kind := range []documentKind{host, definition} {
			if triple[kind], err = f.nearest(i, kind, beside[kind], o.patterns[kind]); err != nil {
				return nil, err
			}
		}
		f.triples = append(f.triples, triple)
	}
	return f, nil
}

// sort gives the entries of each kind of document, in the order of their
// paths.
func (f *found) sort(o *prepared) (kinds [documentKinds][]int, err error) {
	for i := range f.entries {
		e := &f.entries[i]
		matched := matching(path.Base(e.Name), o)
		if err := refuseDirectories(e, o); err != nil {
			return kinds, err
		}
		if e.dir {
			continue
		}
		if len(matched) > 1 {
			return kinds, refuse(ErrArchiveDocuments, "let each file match one of the policy's patterns only",
				"%q is a %s and a %s document at once", e.path, matched[0], matched[1])
		}
		for _, kind := range matched {
			kinds[kind] = append(kinds[kind], i)
		}
	}
	for _, indexes := range kinds {
		slices.SortFunc(indexes, func(a, b int) int { return cmp.Compare(f.entries[a].path, f.entries[b].path) })
	}
	return kinds, nil
}

// matching gives the kinds of document that a base name is.
func matching(base string, o *prepared) []documentKind {
	var kinds []documentKind
	for kind, pattern := range o.patterns {
		if ok, _ := path.Match(pattern, base); ok { // the pattern was checked
			kinds = append(kinds, documentKind(kind))
		}
	}
	return kinds
}

// refuseDirectories refuses an entry that is, or is in, a directory with a
// document's name: somebody meant a document there.
func refuseDirectories(e *entry, o *prepared) error {
	dir := e.Name
	if !e.dir {
		dir = path.Dir(e.Name)
	}
	for ; dir != "."; dir = path.Dir(dir) {
		if kinds := matching(path.Base(dir), o); len(kinds) > 0 {
			return refuse(ErrArchiveDocuments, "a document is a file; rename the directory",
				"%q is a directory and has the name of a %s document", o.retained(dir), kinds[0])
		}
	}
	return nil
}

// nearest finds the document of a kind that belongs to the result at index i.
func (f *found) nearest(i int, kind documentKind, beside map[string][]int, pattern string) (int, error) {
	for dir := path.Dir(f.entries[i].path); ; dir = path.Dir(dir) {
		switch candidates := beside[dir]; {
		case len(candidates) == 1:
			return candidates[0], nil
		case len(candidates) > 1:
			return 0, refuse(ErrArchiveDocuments, "leave one of them in that directory",
				"%q has %d %s documents: %s", f.entries[i].path, len(candidates), kind, f.list(candidates))
		case dir == ".":
			return 0, refuse(ErrArchiveDocuments, "put one into the result's directory or one above it",
				"%q has no %s document: no %q in its directory or above", f.entries[i].path, kind, pattern)
		}
	}
}

// maxListed is how many names a sentence repeats.
const maxListed = 5

func (f *found) list(indexes []int) string {
	var paths []string
	for _, i := range indexes[:min(len(indexes), maxListed)] {
		paths = append(paths, f.entries[i].path)
	}
	if len(indexes) > maxListed {
		paths = append(paths, "…")
	}
	return strings.Join(paths, ", ")
}

// wanted are the indexes of the entries that are documents.
func wanted(f *found) map[int]bool {
	indexes := make(map[int]bool, documentKinds*len(f.triples))
	for _, triple := range f.triples {
		for _, i := range triple {
			indexes[i] = true
		}
	}
	return indexes
}

// executions makes the executions of the documents' bytes, by index.
func (f *found) executions(contents map[int][]byte, anyContent bool) ([]Execution, error) {
	read := make(map[int]document, len(contents))
	executions := make([]Execution, 0, len(f.triples))
	first := make(map[string]string, len(f.triples)) // execution id to its result's path
	for _, triple := range f.triples {
		var documents [documentKinds]document
		for kind, i := range triple {
			d, ok := read[i]
			if !ok {
				d = readDocument(f.entries[i].path, contents[i])
				read[i] = d
			}
			if d.wrong != nil && !anyContent {
				return nil, refuse(ErrArchiveDocument, "a document is one JSON object in UTF-8, without duplicate names; mend what writes it",
					"the %s document %q: %v", documentKind(kind), d.Path, d.wrong)
			}
			documents[kind] = d
		}
		id, _ := documents[result].value.Get("executionId").Text()
		if err := checkExecution(id, documents[result].Path, first, anyContent); err != nil {
			return nil, err
		}
		executions = append(executions, Execution{
			ExecutionID: id,
			Result:      documents[result].Document,
			Host:        documents[host].Document,
			Definition:  documents[definition].Document,
		})
	}
	return executions, nil
}

// checkExecution holds that a result names its execution, and no other does.
func checkExecution(id, resultPath string, first map[string]string, anyContent bool) error {
	if id == "" {
		if anyContent {
			return nil
		}
		return refuse(ErrArchiveDocument, "a result says in executionId which execution it is of", "the result document %q names no execution", resultPath)
	}
	if before, ok := first[id]; ok {
		return refuse(ErrArchiveDocuments, "upload each execution once; a repeated run is another artifact",
			"execution %q has two result documents: %s, %s", excerpt(id), before, resultPath)
	}
	first[id] = resultPath
	return nil
}

// document is a document with what it holds.
type document struct {
	Document
	value strictjson.Value
	wrong error // why it is no strict JSON object, or nil
}

func readDocument(name string, raw []byte) document {
	digest := sha256.Sum256(raw)
	d := document{Document: Document{Path: name, Raw: raw, SHA256: hex.EncodeToString(digest[:])}}
	d.value, d.wrong = strictjson.Parse(raw)
	if d.wrong == nil && d.value.Kind() != strictjson.Object {
		d.wrong = errNotObject
	}
	return d
}
