package simci

import (
	"fmt"
	"strings"
)

// scenarioNames are the first scenarios of every campaign.
var scenarioNames = []string{
	"greeting-first-turn", "tool-approval", "plan-revision", "context-integrity", "warm-three-turn", "task-handover",
	"interrupted-run", "denied-request", "long-transcript", "parallel-tools", "stale-workspace", "budget-notice",
}

// scenarioName is the id of a campaign's i-th scenario.
func scenarioName(i int) string {
	if i < len(scenarioNames) {
		return scenarioNames[i]
	}
	return fmt.Sprintf("scenario-%04d", i+1)
}

// label is a scenario's name for people.
func label(id string) string {
	words := strings.ReplaceAll(id, "-", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}
