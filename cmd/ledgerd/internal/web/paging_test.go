package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

type entryPage struct {
	Items []projections.Entry
	Next  *uint64
}

// TestPagingMeetsEveryItemOnce: by next, with every size of page, and the Link
// header leads the same way.
func TestPagingMeetsEveryItemOnce(t *testing.T) {
	s := serve(t, 32)
	for _, limit := range []int{1, 3, 31, 32, 33} {
		var indexes []uint64
		path := fmt.Sprintf("/v1/entries?limit=%d", limit)
		for path != "" {
			got := s.get(path)
			page := decode[entryPage](s, http.StatusOK, got)
			for _, entry := range page.Items {
				indexes = append(indexes, entry.Index)
			}
			path = strings.TrimSuffix(strings.TrimPrefix(got.Header.Get("Link"), "<"), `>; rel="next"`)
			if (page.Next == nil) != (path == "") || page.Next != nil && path != fmt.Sprintf("/v1/entries?after=%d&limit=%d", *page.Next, limit) {
				t.Fatalf("next is %v, the link leads to %q", page.Next, path)
			}
		}
		if len(indexes) != 32 || !slices.IsSorted(indexes) || indexes[31] != 31 {
			t.Errorf("limit %d: entries %v", limit, indexes)
		}
	}
}

// TestPageLimits: at the edges.
func TestPageLimits(t *testing.T) {
	s := serve(t, 0, func(s *service, _ *web.Config) { s.ledger = projectionstest.Random(t, 1, projections.MaxPageLimit+1) })
	s.foldTo(s.ledger.Last())
	for _, row := range []struct {
		query string
		items int
	}{
		{"", projections.DefaultPageLimit},
		{"?limit=1", 1},
		{fmt.Sprintf("?limit=%d", projections.MaxPageLimit), projections.MaxPageLimit},
		{fmt.Sprintf("?after=%d", projections.MaxPageLimit-1), 1}, // the last index is MaxPageLimit
		{fmt.Sprintf("?after=%d", projections.MaxPageLimit), 0},
		{"?after=9007199254740991", 0},
	} {
		page := decode[entryPage](s, http.StatusOK, s.get("/v1/entries"+row.query))
		if len(page.Items) != row.items || (page.Next == nil) != (row.items < projections.DefaultPageLimit && row.query != "?limit=1") {
			t.Errorf("%q: %d items, next %v; want %d", row.query, len(page.Items), page.Next, row.items)
		}
	}
}

// TestRefusedQueries: each is told where it is wrong, and nothing is read.
func TestRefusedQueries(t *testing.T) {
	s := serve(t, 32)
	for query, location := range map[string]string{
		"limit=0":                    "query.limit",
		"limit=-1":                   "query.limit",
		"limit=1001":                 "query.limit",
		"limit=many":                 "query.limit",
		"after=-1":                   "query.after",
		"after=9007199254740992":     "query.after",
		"after=18446744073709551616": "query.after",
		"at=-1":                      "query.at",
		"at=9007199254740992":        "query.at",
		"wait=-0.1":                  "query.wait",
		"wait=30.1":                  "query.wait",
		"outcome=refused":            "query.outcome",
		"kind=cells":                 "query.kind",
		"campaign=a%20b":             "query.campaign",
		"campaign=a&campaign=b":      "query.campaign",
		"campain=alpha":              "query.campain",
		"campaign=%zz":               "query",
		"campaign=":                  "query.campaign",
		"campaign":                   "query.campaign",
		"outcome=":                   "query.outcome",
		"limit=":                     "query.limit",
		"after=":                     "query.after",
		"at=":                        "query.at",
		"wait=":                      "query.wait",
	} {
		s.wantRefused("/v1/entries?"+query, location)
	}
	for _, key := range []string{"import_key", "measurement_key"} {
		for _, value := range []string{"", "%ff", "a%00%ff", strings.Repeat("k", 2049)} {
			s.wantRefused("/v1/imports?"+key+"="+value, "query."+key)
		}
	}
	s.wantRefused("/v1/events?campaign=", "query.campaign")
	if n := s.reader.queries(); n != 0 {
		t.Errorf("%d queries were made for requests that are refused", n)
	}
}

// wantRefused asks with one thing that is wrong, and wants it named.
func (s *service) wantRefused(path, location string) {
	s.t.Helper()
	p := s.problem(http.StatusUnprocessableEntity, "invalid_request", s.get(path))
	if len(p.Errors) != 1 || p.Errors[0].Location != location {
		s.t.Errorf("%s: %+v, want it to name %s", path, p.Errors, location)
	}
}

// TestWaitIsANumber: of the finite ones, which JSON can print.
func TestWaitIsANumber(t *testing.T) {
	s := serve(t, 32)
	for _, value := range []string{"NaN", "nan", "Inf", "-Inf", "%2BInf", "infinity", "1e999", "-1e999", "1e308", "five"} {
		s.wantRefused("/v1/entries?at=32&wait="+value, "query.wait")
	}
	s.problem(http.StatusGatewayTimeout, "not_reached", s.get("/v1/entries?at=32&wait=1e-3"))
}

// TestUsageDays: days of the calendar, the first not behind the last.
func TestUsageDays(t *testing.T) {
	s := serve(t, 32)
	for _, day := range []string{
		"2026-13-45", "2026-00-10", "2026-01-00", "2026-02-29", "2026-04-31", "2026-1-5", "26-01-05", "02026-01-05", "2026-01-05T00:00:00Z",
		"2026/01/05", "2026-01-05%20", "%202026-01-05", "yesterday", "",
	} {
		for _, bound := range []string{"from", "to"} {
			s.wantRefused("/v1/usage?"+bound+"="+day, "query."+bound)
		}
	}
	s.wantRefused("/v1/usage?from=2026-01-03&to=2026-01-02", "query.from")
	s.wantRefused("/v1/usage?from=2027-01-01&to=2026-12-31&campaign=alpha", "query.from")
	for query, want := range map[string]int{
		"":                               2,
		"?from=2026-01-02":               2,
		"?from=2026-01-03&to=2026-01-03": 1,
		"?from=2024-02-29&to=2026-01-02": 1,
		"?from=0000-01-01&to=9999-12-31": 2,
	} {
		days := decode[projections.List[projections.Usage]](s, http.StatusOK, s.get("/v1/usage"+query))
		if len(days.Items) != want {
			t.Errorf("%q: %d days, want %d: %+v", query, len(days.Items), want, days.Items)
		}
	}
}
