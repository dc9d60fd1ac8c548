package metrics_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/metrics"
	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// brokenStore answers every call with its error.
type brokenStore struct {
	projections.Store
	err error
}

func (s *brokenStore) Position(context.Context) (projections.Position, error) {
	return projections.Position{}, s.err
}

func (s *brokenStore) Campaign(context.Context, string) (projections.One[projections.Campaign], error) {
	return projections.One[projections.Campaign]{AsOf: 7}, s.err
}

func (s *brokenStore) Apply(context.Context, projections.Position, projections.Position, *projections.Changes) error {
	return s.err
}

// TestDatabaseErrors: each kind under its name; what the asker did is none.
func TestDatabaseErrors(t *testing.T) {
	m, broken := metrics.New("test"), &brokenStore{}
	store := m.Store(broken)
	want(t, m, 0, "ledgerd_database_errors_total", "operation", "apply", "error", "unavailable")
	for err, label := range map[error]string{
		projections.ErrUnavailable:    "unavailable",
		projections.ErrMoved:          "moved",
		projections.ErrAnotherVersion: "another_version",
		projections.ErrRebuildRunning: "rebuild_running",
		context.DeadlineExceeded:      "timed_out",
		errors.New("disk"):            "other",
	} {
		broken.err = errors.Wrap(err, "with words around it")
		if got := store.Apply(t.Context(), projections.Position{}, projections.Position{}, nil); !errors.Is(got, err) {
			t.Errorf("the error became %v", got)
		}
		want(t, m, 1, "ledgerd_database_errors_total", "operation", "apply", "error", label)
	}
	for _, err := range []error{nil, projections.ErrNoCampaign, context.Canceled} {
		before := series(t, m)
		broken.err = err
		if got, failed := store.Campaign(t.Context(), "x"); got.AsOf != 7 || !errors.Is(failed, err) {
			t.Errorf("%v became %v as of %d", err, failed, got.AsOf)
		}
		if series(t, m) != before {
			t.Errorf("%v is counted as the database's", err)
		}
	}
	if h := sample(t, m, "ledgerd_database_seconds", "operation", "campaign").GetHistogram(); h.GetSampleCount() != 3 {
		t.Errorf("%d campaigns were measured, want 3", h.GetSampleCount())
	}
}

// TestEveryOperationIsCounted: by calling every method of the contract, each
// under a label of its own.
func TestEveryOperationIsCounted(t *testing.T) {
	m := metrics.New("test")
	store := reflect.ValueOf(m.Store(projectionstest.NewModel()))
	contract := reflect.TypeFor[projections.Store]()
	called := 0
	for i := range contract.NumMethod() {
		method := contract.Method(i)
		if method.Name == "Close" {
			continue
		}
		arguments := []reflect.Value{reflect.ValueOf(t.Context())}
		for j := 1; j < method.Type.NumIn() && !(method.Type.IsVariadic() && j == method.Type.NumIn()-1); j++ {
			arguments = append(arguments, argument(method.Type.In(j)))
		}
		store.MethodByName(method.Name).Call(arguments)
		called++
	}
	measured := uint64(0)
	for _, operation := range metrics.Operations {
		count := sample(t, m, "ledgerd_database_seconds", "operation", operation).GetHistogram().GetSampleCount()
		if count != 1 {
			t.Errorf("%s was measured %d times, want once", operation, count)
		}
		measured += count
	}
	if measured != uint64(called) {
		t.Errorf("%d methods were called and %d measured", called, measured)
	}
}

// argument is a value that a method takes.
func argument(t reflect.Type) reflect.Value {
	if t.Kind() == reflect.Pointer {
		return reflect.New(t.Elem())
	}
	return reflect.Zero(t)
}
