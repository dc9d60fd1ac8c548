package web_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// oddAccounts name a framework's campaign, the part of a measurement key that
// may be any text.
var oddAccounts = []string{"a/b", "/", "100%", "%2F", "a b+c&d=e#f?g", "␀0", "nul\x00nul", "\U0001F4A5'\"\\", " "}

// TestOddKeys: every key, as the result wrote it, finds its own import and no
// other. The model compares keys as they are kept, so it is not asked.
func TestOddKeys(t *testing.T) {
	for name, open := range map[string]func(*testing.T) store{"sqlite": openSQLite, "postgres": openPostgres} {
		t.Run(name, func(t *testing.T) {
			var cells []projectionstest.Cell
			s := serve(t, 0, func(s *service, _ *web.Config) {
				s.store, s.ledger = open(t), projectionstest.NewLedger(t)
				s.ledger.Open(projectionstest.Campaign{ID: "alpha", Scenarios: len(oddAccounts)})
				for i, account := range oddAccounts {
					cell := projectionstest.Cell{Campaign: "alpha", Scenario: projectionstest.ScenarioID(i), Ordinal: 1, Run: i, Attempt: i, Accounting: account}
					s.ledger.Measure(cell)
					cells = append(cells, cell)
				}
			})
			s.foldTo(s.ledger.Last())
			for i, cell := range cells {
				index := uint64(i + 1)
				s.wantImports(index, "import_key", cell.ImportKey())
				s.wantImports(index, "measurement_key", cell.MeasurementKey())
				s.wantImports(index, "import_key", cell.ImportKey(), "measurement_key", cell.MeasurementKey(), "campaign", "alpha")
				other := cells[(i+1)%len(cells)]
				s.wantNoImport("import_key", other.ImportKey(), "measurement_key", cell.MeasurementKey())
				s.wantNoImport("import_key", cell.MeasurementKey())
				s.wantNoImport("import_key", url.QueryEscape(cell.ImportKey()))
				s.wantNoImport("import_key", cell.ImportKey()+"\x00")
			}
		})
	}
}

func (s *service) imports(parameters ...string) []projections.Import {
	s.t.Helper()
	query := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		query.Set(parameters[i], parameters[i+1])
	}
	return decode[projections.List[projections.Import]](s, http.StatusOK, s.get("/v1/imports?"+query.Encode())).Items
}

// wantImports asks with names and values in turn, and wants the one import.
func (s *service) wantImports(index uint64, parameters ...string) {
	s.t.Helper()
	found := s.imports(parameters...)
	if len(found) != 1 || found[0].Index != index {
		s.t.Errorf("%q: %d imports, want the one at %d", parameters, len(found), index)
		return
	}
	if printed := found[0].MeasurementKey; parameters[0] == "measurement_key" && printed != projections.Storable(parameters[1]) {
		s.t.Errorf("%q is printed %q", parameters[1], printed)
	}
}

func (s *service) wantNoImport(parameters ...string) {
	s.t.Helper()
	if found := s.imports(parameters...); len(found) != 0 {
		s.t.Errorf("%q: %d imports, want none", parameters, len(found))
	}
}
