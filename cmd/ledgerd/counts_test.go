package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/internal/cli"
)

// ask runs a command on an input.
func ask(t *testing.T, in string, args ...string) (code int, out string) {
	t.Helper()
	var printed, complained bytes.Buffer
	code = program().Run(t.Context(), args, cli.Streams{In: strings.NewReader(in), Out: &printed, Err: &complained})
	return code, printed.String()
}

func TestCompareCounts(t *testing.T) {
	code, out := ask(t, `{"baseline":[[3,3],[3,3],[2,3]],"candidate":[[3,3],[1,3],[0,0]]}`+"\n\n"+`{"baseline":[[1,1]],"candidate":[[1,1]]}`, "compare", "--counts", "-")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != cli.ExitDone || len(lines) != 2 {
		t.Fatalf("code %d, printed %q", code, out)
	}
	var answers [2]countsAnswer
	for i, line := range lines {
		if err := json.Unmarshal([]byte(line), &answers[i]); err != nil {
			t.Fatal(err)
		}
	}
	if a := answers[0]; *a.Rate.Baseline.Rate != "8/9" || a.Compare.Pairs != 2 || a.Compare.Difference != "-1/3" || a.Compare.P != "1" || a.Word != "inconclusive" {
		t.Errorf("answered %s", lines[0])
	}
	if a := answers[1]; a.Compare != nil || a.Word != "incomparable" || a.Rate.Baseline.Low != nil {
		t.Errorf("answered %s", lines[1])
	}
}

func TestCompareRefusesBadCounts(t *testing.T) {
	for _, line := range []string{
		`{`, `[]`, `{"baseline":[[1,1]],"candidate":[]}`, `{"baseline":[[2,1]],"candidate":[[0,1]]}`,
		`{"baseline":[[-1,1]],"candidate":[[0,1]]}`, `{"baseline":[[0.5,1]],"candidate":[[0,1]]}`, `{"baseline":[[1]],"candidate":[[0,1]]}`,
		fmt.Sprintf(`{"baseline":[[0,%d]],"candidate":[[0,1]]}`, maxSlots+1), `{"baseline":[[0,1]]}`,
	} {
		if code, out := ask(t, line, "compare", "--counts", "-"); code != cli.ExitUsage || out != "" {
			t.Errorf("%s: code %d, printed %q", line, code, out)
		}
	}
	for _, margin := range []string{"0", "-0.1", "1.01", "x", "1e999999999"} {
		if code, _ := ask(t, "", "compare", "--counts", "-", "--margin="+margin); code != cli.ExitUsage {
			t.Errorf("margin %s: code %d", margin, code)
		}
	}
}

// TestComparisonsAreTheSameEverywhere asks twenty times, on one processor and
// on sixteen.
func TestComparisonsAreTheSameEverywhere(t *testing.T) {
	in := `{"baseline":[[3,3],[1,2],[2,5],[0,7],[4,4],[1,6],[2,3]],"candidate":[[2,3],[2,2],[1,5],[3,7],[1,4],[5,6],[0,3]]}`
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	_, want := ask(t, in, "compare", "--counts", "-", "--margin", "0.1")
	for i := range 20 {
		runtime.GOMAXPROCS([]int{1, 16}[i%2])
		if _, got := ask(t, in, "compare", "--counts", "-", "--margin", "0.1"); got != want || got == "" {
			t.Fatalf("printed %q, and before %q", got, want)
		}
	}
}

func TestPlan(t *testing.T) {
	code, out := ask(t, "", "plan", "--scenarios", "40", "--ordinals", "3", "--margin", "0.05", "--json")
	var answer planAnswer
	if err := json.Unmarshal([]byte(out), &answer); code != cli.ExitDone || err != nil {
		t.Fatalf("code %d, %v, printed %q", code, err, out)
	}
	if answer.SmallestDrop == nil || *answer.SmallestDrop < 0.05 || answer.MoreScenario == nil || answer.MoreScenario.Cells != 3*answer.MoreScenario.Scenarios {
		t.Errorf("answered %s", out)
	}
	for _, args := range [][]string{{"--scenarios", "0"}, {"--rate", "0"}, {"--rate", "NaN"}, {"--correlation", "1.1"}, {"--ordinals", "0"}, {"--margin", "2"}} {
		if code, _ := ask(t, "", append([]string{"plan", "--scenarios", "40", "--ordinals", "3"}, args...)...); code != cli.ExitUsage {
			t.Errorf("%v: code %d", args, code)
		}
	}
}
