package policycel

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
)

// Fault says what keeps an expression from being compiled, and where. Its
// Message is this project's and may stand in a record; its Explanation is the
// library's and may not.
type Fault struct {
	Line, Column int    // from 1; 0 when the expression as a whole is meant
	Message      string // a sentence without the place
	Explanation  string // what the library says, "" when it was not asked
	source       string
}

// Place says where, for a sentence.
func (f *Fault) Place() string {
	if f.Line == 0 {
		return ""
	}
	return fmt.Sprintf("line %d, column %d", f.Line, f.Column)
}

// Sentence is place and message.
func (f *Fault) Sentence() string {
	if place := f.Place(); place != "" {
		return place + ": " + f.Message
	}
	return f.Message
}

// Show prints the line of the expression with a caret under the place, for a
// person's terminal. It is empty when there is no place.
func (f *Fault) Show() string {
	lines := strings.Split(f.source, "\n")
	if f.Line < 1 || f.Line > len(lines) {
		return ""
	}
	line := lines[f.Line-1]
	var under strings.Builder
	for i, r := range []rune(line) {
		if i == f.Column-1 {
			break
		}
		if r == '\t' {
			under.WriteByte('\t')
			continue
		}
		under.WriteByte(' ')
	}
	return line + "\n" + under.String() + "^"
}

// faultOf says the library's first complaint in this project's words.
func faultOf(source, message string, issues *cel.Issues) *Fault {
	fault := &Fault{Message: message, source: source, Explanation: "the expression is too large"}
	errs := issues.Errors()
	if len(errs) == 0 {
		return fault
	}
	fault.Explanation = errs[0].Message
	if location := errs[0].Location; location != nil && location.Line() > 0 {
		fault.Line, fault.Column = location.Line(), location.Column()+1
	}
	return fault
}
