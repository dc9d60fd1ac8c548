package checkpoint_test

import (
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/domain/checkpoint"
)

// Another provider is data: its reads bind by its profile, and by no other.
func TestAnotherProfile(t *testing.T) {
	other := checkpoint.Profile{
		Schema: "example.other-authority.v1", Provider: "other", Method: "session/ask",
		Adapters: []string{"native"}, Prompt: "mcp__other__read_task", Tool: "read_task",
	}
	r := boundRead(t)
	translate := strings.NewReplacer(`"kimi"`, `"other"`, `"session/request_permission"`, `"session/ask"`,
		`"acpx-runtime"`, `"native"`, `"acpx-runtime-sidecar"`, `"native"`,
		`"mcp__paperclip__get_task_context"`, `"mcp__other__read_task"`, `"get_task_context"`, `"read_task"`)
	translated := r
	translated.cp.Records = nil
	for _, record := range r.cp.Records {
		translated.cp.Records = append(translated.cp.Records, checkpoint.Record{Key: record.Key, Text: translate.Replace(record.Text)})
	}
	got := checkpoint.Project(translated.cp, r.publication, r.workspace, other)
	if got.Outcome != checkpoint.Bound || got.Authority.Schema != other.Schema {
		t.Errorf("the other provider's read by its profile: %+v", got)
	}
	if got := translated.project(); got.Reason != checkpoint.Contradicted {
		t.Errorf("the other provider's read by Kimi's profile: %+v", got)
	}
	if got := checkpoint.Project(r.cp, r.publication, r.workspace, other); got.Reason != checkpoint.Contradicted {
		t.Errorf("Kimi's read by the other profile: %+v", got)
	}
}
