package backup

import (
	"context"
	stdjson "encoding/json" // the server's own types are marshalled as it does
	"io"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/cockroachdb/errors"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/datadir"
)

// Config says what is backed up.
type Config struct {
	Source   audit.Source
	Ledger   datadir.Description
	Streams  map[string]*natsjs.StreamConfig // how ARRIVALS and LEDGER were made
	TreeHead string                          // a signed head, "" when none was signed
	Heads    []audit.Head                    // every signed head; the backup must continue those that it reaches
	Now      time.Time

	Writing  audit.Progress
	Checking audit.Progress
}

// Write makes a backup in a directory, which must not exist or be empty. It
// counts when Write returns: everything was read back from the files and found
// sound. Errors: ErrTaken, ErrDamaged when the ledger is not sound (nothing is
// left of the backup then), the source's.
func Write(ctx context.Context, dir string, cfg Config) (*Manifest, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, errors.Wrap(err, "find the directory")
	}
	if err := CheckPlace(dir); err != nil {
		return nil, err
	}
	unfinished := dir + unfinishedSuffix
	if err := os.RemoveAll(unfinished); err != nil { // a crash left it
		return nil, errors.Wrap(err, "remove an unfinished backup")
	}
	manifest, err := writeAll(ctx, unfinished, &cfg)
	if err == nil {
		err = putInPlace(unfinished, dir)
	}
	if err != nil {
		return nil, errors.CombineErrors(err, os.RemoveAll(unfinished))
	}
	return manifest, nil
}

func writeAll(ctx context.Context, dir string, cfg *Config) (*Manifest, error) {
	hashes := sums{}
	manifest := &Manifest{Ledgerd: magic, Format: format, Created: cfg.Now.UTC().Truncate(time.Second), Ledger: cfg.Ledger, TreeHead: cfg.TreeHead}
	if err := writeStreams(ctx, dir, cfg, hashes, manifest); err != nil {
		return nil, err
	}
	if err := check(ctx, dir, cfg, manifest); err != nil {
		return nil, err
	}
	raw, err := manifest.print()
	if err != nil {
		return nil, err
	}
	if hashes[manifestName], err = writeWhole(filepath.Join(dir, manifestName), raw); err != nil {
		return nil, err
	}
	if _, err := writeWhole(filepath.Join(dir, sumsName), hashes.print()); err != nil {
		return nil, err
	}
	changed, err := hashes.check(dir)
	if err == nil && len(changed) > 0 {
		err = errors.Wrapf(ErrDamaged, "%s: %s", changed[0].name, changed[0].detail)
	}
	return manifest, err
}

// writeStreams writes both archives, and counts.
func writeStreams(ctx context.Context, dir string, cfg *Config, hashes sums, manifest *Manifest) (err error) {
	archivers := map[string]*archiver{}
	for _, name := range streams {
		if archivers[name], err = newArchiver(filepath.Join(dir, name, archiveName)); err != nil {
			return err
		}
	}
	err = copyAll(ctx, cfg, archivers[events.ArrivalsStream], archivers[events.LedgerStream])
	for _, name := range streams {
		sum, finished := archivers[name].finish()
		err = errors.CombineErrors(err, finished)
		hashes[path.Join(name, archiveName)] = sum
	}
	if err != nil {
		return err
	}
	for _, name := range streams {
		config, err := stdjson.MarshalIndent(streamFile{cfg.Streams[name], archivers[name].state}, "", "  ")
		if err != nil {
			return errors.Wrapf(err, "print how %s was made", name)
		}
		if hashes[path.Join(name, configName)], err = writeWhole(filepath.Join(dir, name, configName), append(config, '\n')); err != nil {
			return err
		}
	}
	manifest.Arrivals = archivers[events.ArrivalsStream].state.Messages
	manifest.Decisions = archivers[events.LedgerStream].state.Messages
	return nil
}

// streams are both, in the order in which they are brought back: whoever finds
// LEDGER finds what it answers.
var streams = []string{events.ArrivalsStream, events.LedgerStream}

func copyAll(ctx context.Context, cfg *Config, arrivals, ledger *archiver) (err error) {
	walk, err := cfg.Source.Walk(ctx, audit.Selection{Arrivals: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, walk.Close()) }()
	for {
		portion, err := walk.Next(ctx)
		if len(portion.Found) > 0 {
			return unsound(portion.Found[0], len(portion.Found))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, pair := range portion.Pairs {
			if pair.Arrival != nil {
				arrivals.message(pair.Arrival)
			}
			if pair.Decision != nil {
				ledger.message(pair.Decision)
			}
		}
		if err := errors.CombineErrors(arrivals.err, ledger.err); err != nil {
			return errors.Wrap(err, "write an archive")
		}
		if n := len(portion.Pairs); n > 0 && cfg.Writing != nil {
			cfg.Writing(portion.Pairs[n-1].Seq, max(walk.Last(), portion.Pairs[n-1].Seq))
		}
	}
}

// check verifies the ledger from the files that were written, and completes the
// manifest.
func check(ctx context.Context, dir string, cfg *Config, manifest *Manifest) error {
	var heads []audit.Head
	for _, head := range cfg.Heads {
		if head.Size <= manifest.Decisions { // later ones were signed after the end was fixed
			heads = append(heads, head)
		}
	}
	verified, err := audit.Verify(ctx, audit.VerifyConfig{Source: sourceOf(dir, manifest), Evidence: true, Heads: heads, Progress: cfg.Checking})
	switch {
	case err != nil:
		return err
	case !verified.Sound():
		return unsound(verified.Found[0], verified.Damage)
	}
	manifest.Root, manifest.Last = *verified.Root, verified.Last
	return nil
}

func unsound(first audit.Finding, n int) error {
	return errors.WithHint(errors.Wrapf(ErrDamaged, "the first of %d findings: %s", n, first),
		"what is not sound is not backed up; `ledgerd verify --evidence` names all of it. Keep a copy of the files as they are")
}

// sourceOf reads both streams of a backup.
func sourceOf(dir string, manifest *Manifest) audit.Streams {
	of := func(name string, want uint64) audit.Stream {
		return &archived{path: filepath.Join(dir, name, archiveName), name: name, file: filepath.Join(dir, name, archiveName), want: want}
	}
	return audit.Streams{Arrivals: of(events.ArrivalsStream, manifest.Arrivals), Ledger: of(events.LedgerStream, manifest.Decisions)}
}
