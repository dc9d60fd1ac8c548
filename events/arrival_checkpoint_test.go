package events_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/canonicaljson"
	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/strictjson"
	"github.com/ledgerd/ledgerd/events"
)

// checkpointBody is a body as a producer may write it.
const checkpointBody = `{
  "publication": {"companyId": "co-1", "issueId": "issue-1", "agentId": "agent-1", "environmentId": "env-1", "runId": "run-1",
    "sessionId": "session-1", "sourceInstanceId": "runner-1", "turnId": "turn-1", "observerLeaseId": "lease-1",
    "requestId": "request-1", "toolCallId": "call-1", "actionSha256": "sha256:00"},
  "executionWorkspaceId": "workspace-1",
  "checkpoint": {"runId": "run-1", "records": [["header", "{\"a\":1}"], ["event:1", "{"], ["event:1", ""]],
    "recoveryEvidence": {"runnerInstanceId": "runner-1", "highestRecordedSourceSeq": 2, "more": [null]}},
  "observed": {"records": 3, "bytes": 1, "sha256": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"}
}`

func decodeCheckpoint(t testing.TB, body string) (*domain.CheckpointRead, *domain.Refusal) {
	t.Helper()
	a := events.DecodeArrival(arrival(t, domain.KindCheckpoint, body))
	return a.Checkpoint, a.Malformed
}

func TestDecodeCheckpoint(t *testing.T) {
	read, refusal := decodeCheckpoint(t, checkpointBody)
	if refusal != nil {
		t.Fatal(refusal)
	}
	if read.Publication.Len() != 12 || !read.Publication.Get("toolCallId").IsText("call-1") || !read.ExecutionWorkspaceID.IsText("workspace-1") {
		t.Errorf("claim: %+v %+v", read.Publication, read.ExecutionWorkspaceID)
	}
	if got := string(canonicaljson.Append(nil, read.Checkpoint.RecoveryEvidence)); !read.Checkpoint.RunID.IsText("run-1") ||
		got != `{"highestRecordedSourceSeq":2,"more":[null],"runnerInstanceId":"runner-1"}` {
		t.Errorf("run %+v, evidence %s", read.Checkpoint.RunID, got)
	}
	if diff := cmp.Diff([]checkpoint.Record{{Key: "header", Text: `{"a":1}`}, {Key: "event:1", Text: "{"}, {Key: "event:1"}}, read.Checkpoint.Records); diff != "" {
		t.Error(diff)
	}
	want := checkpoint.Observed{Records: 3, Bytes: 1, SHA256: strings.Repeat("00112233445566778899aabbccddeeff", 2)}
	if read.Observed != want {
		t.Errorf("observed %+v", read.Observed)
	}
}

func TestCheckpointIsStrict(t *testing.T) {
	for _, test := range []struct{ name, old, new, field string }{
		{"unknown field", `"observed"`, `"more": 1, "observed"`, "/more"},
		{"unknown id", `"companyId"`, `"sessionID": "x", "companyId"`, "/publication/sessionID"},
		{"missing id", `"issueId": "issue-1", `, ``, "/publication/issueId"},
		{"id that is null", `"agent-1"`, `null`, "/publication/agentId"},
		{"id that is a number", `"request-1"`, `7`, "/publication/requestId"},
		{"workspace that is a number", `"workspace-1"`, `7`, "/executionWorkspaceId"},
		{"missing workspace", `"executionWorkspaceId": "workspace-1",`, ``, "/executionWorkspaceId"},
		{"unknown field of the checkpoint", `"recoveryEvidence"`, `"a/b": 1, "recoveryEvidence"`, "/checkpoint/a~1b"},
		{"missing run", `"runId": "run-1", "records"`, `"records"`, "/checkpoint/runId"},
		{"run that is a number", `"runId": "run-1", "records"`, `"runId": 1, "records"`, "/checkpoint/runId"},
		{"records that are an object", `[["header", "{\"a\":1}"], ["event:1", "{"], ["event:1", ""]]`, `{"header": "{}"}`, "/checkpoint/records"},
		{"record that is an object", `["event:1", "{"]`, `{"event:1": "{"}`, "/checkpoint/records/1"},
		{"record of one", `["event:1", "{"]`, `["event:1"]`, "/checkpoint/records/1"},
		{"record of none", `["event:1", "{"]`, `[]`, "/checkpoint/records/1"},
		{"record of three", `["event:1", "{"]`, `["event:1", "{", ""]`, "/checkpoint/records/1/2"},
		{"key that is a number", `["event:1", "{"]`, `[1, "{"]`, "/checkpoint/records/1/0"},
		{"text that is JSON", `["event:1", "{"]`, `["event:1", {}]`, "/checkpoint/records/1/1"},
		{"evidence that is null", `{"runnerInstanceId": "runner-1", "highestRecordedSourceSeq": 2, "more": [null]}`, `null`, "/checkpoint/recoveryEvidence"},
		{"evidence with a name twice", `"more": [null]`, `"more": 1, "more": 2`, ""},
		{"unknown field of observed", `"bytes": 1`, `"bytes": 1, "byte": 1`, "/observed/byte"},
		{"missing count", `"bytes": 1,`, ``, "/observed/bytes"},
		{"negative count", `"bytes": 1`, `"bytes": -1`, "/observed/bytes"},
		{"count with a fraction", `"records": 3`, `"records": 3.5`, "/observed/records"},
		{"count that is a string", `"records": 3`, `"records": "3"`, "/observed/records"},
		{"short digest", `"sha256": "00`, `"sha256": "`, "/observed/sha256"},
		{"upper digest", `"sha256": "00112233445566778899aa`, `"sha256": "00112233445566778899AA`, "/observed/sha256"},
		{"an array", checkpointBody, `[]`, ""},
		{"something more", checkpointBody, checkpointBody + "1", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := strings.Replace(checkpointBody, test.old, test.new, 1)
			if body == checkpointBody {
				t.Fatalf("%s is not in the body", test.old)
			}
			read, refusal := decodeCheckpoint(t, body)
			if refusal == nil || read != nil || refusal.Reason != domain.ReasonArrivalMalformed || refusal.Field != test.field || refusal.Message == "" {
				t.Errorf("got %+v, want a refusal of %q", refusal, test.field)
			}
		})
	}
}

func TestEncodeCheckpointReadsBack(t *testing.T) {
	read, refusal := decodeCheckpoint(t, checkpointBody)
	if refusal != nil {
		t.Fatal(refusal)
	}
	read.Checkpoint.Records = append(read.Checkpoint.Records, checkpoint.Record{Key: "é\u2028\x00", Text: "\"\\\n🚀"})
	body, err := events.EncodeCheckpoint(read)
	if err != nil {
		t.Fatal(err)
	}
	again, refusal := decodeCheckpoint(t, string(body))
	if refusal != nil {
		t.Fatal(refusal)
	}
	same := cmp.Comparer(strictjson.Equal)
	if diff := cmp.Diff(read, again, same); diff != "" {
		t.Error(diff)
	}
	twice, err := events.EncodeCheckpoint(again)
	if err != nil || string(twice) != string(body) {
		t.Errorf("printed again: %v\n%s\n%s", err, body, twice)
	}
}

func TestEncodeCheckpointRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*domain.CheckpointRead)
		want   error
		says   string
	}{
		{"a claim without an id", func(r *domain.CheckpointRead) {
			r.Publication = strictjson.ObjectValue(strictjson.Member{Name: "runId", Value: strictjson.TextValue("run-1")})
		}, events.ErrCheckpointBody, "/publication/companyId"},
		{"no run", func(r *domain.CheckpointRead) { r.Checkpoint.RunID = strictjson.Value{} }, events.ErrCheckpointBody, "/checkpoint/runId"},
		{"no digest", func(r *domain.CheckpointRead) { r.Observed.SHA256 = "" }, events.ErrCheckpointBody, "/observed/sha256"},
		{"a text that is not UTF-8", func(r *domain.CheckpointRead) { r.Checkpoint.Records[1].Text = "\xff" }, events.ErrCheckpointBody, "event:1"},
		{"too much", func(r *domain.CheckpointRead) {
			r.Checkpoint.Records[1].Text = strings.Repeat("x", events.MaxArrivalBytes)
		}, events.ErrTooLarge, "3 records"},
	} {
		t.Run(test.name, func(t *testing.T) {
			read, refusal := decodeCheckpoint(t, checkpointBody)
			if refusal != nil {
				t.Fatal(refusal)
			}
			test.change(read)
			body, err := events.EncodeCheckpoint(read)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) || body != nil || len(errors.GetAllHints(err)) == 0 {
				t.Errorf("got %v, want %v that names %s", err, test.want, test.says)
			}
		})
	}
}

// An arrival is carried whole up to its limit.
func TestEncodeLargestCheckpoint(t *testing.T) {
	read, _ := decodeCheckpoint(t, checkpointBody)
	read.Checkpoint.Records[1].Text = ""
	body, err := events.EncodeCheckpoint(read)
	if err != nil {
		t.Fatal(err)
	}
	read.Checkpoint.Records[1].Text = strings.Repeat("x", events.MaxArrivalBytes-len(body))
	if body, err = events.EncodeCheckpoint(read); err != nil || len(body) != events.MaxArrivalBytes {
		t.Errorf("%d bytes: %v", len(body), err)
	}
	read.Checkpoint.Records[1].Text += "x"
	if _, err = events.EncodeCheckpoint(read); !errors.Is(err, events.ErrTooLarge) {
		t.Errorf("a byte more: %v", err)
	}
}
