package simci

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

type resultDocument struct {
	Schema              string             `json:"schema"`
	ExecutionID         string             `json:"executionId"`
	SuiteID             string             `json:"suiteId"`
	SuiteDefinitionHash string             `json:"suiteDefinitionHash"`
	Source              sourceDocument     `json:"source"`
	Attempt             int                `json:"attempt"`
	Status              string             `json:"status"`
	ProfileID           string             `json:"profileId"`
	EnvironmentID       string             `json:"environmentId"`
	CaseID              string             `json:"caseId"`
	Provider            string             `json:"provider"`
	Model               string             `json:"model"`
	RuntimeMode         string             `json:"runtimeMode"`
	StartedAt           string             `json:"startedAt"`
	FinishedAt          string             `json:"finishedAt"`
	DurationMS          int64              `json:"durationMs"`
	AccountingIdentity  accountingDocument `json:"accountingIdentity"`
	RunIDs              []string           `json:"runIds"`
	Billing             *billingDocument   `json:"billing,omitzero"`
	DatabaseIdentity    databaseDocument   `json:"databaseIdentity"`
	Cleanup             string             `json:"cleanup"`
	Transcript          string             `json:"transcript,omitzero"`
}

type sourceDocument struct {
	SHA            string `json:"sha"`
	Ref            string `json:"ref"`
	WorkflowRunURL string `json:"workflowRunUrl"`
}

type accountingDocument struct {
	CampaignID string `json:"campaignId"`
	AttemptID  string `json:"attemptId"`
}

type billingDocument struct {
	LLM billDocument `json:"llm"`
}

type billDocument struct {
	RunCount        int            `json:"runCount"`
	TotalTokens     *int64         `json:"totalTokens"`
	ReportedCostUSD jsontext.Value `json:"reportedCostUsd"`
	CostStatus      string         `json:"costStatus"`
}

type databaseDocument struct {
	Lane         string `json:"lane,omitzero"`
	Image        string `json:"image"`
	ImageID      string `json:"imageId"`
	Version      string `json:"version"`
	Architecture string `json:"architecture"`
	EngineSHA256 string `json:"engineSha256,omitzero"`
}

type hostDocument struct {
	Schema             string           `json:"schema"`
	Status             string           `json:"status"`
	Scope              string           `json:"scope"`
	EvaluationAdmitted bool             `json:"evaluationAdmitted"`
	SpotVerified       bool             `json:"spotVerified"`
	Lifecycle          string           `json:"lifecycle"`
	Architecture       string           `json:"architecture"`
	Region             string           `json:"region"`
	WorkflowRef        string           `json:"workflowRef"`
	WorkflowRunID      string           `json:"workflowRunId"`
	WorkflowAttempt    int64            `json:"workflowAttempt"`
	SourceRevision     string           `json:"sourceRevision"`
	ExecutionIDs       []string         `json:"executionIds"`
	AutomaticRetries   int              `json:"automaticRetries"`
	DockerEngineSHA256 string           `json:"dockerEngineSha256"`
	Postgres           databaseDocument `json:"postgres"`
}

type definitionDocument struct {
	ScenarioID          string `json:"scenarioId"`
	DefinitionDigest    string `json:"definitionDigest"`
	GraderDigest        string `json:"graderDigest"`
	SuiteDefinitionHash string `json:"suiteDefinitionHash"`
}

// timestamp is how the framework writes a time.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func (m *measurement) resultDocument() []byte {
	d := resultDocument{
		Schema:              m.policy.ResultSchema,
		ExecutionID:         m.executionID,
		SuiteID:             "chat-evidence",
		SuiteDefinitionHash: m.suite,
		Source:              sourceDocument{SHA: m.revision, Ref: m.ref(), WorkflowRunURL: m.runURL()},
		Attempt:             1,
		Status:              m.status,
		ProfileID:           m.policy.ProfileID,
		EnvironmentID:       m.policy.EnvironmentID,
		CaseID:              fmt.Sprintf("%s-r%d", m.scenario, m.ordinal),
		Provider:            m.policy.Provider,
		Model:               m.policy.Model,
		RuntimeMode:         "native",
		StartedAt:           timestamp(m.started),
		FinishedAt:          timestamp(m.started.Add(m.duration)),
		DurationMS:          m.duration.Milliseconds(),
		AccountingIdentity:  accountingDocument{CampaignID: m.accountingCampaign, AttemptID: m.attemptID},
		RunIDs:              []string{m.runnerRun()},
		Cleanup:             m.cleanup,
		Transcript:          m.transcriptText(),
		DatabaseIdentity:    m.database(),
	}
	d.DatabaseIdentity.Lane = m.policy.Database.Lane
	d.DatabaseIdentity.EngineSHA256 = m.engine
	if m.coverage != "" {
		d.Billing = &billingDocument{LLM: billDocument{RunCount: 1, TotalTokens: m.tokens, CostStatus: m.coverage}}
		if m.micros != nil {
			d.Billing.LLM.ReportedCostUSD = jsontext.Value(dollars(*m.micros))
		}
	}
	return m.print(&d, m.indented)
}

func (m *measurement) hostDocument() []byte {
	region := m.policy.Host.Region
	if m.region != "" {
		region = m.region
	}
	return m.print(&hostDocument{
		Schema:             m.policy.HostSchema,
		Status:             "qualified-host-only",
		Scope:              "before-evaluation",
		SpotVerified:       true,
		Lifecycle:          m.policy.Host.Lifecycle,
		Architecture:       m.policy.Host.Architecture,
		Region:             region,
		WorkflowRef:        m.policy.Repository + "/.github/workflows/" + m.policy.Workflow + "@" + m.ref(),
		WorkflowRunID:      m.runID,
		WorkflowAttempt:    m.attempt,
		SourceRevision:     m.revision,
		ExecutionIDs:       m.siblings,
		DockerEngineSHA256: m.engine,
		Postgres:           m.database(),
	}, false)
}

func (m *measurement) definitionDocument() []byte {
	return m.print(&definitionDocument{
		ScenarioID:          m.scenario,
		DefinitionDigest:    m.definition,
		GraderDigest:        m.grader,
		SuiteDefinitionHash: m.suite,
	}, m.indented)
}

func (m *measurement) database() databaseDocument {
	return databaseDocument{
		Image:        m.policy.Database.Image,
		ImageID:      m.imageID,
		Version:      m.policy.Database.Version,
		Architecture: m.policy.Database.Architecture,
	}
}

func (m *measurement) print(document any, indented bool) []byte {
	var options []json.Options
	if indented {
		options = append(options, jsontext.WithIndent("  "))
	}
	raw, err := json.Marshal(document, options...)
	if err != nil {
		panic("simci: print a document: " + err.Error()) // nothing in it can fail
	}
	return raw
}

// vocabulary is what transcripts are made of.
var vocabulary = strings.Fields(`the runner reads a file writes its plan asks for approval runs one tool waits
	checks each result again says done then tests pass two of three steps remain`)

// transcriptText is about as compressible as talk is.
func (m *measurement) transcriptText() string {
	if m.transcript <= 0 {
		return ""
	}
	words := *m.words // a copy: printing twice gives the same text
	text := make([]byte, 0, m.transcript+16)
	for len(text) < m.transcript {
		text = append(append(text, vocabulary[words.below(len(vocabulary))]...), ' ')
	}
	return string(text[:m.transcript])
}
