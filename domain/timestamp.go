package domain

import (
	"regexp"
	"time"
)

var timestampShape = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$`)

// parseTimestamp reads a result's time, cut to milliseconds: the shape above,
// a real date and time of day, and an offset up to 23:59. The standard parser
// checks date and time, but takes more shapes and offsets.
func parseTimestamp(s string) (time.Time, bool) {
	if !timestampShape.MatchString(s) {
		return time.Time{}, false
	}
	if s[len(s)-1] != 'Z' {
		if hours, minutes := s[len(s)-5:len(s)-3], s[len(s)-2:]; hours > "23" || minutes > "59" {
			return time.Time{}, false
		}
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, false
	}
	return time.UnixMilli(t.UnixMilli()).UTC(), true
}
