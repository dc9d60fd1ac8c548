package backup

import (
	"context"
	"io"
	"path/filepath"

	"github.com/ledgerd/ledgerd/internal/audit"
)

// Backup is a backup in a directory.
type Backup struct {
	Manifest
	dir string
}

// Open finds a backup. Its files are looked at by whoever walks it. Error:
// ErrNoBackup.
func Open(dir string) (*Backup, error) {
	manifest, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	return &Backup{Manifest: *manifest, dir: dir}, nil
}

// Source is the ledger in the backup. A walk begins with hashing every file;
// what was changed is found before anything else.
func (b *Backup) Source() audit.Source { return source{b} }

// Heads are what the manifest says of the tree: the backup must have the root
// that it was made with.
func (b *Backup) Heads() []audit.Head {
	return []audit.Head{{Name: "the manifest", Size: b.Decisions, Root: b.Root}}
}

// Memories are likewise what the manifest says of the last record.
func (b *Backup) Memories() []audit.Memory {
	return []audit.Memory{{Name: "the manifest", Seq: b.Decisions, Hash: b.Last}}
}

// Verify finds out whether the backup is sound, and continues what others have
// seen of the ledger. Findings with audit.ProblemLostEnd that are not the
// manifest's mean that they have seen more.
func (b *Backup) Verify(ctx context.Context, heads []audit.Head, memories []audit.Memory, progress audit.Progress) (*audit.Verified, error) {
	return audit.Verify(ctx, audit.VerifyConfig{
		Source: b.Source(), Evidence: true, Heads: append(b.Heads(), heads...), Memories: append(b.Memories(), memories...), Progress: progress,
	})
}

// source walks a backup.
type source struct{ backup *Backup }

func (s source) Walk(ctx context.Context, what audit.Selection) (audit.Walk, error) {
	found, err := s.backup.checkFiles()
	if err != nil {
		return nil, err
	}
	walk, err := sourceOf(s.backup.dir, &s.backup.Manifest).Walk(ctx, what)
	if err != nil {
		if len(found) > 0 { // a file is gone, and is named
			return &foundWalk{found: found}, nil
		}
		return nil, err
	}
	return &foundWalk{Walk: walk, found: found, name: s.backup.Ledger.LedgerID}, nil
}

// checkFiles hashes every file.
func (b *Backup) checkFiles() ([]audit.Finding, error) {
	hashes, err := readSums(b.dir)
	if err != nil {
		return []audit.Finding{{Problem: audit.ProblemManifest, File: filepath.Join(b.dir, sumsName), Detail: err.Error()}}, nil
	}
	changed, err := hashes.check(b.dir)
	if err != nil {
		return nil, err
	}
	var found []audit.Finding
	for _, file := range changed {
		found = append(found, audit.Finding{Problem: audit.ProblemFile, File: filepath.Join(b.dir, filepath.FromSlash(file.name)), Detail: file.detail})
	}
	for _, name := range append([]string{manifestName}, streamFiles()...) {
		if _, named := hashes[name]; !named {
			found = append(found, audit.Finding{Problem: audit.ProblemManifest, File: filepath.Join(b.dir, sumsName), Detail: "it does not name " + name})
		}
	}
	return found, nil
}

func streamFiles() []string {
	var names []string
	for _, stream := range streams {
		names = append(names, stream+"/"+archiveName, stream+"/"+configName)
	}
	return names
}

// foundWalk is a walk with findings before it.
type foundWalk struct {
	audit.Walk // nil when nothing can be walked
	found      []audit.Finding
	name       string
}

// Ledger is the name of the ledger that was backed up.
func (w *foundWalk) Ledger() string { return w.name }

func (w *foundWalk) Last() uint64 {
	if w.Walk == nil {
		return 0
	}
	return w.Walk.Last()
}

func (w *foundWalk) Close() error {
	if w.Walk == nil {
		return nil
	}
	return w.Walk.Close()
}

func (w *foundWalk) Next(ctx context.Context) (audit.Portion, error) {
	if w.Walk == nil {
		found := w.found
		w.found = nil
		return audit.Portion{Found: found}, io.EOF
	}
	portion, err := w.Walk.Next(ctx)
	portion.Found = append(w.found, portion.Found...)
	w.found = nil
	return portion, err
}
