package natsserver

import (
	"testing"

	"github.com/cockroachdb/errors"
)

func TestRoomToStart(t *testing.T) {
	if err := checkFree("dir", minFreeBytes); err != nil {
		t.Errorf("exactly enough: %v", err)
	}
	err := checkFree("dir", minFreeBytes-1)
	if !errors.Is(err, ErrDiskFull) || len(errors.GetAllHints(err)) == 0 {
		t.Errorf("one byte short: %v, want %v with a hint", err, ErrDiskFull)
	}
}
