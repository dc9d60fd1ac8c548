package domain

import (
	"fmt"
	"slices"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// The members of a qualification, all of which must be there and no other.
var (
	qualificationMembers = []string{"attempt", "completion"}
	attemptMembers       = []string{"ordinal", "executionId", "sourceRevision", "startedAt", "profile", "model",
		"definitionDigest", "graderDigest", "suiteDefinitionDigest", "databaseLane"}
	completionMembers = []string{"finishedAt", "outcome", "cleanup", "usage", "evidencePaths"}
	usageMembers      = []string{"tokens", "costUsd", "coverage"}
	laneMembers       = []string{"lane", "image", "imageId", "version", "architecture"}
)

// NewQualification checks that v has a qualification's members. What they say
// is compared with the cell later. Refusals are arrival_malformed.
func NewQualification(v strictjson.Value) (*Qualification, *Refusal) {
	for _, object := range []struct {
		path    []string
		members []string
	}{
		{nil, qualificationMembers},
		{[]string{"attempt"}, attemptMembers},
		{[]string{"completion"}, completionMembers},
		{[]string{"attempt", "databaseLane"}, laneMembers},
		{[]string{"completion", "usage"}, usageMembers},
	} {
		field := "/qualification"
		for _, name := range object.path {
			field += "/" + name
		}
		if refusal := closed(field, v.At(object.path...), object.members); refusal != nil {
			return nil, refusal
		}
	}
	return &Qualification{Attempt: v.Get("attempt"), Completion: v.Get("completion")}, nil
}

// closed refuses an object that lacks a member or has another.
func closed(field string, v strictjson.Value, members []string) *Refusal {
	if v.Kind() != strictjson.Object {
		return refuse(ReasonArrivalMalformed, field, fmt.Sprintf("it must be an object and is %s", show(v)))
	}
	for name := range v.Members() {
		if !slices.Contains(members, name) {
			return refuse(ReasonArrivalMalformed, field+"/"+pointerToken(name), fmt.Sprintf("no member is called %s here; they are %v", quote(name), members))
		}
	}
	for _, name := range members {
		if !v.Get(name).Defined() {
			return refuse(ReasonArrivalMalformed, field+"/"+name, name+" is missing")
		}
	}
	return nil
}

// CheckQualification compares a producer's statement with the measured cell:
// usage first, then the attempt, then the outcome. All must be exactly the
// cell's.
func (m *Measured) CheckQualification(q *Qualification) *Refusal {
	usage := q.Completion.Get("usage")
	for _, want := range []expectation{
		{"tokens", usage.Get("tokens"), numberOrNull(m.Usage.Tokens)},
		{"costUsd", usage.Get("costUsd"), numberOrNull(m.Usage.CostUSD)},
		{"coverage", usage.Get("coverage"), strictjson.TextValue(m.Usage.Coverage)},
	} {
		if refusal := want.check(ReasonUsageMismatch, "/qualification/completion/usage/"); refusal != nil {
			return refusal
		}
	}
	for _, want := range m.attempt(q.Attempt) {
		if refusal := want.check(ReasonQualificationMismatch, "/qualification/attempt/"); refusal != nil {
			return refusal
		}
	}
	finished := expectation{"finishedAt", q.Completion.Get("finishedAt"), m.result.Get("finishedAt")}
	if refusal := finished.check(ReasonQualificationMismatch, "/qualification/completion/"); refusal != nil {
		return refusal
	}
	return m.checkOutcome(q.Completion)
}

func (m *Measured) attempt(attempt strictjson.Value) []expectation {
	cell := &m.Cell
	text := strictjson.TextValue
	return []expectation{
		{"ordinal", attempt.Get("ordinal"), strictjson.NumberValue(float64(cell.Ordinal))},
		{"executionId", attempt.Get("executionId"), m.result.Get("executionId")},
		{"sourceRevision", attempt.Get("sourceRevision"), text(cell.SourceRevision)},
		{"startedAt", attempt.Get("startedAt"), m.result.Get("startedAt")},
		{"profile", attempt.Get("profile"), m.result.Get("profileId")},
		{"model", attempt.Get("model"), m.result.Get("model")},
		{"definitionDigest", attempt.Get("definitionDigest"), text(cell.DefinitionDigest)},
		{"graderDigest", attempt.Get("graderDigest"), text(cell.GraderDigest)},
		{"suiteDefinitionDigest", attempt.Get("suiteDefinitionDigest"), m.result.Get("suiteDefinitionHash")},
		{"databaseLane", attempt.Get("databaseLane"), strictjson.ObjectValue(
			strictjson.Member{Name: "lane", Value: text(cell.DatabaseLane.Lane)},
			strictjson.Member{Name: "image", Value: text(cell.DatabaseLane.Image)},
			strictjson.Member{Name: "imageId", Value: text(cell.DatabaseLane.ImageID)},
			strictjson.Member{Name: "version", Value: text(cell.DatabaseLane.Version)},
			strictjson.Member{Name: "architecture", Value: text(cell.DatabaseLane.Architecture)},
		)},
	}
}

// checkOutcome refuses a completion that tells another end than the result.
func (m *Measured) checkOutcome(completion strictjson.Value) *Refusal {
	for _, want := range []expectation{
		{"outcome", completion.Get("outcome"), m.result.Get("status")},
		{"cleanup", completion.Get("cleanup"), m.result.Get("cleanup")},
	} {
		if refusal := want.check(ReasonOutcomeRewritten, "/qualification/completion/"); refusal != nil {
			return refusal
		}
	}
	for _, path := range completion.Get("evidencePaths").Elements() {
		if path.IsText(m.Cell.ResultPath) {
			return nil
		}
	}
	return refuse(ReasonOutcomeRewritten, "/qualification/completion/evidencePaths", fmt.Sprintf(
		"the evidence paths must be an array with the result's path %s", quote(m.Cell.ResultPath)))
}

// expectation is a member of a qualification and what the cell says.
type expectation struct {
	name      string
	got, want strictjson.Value
}

func (e expectation) check(reason Reason, where string) *Refusal {
	if strictjson.Equal(e.got, e.want) {
		return nil
	}
	return refuse(reason, where+e.name, fmt.Sprintf(
		"%s is %s, the measured cell has %s; leave the qualification out to have it derived", e.name, show(e.got), show(e.want)))
}

func numberOrNull(n *float64) strictjson.Value {
	if n == nil {
		return strictjson.NullValue()
	}
	return strictjson.NumberValue(*n)
}
