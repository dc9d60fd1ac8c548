package simci

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ledgerd/ledgerd/domain"
)

// measurement is one run of one cell, as the simulated framework measured it.
// Its documents are printed from it.
type measurement struct {
	policy *domain.Policy

	revision    string
	scenario    string
	ordinal     int64
	executionID string
	siblings    []string // executions of the same job, this one included

	runID      string
	attempt    int64 // of the workflow run
	artifactID string
	branch     string // "" is the policy's
	reportedBy string // the run that the result names, "" is runID

	accountingCampaign string
	attemptID          string

	status   string
	cleanup  string
	tokens   *int64
	micros   *int64 // millionths of a dollar
	coverage string // "" reports no bill at all

	started  time.Time
	duration time.Duration

	engine  string
	imageID string
	region  string // "" is the policy's

	suite      string
	definition string
	grader     string

	indented   bool // result and definition are printed over several lines
	transcript int  // bytes of it in the result
	words      *random
}

const (
	passed = "passed"
	failed = "failed"
)

// Words for the coverage of a bill.
const (
	reported = "reported"
	partial  = "partial"
	unpriced = "unpriced"
)

// epoch is when simulated time begins.
var epoch = time.Date(2026, 9, 1, 6, 0, 0, 0, time.UTC)

// measure fills in what a run comes to by chance: a passed cell with its bill.
func (m *measurement) measure(r *random) {
	m.status, m.cleanup = passed, passed
	m.attemptID = r.hex(32)
	m.started = epoch.Add(time.Duration(r.below(20*24*3600)) * time.Second).Add(time.Duration(r.below(1000)) * time.Millisecond)
	m.duration = time.Duration(120_000+r.below(780_000)) * time.Millisecond
	m.indented = r.below(2) == 0
	tokens, micros := int64(4_000+r.below(90_000)), int64(50_000+r.below(600_000))
	switch r.below(10) {
	case 0: // no bill
	case 1:
		m.coverage, m.tokens = unpriced, &tokens
	case 2:
		m.coverage, m.tokens, m.micros = partial, &tokens, &micros
	default:
		m.coverage, m.tokens, m.micros = reported, &tokens, &micros
	}
	m.words = r
}

// on runs the cell on a machine: its engine and database image.
func (m *measurement) on(machine *random) {
	m.engine = machine.hex(64)
	m.imageID = m.policy.Database.ImageIDs[machine.below(len(m.policy.Database.ImageIDs))]
}

func (m *measurement) importKey() string {
	return fmt.Sprintf("%s/%d/%s", m.runID, m.attempt, m.executionID)
}

func (m *measurement) runURL() string {
	run := m.runID
	if m.reportedBy != "" {
		run = m.reportedBy
	}
	return "https://github.com/" + m.policy.Repository + "/actions/runs/" + run
}

func (m *measurement) ref() string {
	if m.branch != "" {
		return m.branch
	}
	return m.policy.WorkflowRef
}

// provenance is what the CI's API tells of the artifact with this digest.
func (m *measurement) provenance(archiveSHA256 string) domain.Provenance {
	return domain.Provenance{
		Repository:           m.policy.Repository,
		Workflow:             m.policy.Workflow,
		WorkflowRef:          m.ref(),
		RunID:                m.runID,
		RunAttempt:           m.attempt,
		ArtifactID:           m.artifactID,
		ArchiveSHA256:        archiveSHA256,
		TargetSourceRevision: m.revision,
	}
}

// dollars prints millionths of a dollar plainly, without trailing zeros.
func dollars(micros int64) string {
	text := fmt.Sprintf("%d.%06d", micros/1e6, micros%1e6)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// ExecutionID is the execution that the simulated framework measures a slot by.
func ExecutionID(policy *domain.Policy, scenario string, ordinal int64) string {
	return "chat-evidence." + policy.ProfileID + "." + policy.EnvironmentID + "." + scenario + "-r" + strconv.FormatInt(ordinal, 10)
}
