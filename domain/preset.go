package domain

// PresetPaperclipChat is the built-in policy.
const PresetPaperclipChat = "paperclip-chat"

// Defaults of a policy that leaves them out.
const (
	defaultResultPattern     = "result.json"
	defaultHostPattern       = "host.json"
	defaultDefinitionPattern = "definition.json"
	provenanceGitHubAPI      = "github-api"
)

// PresetNames lists the built-in policies.
func PresetNames() []string { return []string{PresetPaperclipChat} }

// Preset gives a built-in policy, a new copy at every call.
func Preset(name string) (*Policy, bool) {
	if name != PresetPaperclipChat {
		return nil, false
	}
	return paperclipChat(), true
}

func paperclipChat() *Policy {
	return &Policy{
		Repository:    "paperclipai/paperclip",
		Workflow:      "runner-full-stack-e2e.yml",
		WorkflowRef:   "refs/heads/master",
		ResultsPrefix: "tests/runner-e2e/results/",
		ResultSchema:  "paperclip.runner-e2e.result/v2",
		HostSchema:    "paperclip.chat-remote-host/v1",
		ProfileID:     "runner-opencode-chat",
		Provider:      "opencode",
		Model:         "openrouter/deepseek/deepseek-v3.2",
		EnvironmentID: "local",
		Ordinals:      []int64{1, 2},
		Host:          Host{Lifecycle: "spot", Architecture: "x86_64", Region: "us-east-1"},
		Database: Database{
			Lane:  "owned-docker-postgres",
			Image: "postgres@sha256:7c1f0e5d3c1b46d69d6dbb2e1a4a2f0b8e7f2b8a3a9b8c7d6e5f4a3b2c1d0e9f",
			ImageIDs: []string{
				"sha256:1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a",
				"sha256:2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b",
			},
			Version:      "17.6",
			Architecture: "amd64",
		},
		Documents:    defaultDocuments(),
		Provenance:   []string{provenanceGitHubAPI},
		VerdictRules: VerdictRules{}.withDefaults(),
	}
}

func defaultDocuments() Documents {
	return Documents{Result: defaultResultPattern, Host: defaultHostPattern, Definition: defaultDefinitionPattern}
}
