package datadir

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/errors"
)

// TestStoreLimit: half of what is free, in whole MiB, between the bounds.
func TestStoreLimit(t *testing.T) {
	const mib, tib = 1 << 20, 1 << 40
	for _, row := range []struct {
		free, want int64
		err        error
	}{
		{0, 0, ErrNoRoom},
		{512*mib - 1, 0, ErrNoRoom},
		{512 * mib, 256 * mib, nil},
		{514*mib - 1, 256 * mib, nil},
		{514 * mib, 257 * mib, nil},
		{2*tib - 1, tib - mib, nil},
		{2 * tib, tib, nil},
		{9 * tib, tib, nil},
	} {
		got, err := storeLimitFor("/data", row.free)
		if got != row.want || !errors.Is(err, row.err) {
			t.Errorf("%d bytes free: %d, %v; want %d, %v", row.free, got, err, row.want, row.err)
		}
		if err != nil && len(errors.GetAllHints(err)) == 0 {
			t.Errorf("%d bytes free: no hint", row.free)
		}
	}
}

// TestAFullDisk: what the system says of a full disk gets a hint of its own.
func TestAFullDisk(t *testing.T) {
	full := unusable(&os.PathError{Op: "write", Path: "holder.json", Err: syscall.ENOSPC}, "write holder.json")
	other := unusable(&os.PathError{Op: "write", Path: "holder.json", Err: syscall.EACCES}, "write holder.json")
	for _, err := range []error{full, other} {
		if !errors.Is(err, ErrUnusable) {
			t.Errorf("%v is not %v", err, ErrUnusable)
		}
	}
	if hint := errors.FlattenHints(full); !strings.Contains(hint, "Free space") || hint == errors.FlattenHints(other) {
		t.Errorf("the hints are %q and %q", hint, errors.FlattenHints(other))
	}
}
