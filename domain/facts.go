package domain

import "github.com/ledgerd/ledgerd/domain/strictjson"

// Limits of the run ids that a result lists. They join cells to checkpoints;
// more or longer ones join nothing.
const (
	maxRunIDs     = 64
	maxRunIDBytes = 240
)

// cellFacts reads what projections show from a result that passed the gates.
func cellFacts(result strictjson.Value) CellFacts {
	text := func(name string) string {
		s, _ := result.Get(name).Text()
		return s
	}
	duration, _ := result.Get("durationMs").Finite()
	url, _ := result.At("source", "workflowRunUrl").Text()
	return CellFacts{
		ExecutionID:         text("executionId"),
		Status:              text("status"),
		Cleanup:             text("cleanup"),
		CaseID:              text("caseId"),
		ProfileID:           text("profileId"),
		Provider:            text("provider"),
		Model:               text("model"),
		SuiteDefinitionHash: text("suiteDefinitionHash"),
		WorkflowRunURL:      url,
		StartedAt:           text("startedAt"),
		FinishedAt:          text("finishedAt"),
		DurationMS:          duration + 0, // -0 is 0
		RunIDs:              runIDs(result.Get("runIds")),
	}
}

func runIDs(list strictjson.Value) []string {
	ids := []string{}
	for _, element := range list.Elements() {
		id, isText := element.Text()
		if isText && id != "" && len(id) <= maxRunIDBytes && len(ids) < maxRunIDs {
			ids = append(ids, id)
		}
	}
	return ids
}

// Words of a bill.
const (
	costReported        = "reported"
	costPartial         = "partial"
	coverageUnavailable = "unavailable"
)

// cellUsage reads what the cell cost. Unknown is nil, never 0.
func cellUsage(result strictjson.Value) Usage {
	bill := result.At("billing", "llm")
	usage := Usage{Coverage: coverageUnavailable}
	if tokens, finite := bill.Get("totalTokens").Finite(); finite {
		usage.Tokens = pointerTo(tokens + 0)
	}
	status, isText := bill.Get("costStatus").Text()
	if isText {
		usage.Coverage = status
	}
	if cost, finite := bill.Get("reportedCostUsd").Finite(); finite && (status == costReported || status == costPartial) {
		usage.CostUSD = pointerTo(cost + 0)
	}
	return usage
}
