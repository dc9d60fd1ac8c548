package events

import (
	"strings"
	"time"
)

// What decides about an arrival must say the same in every release of Go, so
// the header syntaxes are checked here and not by the standard library, which
// grows stricter over the years.

// isURIReference reports whether s has the form of an RFC 3986 URI reference:
// its characters, percent-encodings, scheme, brackets and fragment.
func isURIReference(s string) bool {
	rest, fragment, _ := strings.Cut(s, "#")
	if !hasURICharacters(rest) || !hasURICharacters(fragment) || strings.ContainsAny(fragment, "#[]") {
		return false
	}
	hierarchy, query, _ := strings.Cut(rest, "?")
	if strings.ContainsAny(query, "[]") {
		return false
	}
	if first, _, _ := strings.Cut(hierarchy, "/"); strings.Contains(first, ":") {
		scheme, after, _ := strings.Cut(hierarchy, ":")
		if !isScheme(scheme) {
			return false
		}
		hierarchy = after
	}
	if authority, ok := strings.CutPrefix(hierarchy, "//"); ok {
		_, hierarchy, _ = strings.Cut(authority, "/")
	}
	return !strings.ContainsAny(hierarchy, "[]")
}

func hasURICharacters(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case isLetter(c), isDigit(c), strings.IndexByte("-._~:/?#[]@!$&'()*+,;=", c) >= 0:
		case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			i += 2
		default:
			return false
		}
	}
	return true
}

func isScheme(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && (i == 0 || !isDigit(c) && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return s != ""
}

// isRFC3339 reports whether s is a time as RFC 3339 has it, on a real date.
// Leap seconds are not known in advance, so second 60 is none.
func isRFC3339(s string) bool {
	const dateTime = "0000-00-00T00:00:00"
	if len(s) <= len(dateTime) || !hasShape(s[:len(dateTime)], dateTime) {
		return false
	}
	number := func(from, to int) int {
		n := 0
		for _, c := range []byte(s[from:to]) {
			n = 10*n + int(c-'0')
		}
		return n
	}
	year, month, day := number(0, 4), number(5, 7), number(8, 10)
	date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if date.Year() != year || int(date.Month()) != month || date.Day() != day {
		return false
	}
	return number(11, 13) < 24 && number(14, 16) < 60 && number(17, 19) < 60 && isFractionAndOffset(s[len(dateTime):])
}

// isFractionAndOffset checks what follows the seconds: (.digits)(Z|±hh:mm).
func isFractionAndOffset(s string) bool {
	if digits, ok := strings.CutPrefix(s, "."); ok {
		s = strings.TrimLeft(digits, "0123456789")
		if len(s) == len(digits) {
			return false
		}
	}
	if s == "Z" || s == "z" {
		return true
	}
	return (hasShape(s, "+00:00") || hasShape(s, "-00:00")) && s[1:3] < "24" && s[4:6] < "60"
}

// hasShape reports whether s is like shape: a digit where shape has a 0, else
// the same byte, letters in either case.
func hasShape(s, shape string) bool {
	if len(s) != len(shape) {
		return false
	}
	for i := range len(s) {
		switch want := shape[i]; {
		case want == '0' && !isDigit(s[i]):
			return false
		case want != '0' && s[i] != want && !(isLetter(want) && s[i]|0x20 == want|0x20):
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isHex(c byte) bool    { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
