package domain

import "unicode/utf8"

// MaxStringBytes is how much of a producer's string a record repeats. Longer
// ones are cut; ids and keys longer than this are refused before they get
// here.
const MaxStringBytes = 512

// cut shortens s to MaxStringBytes on a rune boundary.
func cut(s string) string {
	if len(s) <= MaxStringBytes {
		return s
	}
	end := MaxStringBytes
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// cut shortens every string of p that a producer wrote.
func (p Provenance) cut() Provenance {
	p.Repository = cut(p.Repository)
	p.Workflow = cut(p.Workflow)
	p.WorkflowRef = cut(p.WorkflowRef)
	p.RunID = cut(p.RunID)
	p.ArtifactID = cut(p.ArtifactID)
	p.ArchiveSHA256 = cut(p.ArchiveSHA256)
	p.TargetSourceRevision = cut(p.TargetSourceRevision)
	return p
}

// cut shortens every string of f that a producer wrote and no gate has fixed.
func (f CellFacts) cut() CellFacts {
	f.Cleanup = cut(f.Cleanup)
	f.CaseID = cut(f.CaseID)
	f.StartedAt = cut(f.StartedAt)
	f.FinishedAt = cut(f.FinishedAt)
	return f
}

// cut shortens the coverage, the only string in a usage.
func (u Usage) cut() Usage {
	u.Coverage = cut(u.Coverage)
	return u
}
