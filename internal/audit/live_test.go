package audit_test

import (
	"testing"

	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/audit/audittest"
	"github.com/ledgerd/ledgerd/internal/simci"
)

// TestOnAServer reads as a reader may, beside a writer's streams.
func TestOnAServer(t *testing.T) {
	ci, err := simci.New(small())
	if err != nil {
		t.Fatal(err)
	}
	s := audittest.Start(t, t.TempDir())
	s.Publish(audittest.Arrivals(t, ci))
	if result := replay(t, s.Source(), ""); !result.Same() || result.Undecided != uint64(ci.Len()+audittest.Unreadable) {
		t.Errorf("before anything is decided: %+v", result)
	}
	s.Decide()
	arrivals, decisions := s.Logs()
	for name, source := range map[string]audit.Source{"reader": s.Source(), "daemon": audit.Live(arrivals, decisions)} {
		result := replay(t, source, "")
		if !result.Same() || result.Decisions != uint64(ci.Len()+audittest.Unreadable) || result.Undecided != 0 {
			t.Errorf("%s: %+v", name, result)
		}
		if root := rootOf(t, decisions); result.Root.String() != root {
			t.Errorf("root %s, want %s", result.Root, root)
		}
		for _, campaign := range ci.Campaigns() {
			if result := replay(t, source, campaign); !result.Same() || result.Decisions == 0 {
				t.Errorf("%s, %s: %+v", name, campaign, result)
			}
		}
		if result := verify(t, audit.VerifyConfig{Source: source, Evidence: true}); !result.Sound() || result.Arrivals != result.Decisions {
			t.Errorf("%s: %+v", name, result)
		}
	}
}
