package checkpointtest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/checkpoint/checkpointtest"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

func TestStages(t *testing.T) {
	for _, stage := range checkpointtest.Stages() {
		want := checkpoint.Pending
		if stage == checkpointtest.Delivered {
			want = checkpoint.Bound
		}
		read := checkpointtest.NewRun("a").Read(stage)
		if read.Result.Outcome != want {
			t.Errorf("stage %d is %+v, want %s", stage, read.Result, want)
		}
		if read.Observed.Records <= int64(len(read.Slice.Records)) {
			t.Errorf("stage %d: every row of %d matters", stage, read.Observed.Records)
		}
	}
}

func TestSameNameSameRecords(t *testing.T) {
	same := cmp.Comparer(strictjson.Equal)
	one := checkpointtest.NewRun("a").Checkpoint(checkpointtest.Delivered)
	if diff := cmp.Diff(one, checkpointtest.NewRun("a").Checkpoint(checkpointtest.Delivered), same); diff != "" {
		t.Error(diff)
	}
	if checkpoint.Observe(one) == checkpoint.Observe(checkpointtest.NewRun("b").Checkpoint(checkpointtest.Delivered)) {
		t.Error("two names give one run")
	}
}

// What a run is altered to shows in what a read comes to.
func TestAlteredRuns(t *testing.T) {
	whole := checkpointtest.NewRun("a").Read(checkpointtest.Delivered).Result.Authority
	edited := checkpointtest.NewRun("a")
	edited.Title = "Another title"
	if got := edited.Read(checkpointtest.Delivered).Result.Authority; got == nil || *got == *whole {
		t.Errorf("another title: %+v", got)
	}
	foreign := checkpointtest.NewRun("a")
	foreign.DeliveredTo = "agent-of-another"
	if got := foreign.Read(checkpointtest.Delivered).Result; got.Reason != checkpoint.Contradicted {
		t.Errorf("another agent: %+v", got)
	}
	if got := foreign.Read(checkpointtest.Called).Result; got.Outcome != checkpoint.Pending {
		t.Errorf("another agent, before the answer: %+v", got)
	}
	later := checkpointtest.NewRun("a")
	later.Schema += "0"
	if got := later.Read(checkpointtest.Delivered).Result; got.Reason != checkpoint.Malformed {
		t.Errorf("another schema: %+v", got)
	}
}
