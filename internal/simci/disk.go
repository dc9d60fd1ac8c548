package simci

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"golang.org/x/sync/errgroup"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/internal/archive"
)

// Artifact is a job's pair of files.
type Artifact struct {
	Campaign   string // that it was measured for
	Archive    string // path of the zip file
	Provenance string // path of what the CI's API tells of it, as JSON
	Executions int
	AnyContent bool // a document is not strict JSON: readers must take it as it is
}

// WriteArtifacts runs the jobs, a few at a time: each writes its pair of files
// under dir, in a folder for its campaign, beside the campaign's opening
// (campaign.json). Artifacts come in a fixed order whatever job ends first.
func (ci *CI) WriteArtifacts(ctx context.Context, dir string) ([]Artifact, error) {
	for i := range ci.campaigns {
		folder := filepath.Join(dir, ci.campaigns[i].id)
		if err := os.MkdirAll(folder, 0o750); err != nil {
			return nil, errors.Wrap(err, "simci: make a campaign's folder")
		}
		if err := write(filepath.Join(folder, "campaign.json"), ci.opening(int32(i), false)); err != nil {
			return nil, err
		}
	}
	artifacts := make([]Artifact, len(ci.artifacts))
	jobs, ctx := errgroup.WithContext(ctx)
	jobs.SetLimit(runtime.GOMAXPROCS(0))
	for i := range ci.artifacts {
		artifacts[i] = ci.artifact(dir, int32(i))
		jobs.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return ci.runJob(int32(i), artifacts[i])
		})
	}
	return artifacts, jobs.Wait()
}

func (ci *CI) artifact(dir string, index int32) Artifact {
	a := &ci.artifacts[index]
	id := ci.campaigns[a.campaign].id
	name := filepath.Join(dir, id, fmt.Sprintf("job-%05d", index+1))
	return Artifact{
		Campaign:   id,
		Archive:    name + ".zip",
		Provenance: name + ".provenance.json",
		Executions: len(a.slots),
		AnyContent: a.variant == notJSON,
	}
}

func (ci *CI) runJob(index int32, files Artifact) error {
	packed := ci.pack(index)
	digest := digestOf(packed)
	ci.digests[index].Store(&digest)
	if err := write(files.Archive, packed); err != nil {
		return err
	}
	return write(files.Provenance, provenanceFile(ci.measurementAt(place{artifact: index}).provenance(digest)))
}

func write(name string, raw []byte) error {
	return errors.Wrap(os.WriteFile(name, raw, 0o640), "simci: write")
}

// ArrivalsFrom are the same arrivals as [CI.Arrivals], with every cell read
// back from what WriteArtifacts wrote under dir. Errors: ErrArtifacts, those of
// package archive, and the context's; the sequence ends with the first.
func (ci *CI) ArrivalsFrom(ctx context.Context, dir string) iter.Seq2[Arrival, error] {
	return func(yield func(Arrival, error) bool) {
		for i := range ci.steps {
			a, err := ci.readArrival(ctx, dir, i)
			if !yield(a, err) || err != nil {
				return
			}
		}
	}
}

func (ci *CI) readArrival(ctx context.Context, dir string, i int) (Arrival, error) {
	s := &ci.steps[i]
	if s.act != publishCell {
		return ci.arrival(i, ci.plainBody(s)), ctx.Err()
	}
	e, err := ci.readEvidence(ctx, dir, s.at)
	if err != nil {
		return Arrival{}, err
	}
	return ci.arrival(i, s.tamper.apply(e)), nil
}

// readEvidence reads a cell as a producer does: the provenance from its file,
// the documents and the archive's digest from the zip file.
func (ci *CI) readEvidence(ctx context.Context, dir string, at place) (*Evidence, error) {
	files := ci.artifact(dir, at.artifact)
	read, err := archive.Open(ctx, files.Archive, archive.Options{
		Documents:  archive.Documents(ci.policy.Documents),
		PathPrefix: ci.policy.ResultsPrefix,
		AnyContent: files.AnyContent,
	})
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(files.Provenance)
	if err != nil {
		return nil, errors.Wrap(err, "simci: read a provenance")
	}
	var provenance domain.Provenance
	if err := json.Unmarshal(raw, &provenance); err != nil {
		return nil, errors.Wrapf(errors.Mark(err, ErrArtifacts), "simci: %s", files.Provenance)
	}
	if provenance.ArchiveSHA256 != read.SHA256 {
		return nil, errors.WithHint(errors.Wrapf(ErrArtifacts, "%s is not what its provenance is about", files.Archive), "write the artifacts again")
	}
	folder := "/" + ci.measurementAt(at).executionID + "/"
	for _, e := range read.Executions {
		if strings.Contains(e.Result.Path, folder) {
			return &Evidence{Provenance: provenance, Execution: e}, nil
		}
	}
	return nil, errors.WithHint(errors.Wrapf(ErrArtifacts, "%s has no execution in %s", files.Archive, folder), "write the artifacts again")
}
