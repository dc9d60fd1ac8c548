package domain

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

const (
	sha256HexDigits    = 64
	revisionHexDigits  = 40
	attemptIDHexDigits = 32
)

// isHex reports whether s is exactly n lower hex digits.
func isHex(s string, n int) bool {
	if len(s) != n {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func isDigest(s string) bool   { return isHex(s, sha256HexDigits) }
func isRevision(s string) bool { return isHex(s, revisionHexDigits) }

// digestValue gives a value that is a digest; false for everything else.
func digestValue(v strictjson.Value) (string, bool) {
	s, ok := v.Text()
	return s, ok && isDigest(s)
}

// maxQuoteBytes is how much of a producer's text a sentence repeats.
const maxQuoteBytes = 120

// quote repeats a producer's text in a sentence, in ASCII: what else can be
// printed changes with Unicode's versions, and records must not.
func quote(s string) string {
	if len(s) <= maxQuoteBytes {
		return fmt.Sprintf("%+q", s)
	}
	end := maxQuoteBytes
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%+q…", s[:end])
}

// show repeats a value in a sentence: a string or number as it is, anything
// else by its type.
func show(v strictjson.Value) string {
	switch v.Kind() {
	case strictjson.String:
		s, _ := v.Text()
		return quote(s)
	case strictjson.Number:
		n, _ := v.Number()
		return fmt.Sprint(n)
	case strictjson.Bool:
		flag, _ := v.Bool()
		return fmt.Sprint(flag)
	case strictjson.Undefined:
		return "missing"
	case strictjson.Null:
		return "null"
	default:
		return "an " + v.Kind().String()
	}
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pointerToken escapes a name for a JSON Pointer.
func pointerToken(name string) string { return pointerEscapes.Replace(name) }
