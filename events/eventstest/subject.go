package eventstest

import "strings"

// Matches reports whether a subject matches a filter with NATS wildcards:
// * for one token, > for one or more at the end.
func Matches(filter, subject string) bool {
	wanted, given := strings.Split(filter, "."), strings.Split(subject, ".")
	for i, token := range wanted {
		switch {
		case token == ">":
			return len(given) > i
		case i >= len(given), token != "*" && token != given[i]:
			return false
		}
	}
	return len(wanted) == len(given)
}
