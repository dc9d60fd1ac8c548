package datadir_test

import (
	"path/filepath"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/datadir"
)

func TestRecreate(t *testing.T) {
	first := filepath.Join(t.TempDir(), "first")
	if _, err := datadir.Describe(first); !errors.Is(err, datadir.ErrNoLedger) {
		t.Error(err)
	}
	dir, err := datadir.Open(first)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	description, err := datadir.Describe(first) // beside whoever holds it
	if err != nil || description.LedgerID != dir.LedgerID() || description.StoreLimit != dir.StoreLimit() {
		t.Fatalf("%+v, %v", description, err)
	}
	second := filepath.Join(t.TempDir(), "second")
	if err := datadir.Recreate(second, description); err != nil {
		t.Fatal(err)
	}
	if again, err := datadir.Describe(second); err != nil || again != description {
		t.Errorf("%+v, %v", again, err)
	}
	if err := datadir.Recreate(second, description); !errors.Is(err, datadir.ErrHeld) {
		t.Error(err)
	}
	opened, err := datadir.Open(second)
	if err != nil || opened.LedgerID() != dir.LedgerID() {
		t.Fatal(err)
	}
	if err := opened.Close(); err != nil {
		t.Error(err)
	}
	for _, wrong := range []datadir.Description{{}, {LedgerID: "x", StoreLimit: 1 << 40}, {LedgerID: description.LedgerID}} {
		if err := datadir.Recreate(filepath.Join(t.TempDir(), "x"), wrong); !errors.Is(err, datadir.ErrDamaged) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}
