package checkpoint

import (
	"strings"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// Schemas and words of the runner's protocol.
const (
	protocolName  = "paperclip.runner"
	eventSchema   = "paperclip.prp.event.v1"
	commandSchema = "paperclip.prp.command.v1"
	requestSchema = "paperclip.runtime_request.v2"
	requestKind   = "permission_approval"
	completed     = "completed"
)

// approval is the turn and its approved request.
type approval struct {
	turnStart  row
	created    row
	resolved   row
	resolution row // the command that carried the approval
}

// approval checks that the turn was accepted, and that the request was made
// and approved in it.
func (b *binding) approval() (*approval, *Result, *fault) {
	rows := b.rows
	if f := firstOf(
		atMost(1, rows.turnStarts, "starts a turn"),
		atMost(1, rows.resolutions, "resolves this request"),
		atMost(2, rows.requests, "is about this request"),
	); f != nil {
		return nil, nil, f
	}
	if waits := b.awaited(); waits != nil {
		return nil, waits, nil
	}
	a := &approval{turnStart: rows.turnStarts[0], resolution: rows.resolutions[0]}
	if f := b.checkTurn(a.turnStart); f != nil {
		return nil, nil, f
	}
	for _, r := range []struct {
		into *row
		name string
	}{{&a.created, typeRequestCreated}, {&a.resolved, typeRequestResolved}} {
		found, ok := ofType(rows.requests, r.name)
		if !ok {
			return nil, nil, faulty(Contradicted, rows.requests[1].path, "%s and %s are about this request, and none of them is %s",
				rows.requests[0].of, rows.requests[1].of, r.name)
		}
		*r.into = found
	}
	return a, nil, firstOf(
		b.checkEvent(a.created.node), b.checkEvent(a.resolved.node),
		b.checkRequest(a), b.checkResolution(a))
}

// atMost refuses the record after the limit-th.
func atMost(limit int, rows []row, does string) *fault {
	if len(rows) <= limit {
		return nil
	}
	extra := rows[limit]
	return faulty(Contradicted, strings.TrimSuffix(extra.path, "/1"), "%s %s, and so does %s already", extra.of, does, rows[limit-1].of)
}

// awaited says what has not happened yet, nil when nothing is missing.
func (b *binding) awaited() *Result {
	var missing []string
	if len(b.rows.turnStarts) == 0 {
		missing = append(missing, "the start of the turn")
	}
	switch len(b.rows.requests) {
	case 0:
		missing = append(missing, "the request", "its resolution")
	case 1:
		missing = append(missing, "one of request and resolution")
	}
	if len(b.rows.resolutions) == 0 {
		missing = append(missing, "the command that resolves it")
	}
	if missing == nil {
		return nil
	}
	return pending("not in the checkpoint yet: " + strings.Join(missing, ", "))
}

func ofType(rows []row, name string) (row, bool) {
	for _, r := range rows {
		if r.Get("eventType").IsText(name) {
			return r, true
		}
	}
	return row{}, false
}

func (b *binding) checkTurn(turnStart row) *fault {
	return firstOf(
		checkCompleted(turnStart.node, "accepted"),
		turnStart.in("payload").is("turnId", b.claimed("turnId")),
		turnStart.in("result", "result").is("providerTurnId", b.claimed("turnId")),
	)
}

// checkEvent holds a saved event to the run that it must be of.
func (b *binding) checkEvent(saved node) *fault {
	envelope := saved.in("envelope")
	event := envelope.in("payload")
	return firstOf(
		envelope.is("protocol", constant(protocolName)),
		envelope.is("kind", constant("event")),
		envelope.is("runId", b.claimed("runId")),
		envelope.is("normalizedSessionId", b.claimed("sessionId")),
		envelope.is("runnerInstanceId", b.claimed("sourceInstanceId")),
		envelope.is("turnId", b.identified("turnId")),
		envelope.is("itemId", b.identified("itemId")),
		envelope.is("environmentLeaseId", wanted{b.workspace, "executionWorkspaceId"}),
		event.is("schema", constant(eventSchema)),
		event.is("schemaVersion", one()),
		event.is("sourceKind", constant("runner")),
		event.is("runId", b.claimed("runId")),
		event.is("normalizedSessionId", b.claimed("sessionId")),
		event.is("sourceInstanceId", b.claimed("sourceInstanceId")),
		event.is("turnId", b.identified("turnId")),
		event.is("itemId", b.identified("itemId")),
		saved.is("sourceSeq", wanted{event.Get("sourceSeq"), "its envelope"}),
		saved.is("sourceEventId", wanted{event.Get("sourceEventId"), "its envelope"}),
		event.is("eventType", wanted{saved.Get("eventType"), "the record itself"}),
		saved.is("logicalEffectCount", one()),
		event.positive("sourceSeq", Contradicted),
		b.recorded(event),
	)
}

// recorded refuses a sequence number above the highest that was recorded.
func (b *binding) recorded(event node) *fault {
	seq, _ := event.Get("sourceSeq").Number()
	highest, _ := b.evidence.Get("highestRecordedSourceSeq").Number()
	if seq <= highest {
		return nil
	}
	return faulty(Contradicted, event.path+"/sourceSeq", "%s: sourceSeq must be at most %s, the highest recorded, and is %s",
		event.of, show(b.evidence.Get("highestRecordedSourceSeq")), show(event.Get("sourceSeq")))
}

// checkCompleted holds a command to its own result.
func checkCompleted(command node, status string) *fault {
	result := command.in("result")
	return firstOf(
		command.is("schema", constant(commandSchema)),
		command.is("status", constant(completed)),
		command.positive("controllerSeq", Contradicted),
		checkResult(command),
		result.in("result").is("status", constant(status)),
	)
}

// checkResult holds the frame of a command's result to the command.
func checkResult(command node) *fault {
	result := command.in("result")
	return firstOf(
		result.is("commandId", wanted{command.Get("commandId"), "the command's"}),
		result.is("controllerSeq", wanted{command.Get("controllerSeq"), "the command's"}),
		result.is("commandType", wanted{command.Get("type"), "the command's type"}),
		result.is("status", constant(completed)),
	)
}

// checkRequest holds the request to what the profile's provider asks.
func (b *binding) checkRequest(a *approval) *fault {
	request := a.created.in("envelope", "payload", "payload", "request")
	origin := request.in("origin")
	return firstOf(
		request.is("schema", constant(requestSchema)),
		request.is("requestKind", constant(requestKind)),
		request.is("type", constant("permission")),
		request.is("status", constant("pending")),
		request.is("requestId", b.claimed("requestId")),
		request.is("turnId", b.identified("turnId")),
		request.is("itemId", b.identified("itemId")),
		request.is("prompt", constant(b.profile.Prompt)),
		origin.isOneOf("adapter", b.profile.Adapters),
		origin.is("provider", constant(b.profile.Provider)),
		origin.is("method", constant(b.profile.Method)),
		request.in("details").is("toolCallId", b.claimed("toolCallId")),
	)
}

// checkResolution holds the approval, as an event and as a command.
func (b *binding) checkResolution(a *approval) *fault {
	resolution := a.resolved.in("envelope", "payload", "payload")
	command := a.resolution
	if f := firstOf(
		resolution.is("requestId", b.claimed("requestId")),
		resolution.is("requestKind", constant(requestKind)),
		resolution.is("action", constant("accept")),
		resolution.is("turnId", b.identified("turnId")),
		resolution.is("itemId", b.identified("itemId")),
		a.resolved.after("sourceSeq", a.created.node),
		checkCompleted(command.node, "delivered"),
	); f != nil {
		return f
	}
	return firstOf(
		command.in("payload").is("turnId", b.identified("turnId")),
		command.in("payload", "resolution").is("action", constant("accept")),
		command.in("result", "result").is("requestId", b.claimed("requestId")),
		command.after("controllerSeq", a.turnStart.node),
	)
}

// correlation is what the call of a tool says it belongs to.
func correlation(b *binding) strictjson.Value {
	return strictjson.ObjectValue(
		strictjson.Member{Name: "runId", Value: b.publication.Get("runId")},
		strictjson.Member{Name: "normalizedSessionId", Value: b.publication.Get("sessionId")},
		strictjson.Member{Name: "turnId", Value: b.identity.Get("turnId")},
		strictjson.Member{Name: "itemId", Value: b.identity.Get("itemId")},
	)
}
