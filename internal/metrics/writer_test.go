package metrics_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/internal/metrics"
)

// TestWriterCounts: decisions by outcome and reason, arrivals by kind, batches.
func TestWriterCounts(t *testing.T) {
	m := metrics.New("test")
	observer := m.Writer()
	want(t, m, 0, "ledgerd_decisions_total", "outcome", "accepted", "reason", "") // there before the first
	observer.Appended([]*domain.Decision{
		{Kind: domain.KindCampaign, Outcome: domain.Accepted},
		{Kind: domain.KindCell, Outcome: domain.Accepted},
		{Kind: domain.KindCell, Outcome: domain.Rejected, Reason: domain.ReasonForeignWorkflow},
		{Outcome: domain.Rejected, Reason: domain.ReasonArrivalMalformed},
	}, 4096, 20*time.Millisecond)
	observer.Appended([]*domain.Decision{{Kind: domain.KindCheckpoint, Outcome: domain.Pending}}, 1000, 5*time.Millisecond)
	observer.Waiting(17)
	want(t, m, 2, "ledgerd_decisions_total", "outcome", "accepted", "reason", "")
	want(t, m, 1, "ledgerd_decisions_total", "outcome", "pending", "reason", "")
	want(t, m, 0, "ledgerd_decisions_total", "outcome", "duplicate", "reason", "")
	want(t, m, 1, "ledgerd_decisions_total", "outcome", "rejected", "reason", "foreign_workflow")
	want(t, m, 1, "ledgerd_decisions_total", "outcome", "rejected", "reason", "arrival_malformed")
	want(t, m, 2, "ledgerd_arrivals_decided_total", "kind", "cell")
	want(t, m, 1, "ledgerd_arrivals_decided_total", "kind", "none")
	want(t, m, 17, "ledgerd_writer_waiting_arrivals")
	wantObserved(t, m, 2, 5, "ledgerd_append_batch_decisions")
	wantObserved(t, m, 2, 5096, "ledgerd_append_batch_bytes")
	wantObserved(t, m, 2, 0.025, "ledgerd_append_seconds")
}

// TestLabelsAreBounded: whatever a decision says, no label value is made of it.
func TestLabelsAreBounded(t *testing.T) {
	m := metrics.New("test")
	before := series(t, m)
	for i := range 100 {
		n := strconv.Itoa(i)
		m.Writer().Appended([]*domain.Decision{{Kind: domain.Kind("kind" + n), Outcome: domain.Outcome("outcome" + n), Reason: domain.Reason("reason" + n)}}, 1, 1)
	}
	want(t, m, 100, "ledgerd_decisions_total", "outcome", "other", "reason", "other")
	want(t, m, 100, "ledgerd_arrivals_decided_total", "kind", "other")
	if made := series(t, m) - before; made != 2 {
		t.Errorf("a hundred unknown words made %d series, want 2", made)
	}
}

func series(t *testing.T, m *metrics.Metrics) int {
	t.Helper()
	families, err := m.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, family := range families {
		if strings.HasPrefix(family.GetName(), "ledgerd_") {
			n += len(family.GetMetric())
		}
	}
	return n
}

// TestEveryReasonIsCounted: the domain's source has no reason that is other
// here.
func TestEveryReasonIsCounted(t *testing.T) {
	m := metrics.New("test")
	file, err := parser.ParseFile(token.NewFileSet(), "../../domain/reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
			return true
		}
		reason, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		found++
		want(t, m, 0, "ledgerd_decisions_total", "outcome", "rejected", "reason", reason)
		return true
	})
	if found < 30 {
		t.Errorf("found %d reasons in the domain's source", found)
	}
}
