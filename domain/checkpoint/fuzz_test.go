package checkpoint_test

import (
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// FuzzProject takes records as key and text on two lines each, and any JSON
// for the rest: there is an answer, and the slice gives the same.
func FuzzProject(f *testing.F) {
	for i, r := range vectors(f) {
		if i%32 != 0 {
			continue
		}
		var lines []string
		for _, record := range r.cp.Records {
			lines = append(lines, record.Key, record.Text)
		}
		f.Add(strings.Join(lines, "\n"), jsonOf(r.publication), jsonOf(r.workspace), jsonOf(r.cp.RunID), jsonOf(r.cp.RecoveryEvidence))
	}
	f.Add("header\nnull\nevent:1\n[]\nevent:1", "{}", "null", "1", "{}")
	f.Fuzz(func(t *testing.T, records, publication, workspace, runID, evidence string) {
		var r read
		for _, part := range []struct {
			into *strictjson.Value
			from string
		}{{&r.publication, publication}, {&r.workspace, workspace}, {&r.cp.RunID, runID}, {&r.cp.RecoveryEvidence, evidence}} {
			*part.into, _ = strictjson.Parse([]byte(part.from)) // undefined when it is no JSON
		}
		lines := strings.Split(records, "\n")
		for i := 0; i+1 < len(lines); i += 2 {
			r.cp.Records = append(r.cp.Records, checkpoint.Record{Key: lines[i], Text: lines[i+1]})
		}
		sameAnswer(t, r)
	})
}
