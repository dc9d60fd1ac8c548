package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/ledgerd/ledgerd/projections"
	"github.com/ledgerd/ledgerd/store/sqlite"
	"github.com/ledgerd/ledgerd/store/storetest"
)

func BenchmarkStore(b *testing.B) {
	storetest.Benchmark(b, func(b *testing.B) projections.Store {
		store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "views.sqlite"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = store.Close() })
		return store
	})
}
