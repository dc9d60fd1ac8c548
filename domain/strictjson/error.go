package strictjson

import (
	"fmt"

	"github.com/cockroachdb/errors"
)

// ErrNotStrict is what every error of this package is, for errors.Is.
var ErrNotStrict = errors.New("strictjson: not strict JSON")

// Problem is a code for what is wrong.
type Problem string

// What can be wrong.
const (
	ProblemEmpty         Problem = "empty"          // nothing but white space
	ProblemSyntax        Problem = "syntax"         // not JSON
	ProblemUTF8          Problem = "utf8"           // bytes that are not UTF-8
	ProblemBOM           Problem = "bom"            // begins with a byte order mark
	ProblemDuplicateName Problem = "duplicate_name" // a name twice in one object
	ProblemSurrogate     Problem = "surrogate"      // half of a surrogate pair
	ProblemTrailing      Problem = "trailing"       // something after the value
	ProblemDepth         Problem = "depth"          // nested deeper than MaxDepth
	ProblemSize          Problem = "size"           // larger than MaxBytes
)

// sentences say a problem to a person. They are part of ledger records and
// hold nothing that a library words.
var sentences = map[Problem]string{
	ProblemEmpty:         "it is empty",
	ProblemSyntax:        "it is not JSON",
	ProblemUTF8:          "it is not UTF-8",
	ProblemBOM:           "it begins with a byte order mark",
	ProblemDuplicateName: "a name comes twice in one object",
	ProblemSurrogate:     "a string has half of a surrogate pair",
	ProblemTrailing:      "something follows the value",
	ProblemDepth:         fmt.Sprintf("it is nested deeper than %d", MaxDepth),
	ProblemSize:          fmt.Sprintf("it is larger than %d bytes", MaxBytes),
}

// Error says what is wrong with a text and where.
type Error struct {
	Problem Problem
	Offset  int64  // byte offset into the text
	Pointer string // JSON Pointer to the value, "" for the whole or when unknown
}

// Error is the sentence, for people.
func (e *Error) Error() string {
	if e.Pointer != "" {
		return fmt.Sprintf("%s, at %s (byte %d)", sentences[e.Problem], e.Pointer, e.Offset)
	}
	return fmt.Sprintf("%s (byte %d)", sentences[e.Problem], e.Offset)
}

// Is makes every Error an [ErrNotStrict].
func (e *Error) Is(target error) bool { return target == ErrNotStrict }
