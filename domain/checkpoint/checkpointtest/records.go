package checkpointtest

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// Stage is how far a run has come.
type Stage int

// The stages. A read is pending before the last and binds there.
const (
	Started   Stage = iota // the turn runs
	Requested              // the agent asks for permission
	Approved               // it is given
	Called                 // the agent calls the tool
	Answered               // the result is on its way
	Delivered              // the agent has it
)

// Stages lists every stage in order.
func Stages() []Stage { return []Stage{Started, Requested, Approved, Called, Answered, Delivered} }

type object = map[string]any

// kept is a checkpoint in the making.
type kept struct {
	run      *Run
	events   []checkpoint.Record
	commands []checkpoint.Record
}

// Checkpoint is what the runner has kept at a stage: the header, the rows that
// matter, and others of the same run.
func (r *Run) Checkpoint(at Stage) checkpoint.Checkpoint {
	k := &kept{run: r}
	k.keep(at)
	records := []checkpoint.Record{{Key: "header", Text: printed(object{"schema": r.Schema, "identity": object{
		"runnerInstanceId": r.RunnerID, "environmentLeaseId": r.WorkspaceID, "runId": r.RunID,
		"normalizedSessionId": r.SessionID, "turnId": r.TurnID, "itemId": r.ItemID,
	}})}}
	records = append(append(records, k.events...), k.commands...)
	return checkpoint.Checkpoint{
		RunID:   strictjson.TextValue(r.RunID),
		Records: append(records, checkpoint.Record{Key: "meta", Text: "{}"}),
		RecoveryEvidence: strictjson.ObjectValue(
			strictjson.Member{Name: "runnerInstanceId", Value: strictjson.TextValue(r.RunnerID)},
			strictjson.Member{Name: "normalizedSessionId", Value: strictjson.TextValue(r.SessionID)},
			strictjson.Member{Name: "authenticatedConnectionCount", Value: strictjson.NumberValue(1)},
			strictjson.Member{Name: "highestRecordedSourceSeq", Value: strictjson.NumberValue(float64(len(k.events)))},
		),
	}
}

// keep lets the run come to a stage.
func (k *kept) keep(at Stage) {
	r := k.run
	k.event("turn.started", object{"model": "k2"})
	k.command("turn.start", "command_turn_"+r.TurnID, object{"turnId": r.ProviderTurnID},
		object{"status": "accepted", "providerTurnId": r.ProviderTurnID})
	k.event("message.delta", object{"text": "I will look at the task."})
	if at >= Requested {
		k.event("runtime_request.created", object{"request": r.request()})
	}
	if at >= Approved {
		k.event("runtime_request.resolved", object{
			"requestId": r.RequestID, "requestKind": "permission_approval", "action": "accept", "turnId": r.TurnID, "itemId": r.ItemID,
		})
		k.command("request.resolve", "command_resolve_"+r.RequestID,
			object{"requestId": r.RequestID, "turnId": r.TurnID, "resolution": object{"action": "accept"}},
			object{"status": "delivered", "requestId": r.RequestID})
	}
	if at >= Called {
		k.event("semantic_tool.input", object{"semantic_tool": r.call()})
	}
	if at >= Answered {
		var delivered object
		if at >= Delivered {
			delivered = object{"status": "delivered", "callId": r.CallID}
		}
		k.command("semantic_tool.result", r.commandID(), r.answer(k.eventID(len(k.events))), delivered)
	}
}

func (r *Run) request() object {
	return object{
		"schema": "paperclip.runtime_request.v2", "requestKind": "permission_approval", "type": "permission", "status": "pending",
		"requestId": r.RequestID, "turnId": r.TurnID, "itemId": r.ItemID, "prompt": "mcp__paperclip__get_task_context",
		"origin":  object{"adapter": "acpx-runtime", "provider": "kimi", "method": "session/request_permission"},
		"details": object{"toolCallId": r.ToolCallID},
	}
}

func (r *Run) call() object {
	return object{
		"schema": "paperclip.prp.semantic_tool.v1", "schemaVersion": 1, "phase": "input", "operationId": "get_task_context",
		"callId": r.CallID, "idempotencyKey": nil, "input": object{}, "content": object{"digest": "sha256:" + digest("{}")},
		"correlation": r.correlation(),
	}
}

func (r *Run) correlation() object {
	return object{"runId": r.RunID, "normalizedSessionId": r.SessionID, "turnId": r.TurnID, "itemId": r.ItemID}
}

// commandID is the id of the command that returns the tool's result.
func (r *Run) commandID() string {
	const digits = 32
	return "command_tool_" + digest(r.RunID + "\x00" + r.CallID)[:digits]
}

func (r *Run) answer(calledBy string) object {
	return object{
		"callId": r.CallID, "operationId": "get_task_context", "sourceEventId": calledBy, "sourceEventType": "semantic_tool.input",
		"inputDigest": digest("{}"), "input": object{}, "correlation": r.correlation(), "isError": false,
		"result": object{
			"company": object{"id": r.CompanyID}, "actor": object{"id": r.DeliveredTo},
			"activeTask": object{"id": r.IssueID, "title": r.Title, "description": r.Description},
		},
	}
}

func (k *kept) eventID(seq int) string { return fmt.Sprintf("event-%d-%s", seq, k.run.RunID) }

// event keeps one more event, with what belongs around it.
func (k *kept) event(eventType string, payload object) {
	r, seq := k.run, len(k.events)+1
	k.events = append(k.events, checkpoint.Record{Key: fmt.Sprintf("event:%d", seq), Text: printed(object{
		"sourceSeq": seq, "sourceEventId": k.eventID(seq), "eventType": eventType, "priority": 0, "deliveryCount": 1, "logicalEffectCount": 1,
		"envelope": object{
			"protocol": "paperclip.runner", "protocolVersion": 1, "kind": "event", "runId": r.RunID, "normalizedSessionId": r.SessionID,
			"runnerInstanceId": r.RunnerID, "turnId": r.TurnID, "itemId": r.ItemID, "environmentLeaseId": r.WorkspaceID,
			"payload": object{
				"schema": "paperclip.prp.event.v1", "schemaVersion": 1, "eventType": eventType, "sourceKind": "runner",
				"runId": r.RunID, "normalizedSessionId": r.SessionID, "sourceInstanceId": r.RunnerID, "turnId": r.TurnID, "itemId": r.ItemID,
				"sourceSeq": seq, "sourceEventId": k.eventID(seq), "payload": payload,
			},
		},
	})})
}

// command keeps one more command. Without a result it is not completed yet.
func (k *kept) command(commandType, id string, payload, result object) {
	seq := len(k.commands) + 1
	command := object{
		"schema": "paperclip.prp.command.v1", "commandId": id, "controllerSeq": seq, "type": commandType,
		"issuedAt": "2026-09-14T10:00:00.000Z", "payload": payload, "status": "pending",
	}
	if result != nil {
		command["status"] = "completed"
		command["result"] = object{"commandId": id, "controllerSeq": seq, "commandType": commandType, "status": "completed", "result": result}
	}
	k.commands = append(k.commands, checkpoint.Record{Key: fmt.Sprintf("command:%d", seq), Text: printed(command)})
}

func printed(document object) string {
	raw, err := json.Marshal(document, json.Deterministic(true))
	if err != nil {
		panic("checkpointtest: print a record: " + err.Error()) // strings and small numbers only
	}
	return string(raw)
}
