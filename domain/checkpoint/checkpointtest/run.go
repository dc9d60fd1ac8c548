package checkpointtest

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// Run is a runner's run. Its fields may be altered before it is read.
type Run struct {
	RunID          string
	SessionID      string
	RunnerID       string
	WorkspaceID    string // the execution workspace, which the environment lease names
	TurnID         string // the controller's
	ItemID         string // likewise
	ProviderTurnID string // the publication's turn

	RequestID  string // for permission
	ToolCallID string // that the permission is for
	CallID     string // of the tool

	CompanyID     string
	IssueID       string
	AgentID       string
	EnvironmentID string
	LeaseID       string // the observer's

	Title       string // of the task that the tool returns
	Description string // likewise; the publication has its digest
	DeliveredTo string // the agent that the result names; AgentID unless altered
	Schema      string // the header's
}

// NewRun gives the run with a name.
func NewRun(name string) *Run {
	id := func(prefix string) string { return prefix + "-" + digest(prefix + " of " + name)[:idDigits] }
	return &Run{
		RunID: id("run"), SessionID: id("sess"), RunnerID: id("runner"), WorkspaceID: id("ws"),
		TurnID: id("turn"), ItemID: id("item"), ProviderTurnID: id("provider-turn"),
		RequestID: id("req"), ToolCallID: id("call"), CallID: id("tool"),
		CompanyID: id("co"), IssueID: id("issue"), AgentID: id("agent"), EnvironmentID: id("env"), LeaseID: id("lease"),
		Title: "Check the hand-over", Description: "Read the task first.\nThen say what is missing.",
		DeliveredTo: id("agent"),
		Schema:      "paperclip.runner.durable.control-plane-state.v1",
	}
}

const idDigits = 6

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Publication is what a read of the run claims.
func (r *Run) Publication() checkpoint.Publication {
	var ids []strictjson.Member
	for _, id := range [][2]string{
		{"companyId", r.CompanyID}, {"issueId", r.IssueID}, {"agentId", r.AgentID}, {"environmentId", r.EnvironmentID},
		{"runId", r.RunID}, {"sessionId", r.SessionID}, {"sourceInstanceId", r.RunnerID}, {"turnId", r.ProviderTurnID},
		{"observerLeaseId", r.LeaseID}, {"requestId", r.RequestID}, {"toolCallId", r.ToolCallID},
		{"actionSha256", "sha256:" + digest(r.Description)},
	} {
		ids = append(ids, strictjson.Member{Name: id[0], Value: strictjson.TextValue(id[1])})
	}
	return strictjson.ObjectValue(ids...)
}

// Workspace is the execution workspace's id.
func (r *Run) Workspace() strictjson.Value { return strictjson.TextValue(r.WorkspaceID) }

// Read reads the run's checkpoint at a stage, as an observer does.
func (r *Run) Read(at Stage) checkpoint.Read {
	return checkpoint.Examine(r.Checkpoint(at), r.Publication(), r.Workspace(), checkpoint.KimiContext())
}
