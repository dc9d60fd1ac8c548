package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/ledgerd/ledgerd/domain/canonicaljson"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

const (
	toolSchema  = "paperclip.prp.semantic_tool.v1"
	noInput     = "{}" // the tool takes no arguments
	toolCommand = "command_tool_"
	// toolCommandDigits is how many hex digits of the digest follow.
	toolCommandDigits = 32
)

// toolInput is the recorded call of the tool.
type toolInput struct {
	saved  row
	event  node
	tool   node
	callID string
}

// toolInput checks that the tool was called once, after the approval.
func (b *binding) toolInput(a *approval) (*toolInput, *Result, *fault) {
	if f := firstOf(
		atMost(1, b.rows.inputs, "calls a tool"),
		atMost(1, b.rows.results, "returns a tool's result"),
	); f != nil {
		return nil, nil, f
	}
	if len(b.rows.inputs) == 0 {
		return nil, pending("not in the checkpoint yet: the call of the tool"), nil
	}
	in := &toolInput{saved: b.rows.inputs[0]}
	in.event = in.saved.in("envelope", "payload")
	in.tool = in.event.in("payload", "semantic_tool")
	var ok bool
	if in.callID, ok = in.tool.Get("callId").Text(); !ok || in.callID == "" {
		return nil, nil, faulty(Contradicted, in.tool.path+"/callId", "%s: callId must be a string that is not empty and is %s",
			in.tool.of, show(in.tool.Get("callId")))
	}
	return in, nil, firstOf(
		b.checkEvent(in.saved.node),
		in.event.after("sourceSeq", a.resolved.node),
		in.tool.is("schema", constant(toolSchema)),
		in.tool.is("schemaVersion", one()),
		in.tool.is("phase", constant("input")),
		in.tool.is("operationId", constant(b.profile.Tool)),
		in.tool.is("idempotencyKey", wanted{value: strictjson.NullValue()}),
		in.tool.prints("input", noInput),
		in.tool.in("content").is("digest", constant("sha256:"+hexDigest(noInput))),
		in.tool.prints("correlation", string(canonicaljson.Append(nil, correlation(b)))),
	)
}

// delivery is the command that carried the tool's result.
type delivery struct {
	command row
	value   node // the result that the agent got
}

// delivery checks that the result of this call went to this agent for this
// task.
func (b *binding) delivery(a *approval, in *toolInput) (*delivery, *Result, *fault) {
	if len(b.rows.results) == 0 {
		return nil, pending("not in the checkpoint yet: the command that returns the tool's result"), nil
	}
	d := &delivery{command: b.rows.results[0]}
	d.value = d.command.in("payload", "result")
	if f := b.checkResultCommand(a, in, d.command.node); f != nil {
		return nil, nil, f
	}
	if d.command.Get("status").IsText("pending") {
		return nil, pending("the command that returns the tool's result is not completed yet"), nil
	}
	delivered := d.command.in("result", "result")
	return d, nil, firstOf(
		d.command.is("status", constant(completed)),
		checkResult(d.command.node),
		delivered.is("status", constant("delivered")),
		delivered.is("callId", calledIn(in)),
		d.value.in("company").is("id", b.claimed("companyId")),
		d.value.in("actor").is("id", b.claimed("agentId")),
		d.value.in("activeTask").is("id", b.claimed("issueId")),
		b.checkAction(d.value.in("activeTask")),
	)
}

func calledIn(in *toolInput) wanted { return wanted{in.tool.Get("callId"), "the call"} }

func (b *binding) checkResultCommand(a *approval, in *toolInput, command node) *fault {
	body := command.in("payload")
	if f := firstOf(
		command.is("schema", constant(commandSchema)),
		command.is("commandId", wanted{strictjson.TextValue(b.toolCommandID(in.callID)), "run and call"}),
		command.positive("controllerSeq", Contradicted),
		command.after("controllerSeq", a.resolution.node),
		body.is("callId", calledIn(in)),
		body.is("operationId", constant(b.profile.Tool)),
		body.is("sourceEventId", wanted{in.event.Get("sourceEventId"), "the call's event"}),
		body.is("sourceEventType", wanted{in.event.Get("eventType"), "the call's event"}),
		body.is("inputDigest", constant(hexDigest(noInput))),
		body.prints("correlation", string(canonicaljson.Append(nil, in.tool.Get("correlation")))),
		body.is("isError", wanted{value: strictjson.BoolValue(false)}),
	); f != nil {
		return f
	}
	if body.Get("input").Defined() {
		return body.prints("input", noInput)
	}
	return nil
}

// checkAction holds the task's description to the claimed digest of its text.
func (b *binding) checkAction(task node) *fault {
	description, ok := task.Get("description").Text()
	if !ok {
		return faulty(Contradicted, task.path+"/description", "%s: description must be a string and is %s", task.of, show(task.Get("description")))
	}
	if digest := "sha256:" + hexDigest(description); !b.publication.Get("actionSha256").IsText(digest) {
		return faulty(Contradicted, "/publication/actionSha256", "actionSha256 is %s and the task's description has %s",
			show(b.publication.Get("actionSha256")), digest)
	}
	return nil
}

// toolCommandID is the id that the command of a call has.
func (b *binding) toolCommandID(callID string) string {
	runID, _ := b.publication.Get("runId").Text()
	return toolCommand + hexDigest(runID + "\x00" + callID)[:toolCommandDigits]
}

// hexDigest is the lower hex SHA-256 of a plain text.
func hexDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// authority writes down what was found.
func (b *binding) authority(a *approval, in *toolInput, d *delivery) *Authority {
	command := d.command
	return &Authority{
		Schema:               b.profile.Schema,
		CompanyID:            b.id("companyId"),
		IssueID:              b.id("issueId"),
		AgentID:              b.id("agentId"),
		EnvironmentID:        b.id("environmentId"),
		RunID:                text(b.publication.Get("runId")),
		SessionID:            text(b.publication.Get("sessionId")),
		SourceInstanceID:     text(b.publication.Get("sourceInstanceId")),
		TurnID:               b.id("turnId"),
		ObserverLeaseID:      text(b.publication.Get("observerLeaseId")),
		ExecutionWorkspaceID: text(b.workspace),
		ControllerTurnID:     text(b.identity.Get("turnId")),
		ControllerItemID:     text(b.identity.Get("itemId")),
		RequestID:            b.id("requestId"),
		ToolCallID:           b.id("toolCallId"),

		RequestCreatedSourceSeq:  integer(a.created.Get("sourceSeq")),
		RequestResolvedSourceSeq: integer(a.resolved.Get("sourceSeq")),
		RequestCreatedSHA256:     canonicaljson.Hash(a.created.Value),
		RequestResolvedSHA256:    canonicaljson.Hash(a.resolved.Value),
		TurnStartSHA256:          canonicaljson.Hash(a.turnStart.Value),
		ResolutionCommandSHA256:  canonicaljson.Hash(a.resolution.Value),
		ActionSHA256:             text(b.publication.Get("actionSha256")),

		CallID:             in.callID,
		InputSourceSeq:     integer(in.event.Get("sourceSeq")),
		InputSourceEventID: NewID(in.event.Get("sourceEventId")),
		InputSHA256:        "sha256:" + hexDigest(noInput),
		InputEventSHA256:   canonicaljson.Hash(in.saved.Value),
		ResultSHA256:       canonicaljson.Hash(d.value.Value),
		CorrelationSHA256:  canonicaljson.Hash(in.tool.Get("correlation")),

		CommandID:      text(command.Get("commandId")),
		ControllerSeq:  integer(command.Get("controllerSeq")),
		CommandSHA256:  canonicaljson.Hash(command.Value),
		DeliverySHA256: canonicaljson.Hash(command.Get("result")),

		CheckpointIdentitySHA256:     canonicaljson.Hash(b.identity.Value),
		AuthenticatedConnectionCount: integer(b.evidence.Get("authenticatedConnectionCount")),
		HighestRecordedSourceSeq:     integer(b.evidence.Get("highestRecordedSourceSeq")),
	}
}

func (b *binding) id(name string) ID { return NewID(b.publication.Get(name)) }

// text and integer give what the checks made sure of.
func text(v strictjson.Value) string {
	s, _ := v.Text()
	return s
}

func integer(v strictjson.Value) int64 {
	n, _ := v.SafeInteger()
	return n
}
