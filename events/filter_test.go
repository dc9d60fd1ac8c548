package events_test

import (
	"testing"

	"github.com/ledgerd/ledgerd/events"
)

func TestSubjectMatches(t *testing.T) {
	for _, row := range []struct {
		filter, subject string
		want            bool
	}{
		{"a.b", "a.b", true},
		{"a.b", "a.c", false},
		{"a.b", "a.b.c", false},
		{"a.b.c", "a.b", false},
		{"a.*", "a.b", true},
		{"a.*", "a", false},
		{"a.*", "a.b.c", false},
		{"*.b", "a.b", true},
		{"a.>", "a.b", true},
		{"a.>", "a.b.c", true},
		{"a.>", "a", false},
		{"a.>", "b.c", false},
		{"*.b.>", "a.b.c.d", true},
		{">", "a", true},
		{">", "a.b", true},
		{"ledger.decisions.c.>", "ledger.decisions.c1.accepted.cell", false},
	} {
		if got := events.SubjectMatches(row.filter, row.subject); got != row.want {
			t.Errorf("%s matches %s: %v, want %v", row.filter, row.subject, got, row.want)
		}
		if got := events.AnyMatches([]string{"x", row.filter}, row.subject); got != row.want {
			t.Errorf("any of x, %s matches %s: %v, want %v", row.filter, row.subject, got, row.want)
		}
	}
	if !events.AnyMatches(nil, "a") {
		t.Error("no filter refuses")
	}
}
