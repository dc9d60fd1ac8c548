package disk

import (
	"path/filepath"
	"testing"

	"github.com/cockroachdb/errors"
)

func TestFreeMeasuresTheDirectorysFileSystem(t *testing.T) {
	free, err := Free(t.TempDir())
	if errors.Is(err, ErrUnknown) {
		return // systems that do not tell; callers have a default for them
	}
	if err != nil || free <= 0 {
		t.Fatalf("Free = %d, %v; a test could write its directory, so there is room", free, err)
	}
}

func TestFreeNeedsAnExistingDirectory(t *testing.T) {
	if free, err := Free(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Fatalf("Free of a missing directory = %d, want an error", free)
	}
}
