package schema_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/domain"
)

// leftToRules are the places that the schema speaks of and the decoder leaves
// to the rules on purpose. An array's index is *.
var leftToRules = map[domain.Kind][]string{
	domain.KindCampaign: strings.Fields(`
		/budget/costUsd /label
		/policy /policy/database /policy/database/architecture /policy/database/image /policy/database/imageIds
		/policy/database/imageIds/* /policy/database/lane /policy/database/version /policy/documents/definition
		/policy/documents/host /policy/documents/result /policy/environmentId /policy/host /policy/host/architecture
		/policy/host/lifecycle /policy/host/region /policy/hostSchema /policy/model /policy/ordinals /policy/ordinals/*
		/policy/profileId /policy/provenance/* /policy/provider /policy/repository
		/policy/resultSchema /policy/resultsPrefix /policy/workflow /policy/workflowRef /policyPreset
		/scenarios /scenarios/* /scenarios/*/definitionDigest /scenarios/*/graderDigest /scenarios/*/id /scenarios/*/label
		/selected /selected/* /selected/*/executionId /selected/*/remoteOrdinal /selected/*/scenarioId
		/sourceRevision`),
	domain.KindCell: strings.Fields(`
		/definition/path /definition/sha256 /host/path /host/sha256
		/provenance /provenance/archiveSha256 /provenance/artifactId /provenance/repository /provenance/runAttempt
		/provenance/runId /provenance/targetSourceRevision /provenance/workflow /provenance/workflowRef
		/qualification/attempt/databaseLane/architecture /qualification/attempt/databaseLane/image
		/qualification/attempt/databaseLane/imageId /qualification/attempt/databaseLane/lane
		/qualification/attempt/databaseLane/version /qualification/attempt/definitionDigest
		/qualification/attempt/executionId /qualification/attempt/graderDigest /qualification/attempt/model
		/qualification/attempt/ordinal /qualification/attempt/profile /qualification/attempt/sourceRevision
		/qualification/attempt/startedAt /qualification/attempt/suiteDefinitionDigest
		/qualification/completion/evidencePaths /qualification/completion/finishedAt
		/qualification/completion/outcome /qualification/completion/usage/costUsd
		/qualification/completion/usage/coverage /qualification/completion/usage/tokens
		/result/path /result/sha256`),
	domain.KindCheckpoint: strings.Fields(`
		/checkpoint/recoveryEvidence /checkpoint/recoveryEvidence/authenticatedConnectionCount
		/checkpoint/recoveryEvidence/highestRecordedSourceSeq /checkpoint/recoveryEvidence/normalizedSessionId
		/checkpoint/recoveryEvidence/runnerInstanceId /checkpoint/runId
		/executionWorkspaceId
		/publication/actionSha256 /publication/agentId /publication/companyId /publication/environmentId
		/publication/issueId /publication/observerLeaseId /publication/requestId /publication/runId
		/publication/sessionId /publication/sourceInstanceId /publication/toolCallId /publication/turnId`),
	domain.KindVoid: {"/importKey"},
}

// TestEveryMember takes out, adds and replaces each member of every valid
// example, and holds the judges against each other.
func TestEveryMember(t *testing.T) {
	t.Parallel()
	left, seen := map[domain.Kind]map[string]bool{}, map[domain.Kind]map[string]bool{}
	for _, kind := range domain.Kinds() {
		left[kind], seen[kind] = map[string]bool{}, map[string]bool{}
	}
	counts := map[string]int{}
	for _, e := range examples(t, valid) {
		t.Run(e.String(), func(t *testing.T) {
			for m := range mutants(instance(t, e.body), seen[e.kind]) {
				j := judge(t, e.kind, printed(t, m.value))
				if err := j.disagreement(); err != nil {
					t.Errorf("%s: %v", m.what, err)
				}
				switch {
				case j.decoder != nil:
					counts["malformed"]++
				case j.schema != nil:
					counts["left to rules"]++
					left[e.kind][m.place] = true
				default:
					counts["fits"]++
				}
			}
		})
	}
	for _, class := range []string{"malformed", "left to rules", "fits"} {
		if counts[class] < 100 {
			t.Errorf("%d mutants are of class %s: the test shows little", counts[class], class)
		}
	}
	for _, kind := range domain.Kinds() {
		if diff := cmp.Diff(leftToRules[kind], slices.Sorted(maps.Keys(left[kind]))); diff != "" {
			t.Errorf("%s: what is left to the rules: %s", kind, diff)
		}
	}
}

// mutant is a document with one member that is not as it was.
type mutant struct {
	place string // JSON Pointer, * for an index
	what  string
	value any
}

// replacements are of every type.
func replacements() []any {
	return []any{nil, true, 0.0, 1.0, -1.0, 1.5, 1e300, "", "1", "a\nb", strings.Repeat("x", 600), []any{}, []any{"x"}, map[string]any{}}
}

// mutants gives every mutant of a document that is not among those seen, one at
// a time: elements of an array are alike, and so are examples of a kind. A
// mutant shares what was not changed with the document.
func mutants(whole any, seen map[string]bool) func(yield func(mutant) bool) {
	return func(yield func(mutant) bool) {
		place(whole, "", func(at string, change string, value any) bool {
			what := at + " " + change
			if seen[what] {
				return true
			}
			seen[what] = true
			return yield(mutant{place: at, what: what, value: value})
		})
	}
}

// place gives the document with a change at each place within node; put makes a
// whole document of what stands in node's place.
func place(node any, at string, yield func(at, what string, value any) bool) bool {
	for i, other := range replacements() {
		if !yield(at, "is replaced by number "+strconv.Itoa(i), other) {
			return false
		}
	}
	switch node := node.(type) {
	case map[string]any:
		return placeInObject(node, at, yield)
	case []any:
		return placeInArray(node, at, yield)
	}
	return true
}

func placeInObject(node map[string]any, at string, yield func(at, what string, value any) bool) bool {
	if !yield(at+"/unknownMember", "is added", with(node, "unknownMember", 1.0)) {
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(node)) {
		inner := at + "/" + name
		without := maps.Clone(node)
		delete(without, name)
		if !yield(inner, "is missing", without) {
			return false
		}
		if !yield(inner, "is written in upper case", with(without, strings.ToUpper(name), node[name])) {
			return false
		}
		if !place(node[name], inner, func(at, what string, value any) bool {
			return yield(at, what, with(node, name, value))
		}) {
			return false
		}
	}
	return true
}

func placeInArray(node []any, at string, yield func(at, what string, value any) bool) bool {
	for i := range node {
		inner := at + "/*"
		if !yield(inner, "is taken out", slices.Delete(slices.Clone(node), i, i+1)) {
			return false
		}
		if !yield(inner, "comes twice", append(slices.Clone(node), node[i])) {
			return false
		}
		if !place(node[i], inner, func(at, what string, value any) bool {
			changed := slices.Clone(node)
			changed[i] = value
			return yield(at, what, changed)
		}) {
			return false
		}
	}
	return true
}

func with(object map[string]any, name string, value any) map[string]any {
	changed := maps.Clone(object)
	changed[name] = value
	return changed
}
