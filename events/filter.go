package events

import (
	"slices"
	"strings"
)

// SubjectMatches reports whether a subject matches a filter with NATS
// wildcards: * for one token, > for one or more at the end.
func SubjectMatches(filter, subject string) bool {
	for {
		token, filterRest, filterMore := strings.Cut(filter, ".")
		if token == ">" && !filterMore {
			return subject != ""
		}
		given, subjectRest, subjectMore := strings.Cut(subject, ".")
		if token != "*" && token != given || filterMore != subjectMore {
			return false
		}
		if !filterMore {
			return true
		}
		filter, subject = filterRest, subjectRest
	}
}

// AnyMatches reports whether a subject matches one of the filters, or there
// are none.
func AnyMatches(filters []string, subject string) bool {
	return len(filters) == 0 || slices.ContainsFunc(filters, func(filter string) bool { return SubjectMatches(filter, subject) })
}
