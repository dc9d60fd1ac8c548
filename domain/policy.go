package domain

// Policy is what a campaign demands of a cell, frozen when it opens. Data, so
// that another framework is another policy and not other code.
type Policy struct {
	Repository    string   `json:"repository"`
	Workflow      string   `json:"workflow"`
	WorkflowRef   string   `json:"workflowRef"`
	ResultsPrefix string   `json:"resultsPrefix"`
	ResultSchema  string   `json:"resultSchema"`
	HostSchema    string   `json:"hostSchema"`
	ProfileID     string   `json:"profileId"`
	Provider      string   `json:"provider"`
	Model         string   `json:"model"`
	EnvironmentID string   `json:"environmentId"`
	Ordinals      []int64  `json:"ordinals"`
	Host          Host     `json:"host"`
	Database      Database `json:"database"`

	Documents  Documents `json:"documents"`  // which files of an archive are the documents
	Provenance []string  `json:"provenance"` // accepted sources of provenance

	VerdictRules
}

// Host is the machine that a policy demands.
type Host struct {
	Lifecycle    string `json:"lifecycle"`
	Architecture string `json:"architecture"`
	Region       string `json:"region"`
}

// Database is the database that a policy demands.
type Database struct {
	Lane         string   `json:"lane"`
	Image        string   `json:"image"`
	ImageIDs     []string `json:"imageIds"`
	Version      string   `json:"version"`
	Architecture string   `json:"architecture"`
}

// Documents are the base-name patterns (as path.Match has them) by which an
// execution's documents are found in an archive.
type Documents struct {
	Result     string `json:"result"`
	Host       string `json:"host"`
	Definition string `json:"definition"`
}
