package archive

import (
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// unsafeName says what is wrong with a path, "" when it is a plain relative
// one. Directories come without their slash.
func unsafeName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > MaxNameBytes:
		return "is too long"
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case strings.ContainsRune(name, 0):
		return "has a NUL"
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "has a control character"
	case strings.ContainsRune(name, '\\'):
		return "has a backslash"
	case name[0] == '/':
		return "is absolute"
	case hasDriveLetter(name):
		return "has a drive letter"
	case hasParentStep(name):
		return "leaves its directory by .."
	case path.Clean(name) != name:
		return "has an empty or . segment"
	}
	return ""
}

func hasDriveLetter(name string) bool {
	return len(name) >= 2 && name[1] == ':' && 'a' <= name[0]|0x20 && name[0]|0x20 <= 'z'
}

func hasParentStep(name string) bool {
	for segment := range strings.SplitSeq(name, "/") {
		if segment == ".." {
			return true
		}
	}
	return false
}

// names are the paths of an archive so far. Two that are one path on some file
// system (which ignores case, or composes characters) are refused, since a
// reader there saw another archive.
type names struct {
	fold  cases.Caser
	taken map[string]taken // by folded path
	dirs  map[string]bool  // directories known by their exact path
}

type taken struct {
	path     string
	dir      bool
	implicit bool // a directory that only its files tell of
}

func newNames() *names {
	return &names{fold: cases.Fold(), taken: map[string]taken{}, dirs: map[string]bool{}}
}

// add takes a path and its parents, or refuses.
func (n *names) add(name string, dir bool) error {
	for parent := path.Dir(name); parent != "." && !n.dirs[parent]; parent = path.Dir(parent) {
		if err := n.take(taken{path: parent, dir: true, implicit: true}); err != nil {
			return err
		}
		n.dirs[parent] = true
	}
	if dir {
		n.dirs[name] = true
	}
	return n.take(taken{path: name, dir: dir})
}

func (n *names) take(t taken) error {
	key := n.key(t.path)
	before, ok := n.taken[key]
	switch {
	case !ok:
	case before.path != t.path:
		return refuse(ErrArchiveDuplicate, "give the files names that differ in more than case and accents",
			"%q and %q are one name on some systems", before.path, t.path)
	case before.dir != t.dir:
		return refuse(ErrArchiveDuplicate, hintForged, "%q is a file and a directory", t.path)
	case !t.dir || !t.implicit && !before.implicit:
		return refuse(ErrArchiveDuplicate, hintForged, "%q comes twice", t.path)
	case t.implicit:
		return nil // its entry came before
	}
	n.taken[key] = t
	return nil
}

// key is the same for paths that some file system takes for one.
func (n *names) key(name string) string {
	return norm.NFC.String(n.fold.String(norm.NFC.String(name)))
}
