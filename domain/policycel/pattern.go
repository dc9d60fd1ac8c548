package policycel

import (
	"fmt"
	"regexp/syntax"
)

// patternSize is how many instructions a pattern compiles to; false when it is
// none, or too large.
func patternSize(pattern string) (int, bool) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, false
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(program.Inst) > maxPatternInstructions {
		return 0, false
	}
	return len(program.Inst), true
}

// maxQuoteBytes is how much of a policy's text a sentence repeats.
const maxQuoteBytes = 64

// quote repeats a name in a sentence, in ASCII: what else can be printed
// changes with Unicode's versions, and records must not.
func quote(name string) string {
	if len(name) > maxQuoteBytes {
		return fmt.Sprintf("%+q…", name[:maxQuoteBytes])
	}
	return fmt.Sprintf("%+q", name)
}
