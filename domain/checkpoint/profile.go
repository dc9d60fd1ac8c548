package checkpoint

// Profile says which provider's tool call a read is about. The next provider
// is another Profile and no new code.
type Profile struct {
	Schema   string   // of the authority
	Provider string   // whose session asked for permission
	Method   string   // by which it asked
	Adapters []string // through which a provider's own request may come
	Prompt   string   // what the permission was asked for
	Tool     string   // the operation that was called
}

// KimiContext is the profile of Kimi's read of its task context.
func KimiContext() Profile {
	return Profile{
		Schema:   "paperclip.e2e.kimi-context-authority.v2",
		Provider: "kimi",
		Method:   "session/request_permission",
		Adapters: []string{"acpx-runtime", "acpx-runtime-sidecar"},
		Prompt:   "mcp__paperclip__get_task_context",
		Tool:     "get_task_context",
	}
}
