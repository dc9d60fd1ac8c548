package projectionstest_test

import (
	"testing"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

// TestStory: the story tells what its comments say.
func TestStory(t *testing.T) {
	want := []string{
		"rejected arrival_malformed", "rejected arrival_malformed", "rejected campaign_unknown", "accepted", "accepted", "accepted", "duplicate",
		"accepted", "accepted", "rejected foreign_workflow", "accepted", "duplicate", "rejected import_unknown", "accepted",
		"rejected import_voided", "accepted", "pending", "accepted", "duplicate", "rejected checkpoint_contradicted", "pending",
		"rejected checkpoint_contradicted", "rejected checkpoint_contradicted", "pending", "rejected checkpoint_contradicted",
		"rejected arrival_malformed", "accepted", "accepted", "duplicate", "rejected campaign_sealed", "rejected campaign_already_open",
		"rejected campaign_invalid",
	}
	story := projectionstest.Story(t)
	if len(story.Decisions) != len(want) {
		t.Fatalf("%d decisions, want %d", len(story.Decisions), len(want))
	}
	for i, d := range story.Decisions {
		got := string(d.Outcome)
		if d.Outcome == domain.Rejected {
			got += " " + string(d.Reason)
		}
		if got != want[i] {
			t.Errorf("decision %d is %s (%s: %s), want %s", i, got, d.Field, d.Detail, want[i])
		}
	}
}

// TestRandom: a random ledger is worth testing with.
func TestRandom(t *testing.T) {
	seen := map[domain.Kind]map[domain.Outcome]int{}
	for _, d := range projectionstest.Random(t, 1, 2000).Decisions {
		if seen[d.Kind] == nil {
			seen[d.Kind] = map[domain.Outcome]int{}
		}
		seen[d.Kind][d.Outcome]++
	}
	for _, kind := range []domain.Kind{domain.KindCell, domain.KindVoid} {
		for _, outcome := range []domain.Outcome{domain.Accepted, domain.Duplicate, domain.Rejected} {
			if seen[kind][outcome] < 3 {
				t.Errorf("only %d decisions are %s %s: %v", seen[kind][outcome], kind, outcome, seen)
			}
		}
	}
	if seen[domain.KindCheckpoint][domain.Pending] < 3 || seen[domain.KindSeal][domain.Accepted] == 0 {
		t.Errorf("too few pending checkpoints or seals: %v", seen)
	}
}
