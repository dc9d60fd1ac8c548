package simci

import (
	"fmt"

	"github.com/ledgerd/ledgerd/internal/archive"
)

// measurementAt is what was measured at a place. The same place is the same
// measurement at every call.
func (ci *CI) measurementAt(at place) *measurement {
	a := &ci.artifacts[at.artifact]
	slot := a.slots[at.cell]
	run := ci.random(purposeRun, uint64(at.artifact))
	r := ci.random(purposeMeasurement, uint64(a.campaign), uint64(slot), uint64(a.variant))

	s := ci.slot(slot)
	m := &measurement{
		policy: ci.policy, revision: ci.campaigns[a.campaign].revision,
		scenario: s.scenario, ordinal: s.ordinal, executionID: s.executionID, transcript: ci.transcript,
	}
	m.runID, m.attempt = runID(a.runOf), 1
	m.artifactID = fmt.Sprint(4_000_000_000 + int64(at.artifact)*3)
	m.accountingCampaign = "framework-" + run.hex(12)
	m.on(run) // a job's cells share its machine
	m.measure(r)
	m.defined(s.definition)
	ci.vary(m, a, slot)
	m.siblings = make([]string, len(a.slots))
	for i, sibling := range a.slots {
		m.siblings[i] = ci.slot(sibling).executionID
	}
	if a.variant == otherExecution {
		m.siblings = []string{m.executionID}
	}
	return m
}

// runID is the id of the workflow run that an artifact began.
func runID(artifact int32) string { return fmt.Sprint(10_200_000_000 + int64(artifact)*7) }

// vary makes a measurement what its variant says.
func (ci *CI) vary(m *measurement, a *artifact, slot int32) {
	recipe := &recipes[ci.campaigns[a.campaign].troubles[slot]]
	switch a.variant {
	case mainRun, otherBytes:
		if recipe.status != "" {
			m.status = recipe.status
		}
		if recipe.cleanup != "" {
			m.cleanup = recipe.cleanup
		}
	case secondAttempt:
		m.attempt = 2
	case otherBranch:
		m.branch = "refs/heads/try-another-prompt"
	case otherReport:
		m.reportedBy = runID(int32(len(ci.artifacts))) // no artifact began that one
	case otherCampaign:
		m.revision = ci.neighbour(a.campaign)
	case otherExecution:
		m.executionID += "-extra"
	case otherHost:
		m.region = "eu-" + m.policy.Host.Region
	case otherDefinition:
		m.definition = named("definition", m.scenario, "changed").hex(64)
	}
}

// neighbour is the revision of another campaign, also when there is only one.
func (ci *CI) neighbour(campaign int32) string {
	if next := (int(campaign) + 1) % len(ci.campaigns); next != int(campaign) {
		return ci.campaigns[next].revision
	}
	return ci.random(purposeCampaign, uint64(len(ci.campaigns))).hex(40)
}

// execution prints the documents of the measurement at a place.
func (ci *CI) execution(at place, m *measurement) archive.Execution {
	a := &ci.artifacts[at.artifact]
	var broken breakage
	if a.variant == notJSON {
		broken = newBreakage(ci.random(purposeBreakage, uint64(at.artifact)))
	}
	return m.execution(broken)
}

// fill finds the length of the transcripts that make a cell as large as the
// configuration wants it.
func (ci *CI) fill() {
	if ci.config.CellBytes == 0 || len(ci.artifacts) == 0 {
		return
	}
	m := ci.measurementAt(place{})
	e := Evidence{Provenance: m.provenance(m.engine), Execution: m.execution(breakage{})}
	ci.transcript = max(0, ci.config.CellBytes-len(e.Body()))
}
