package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/errors"
	natsjs "github.com/nats-io/nats.go/jetstream"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/audit/storefile"
	"github.com/ledgerd/ledgerd/internal/backup"
	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/datadir"
	"github.com/ledgerd/ledgerd/internal/natsclient"
	"github.com/ledgerd/ledgerd/internal/tree/treestore"
)

type backupCommand struct {
	natsclient.Flags
	keysFlags
	Dir         string `arg:"" help:"Where to; it must not exist, or be empty."`
	DatabaseURL string `placeholder:"URL" help:"Where the views are kept, when not in the data directory; they tell which directory is the ledger's."`
	JSON        bool   `name:"json" help:"Print the manifest."`
}

// keysFlags say where keys are kept apart.
type keysFlags struct {
	Keys   string `name:"keys" placeholder:"DIR" help:"Where the secret keys are kept apart (default: the backup's directory with .keys behind it)."`
	NoKeys bool   `name:"no-keys" help:"Leave the keys out."`
}

// dir is the keys' directory, "" when they are left out.
func (f keysFlags) dir(backup string) string {
	switch {
	case f.NoKeys:
		return ""
	case f.Keys != "":
		return f.Keys
	}
	return filepath.Clean(backup) + ".keys"
}

// Help is shown below the command's flags.
func (backupCommand) Help() string {
	return `Copies both streams into a directory, with hashes and counts, and verifies the copy with all evidence before it counts. It reads as any reader may, so it runs beside a daemon as well as without one, and the ledger goes on meanwhile. Credentials and signing keys go to a directory of their own, since the backup may be handed to whoever wants to check it: "ledgerd verify DIR" and "ledgerd replay DIR" do. Views are not backed up: they follow from the ledger.

Example:
  ledgerd backup /backups/2026-10-01
  ledgerd backup /backups/2026-10-01 --nats-url tls://nats.example.org --nats-creds reader.nk --no-keys`
}

func (c *backupCommand) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) (err error) {
	keysDir := c.dir(c.Dir)
	if keysDir != "" {
		if err := backup.CheckPlace(keysDir); err != nil {
			return err
		}
	}
	from, err := openAudited(ctx, c.Flags, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, from.close()) }()
	own, err := from.owns(ctx, c.Flags, c.DatabaseURL)
	if err != nil {
		return err
	}
	cfg, err := c.config(ctx, from, own)
	if err != nil {
		return err
	}
	bars := newBackupBars(streams)
	cfg.Writing, cfg.Checking = bars.stage("written"), bars.stage("verified")
	manifest, err := backup.Write(ctx, c.Dir, *cfg)
	bars.end()
	if err != nil {
		return err
	}
	fmt.Fprintf(streams.Err, "backed up %d arrivals and %d decisions to %s\n", manifest.Arrivals, manifest.Decisions, c.Dir)
	if keysDir != "" && own {
		files, err := keyFiles(c.DataDir)
		if err != nil {
			return err
		}
		if err := backup.WriteKeys(keysDir, c.DataDir, files); err != nil {
			return errors.Wrap(err, "the streams are backed up, the keys are not")
		}
		fmt.Fprintf(streams.Err, "backed up %d secret files to %s: keep them where nobody else reads\n", len(files), keysDir)
	}
	if c.JSON {
		return printJSON(streams.Out, manifest)
	}
	return nil
}

// config describes the ledger as the backup needs it.
func (c *backupCommand) config(ctx context.Context, from *audited, own bool) (*backup.Config, error) {
	cfg := &backup.Config{Source: from.source, Streams: map[string]*natsjs.StreamConfig{}, Now: time.Now()}
	var created time.Time
	for _, name := range []string{events.ArrivalsStream, events.LedgerStream} {
		var err error
		if from.live != nil {
			var stream natsjs.Stream
			if stream, err = from.live.js.Stream(ctx, name); err == nil {
				cfg.Streams[name], created = &stream.CachedInfo().Config, stream.CachedInfo().Created
			}
		} else {
			cfg.Streams[name], err = storefile.Config(from.dir.StoreDir(), name)
		}
		if err != nil {
			return nil, errors.Wrapf(err, "ask how %s was made", name)
		}
	}
	var err error
	if c.NATSURL == "" {
		cfg.Ledger, err = datadir.Describe(c.DataDir)
	} else {
		cfg.Ledger = describeStreams(cfg.Streams, created)
	}
	if err != nil || !own {
		return cfg, err
	}
	var notes []string
	if cfg.Heads, notes, err = signedHeads(ctx, c.DataDir); len(notes) > 0 {
		cfg.TreeHead = notes[len(notes)-1]
	}
	return cfg, err
}

// describeStreams is the data directory that an external ledger would have.
func describeStreams(streams map[string]*natsjs.StreamConfig, created time.Time) datadir.Description {
	arrivals, ledger := streams[events.ArrivalsStream], streams[events.LedgerStream]
	return datadir.Description{
		LedgerID: ledger.Metadata[jetstream.MetadataLedgerID],
		Created:  created.UTC().Truncate(time.Second),
		// What the streams reserve, and as much again for whatever else the
		// server keeps.
		StoreLimit: 2 * (max(arrivals.MaxBytes, 0) + max(ledger.MaxBytes, 0)),
	}
}

// keyFiles lists a data directory's secret files.
func keyFiles(dataDir string) ([]string, error) {
	var files []string
	for _, pattern := range []string{filepath.Join("credentials", "*.nk"), filepath.Join(filepath.Base(treestore.KeysDir(dataDir)), "*")} {
		found, err := filepath.Glob(filepath.Join(dataDir, pattern))
		if err != nil {
			return nil, errors.Wrap(err, "look for the keys")
		}
		for _, path := range found {
			relative, err := filepath.Rel(dataDir, path)
			if err != nil {
				return nil, errors.Wrap(err, "look for the keys")
			}
			files = append(files, relative)
		}
	}
	return files, nil
}

// backupBars show one bar after the other.
type backupBars struct {
	streams cli.Streams
	bar     *walkBar
}

func newBackupBars(streams cli.Streams) *backupBars { return &backupBars{streams: streams} }

// stage gives the progress of one stage, which begins with its first word.
func (b *backupBars) stage(what string) func(done, total uint64) {
	return func(done, total uint64) {
		if b.bar == nil || b.bar.what != what || done < b.bar.done {
			b.end()
			b.bar = newWalkBar(b.streams, what)
		}
		b.bar.show(done, total)
	}
}

func (b *backupBars) end() {
	if b.bar != nil {
		b.bar.end()
		b.bar = nil
	}
}

type restoreCommand struct {
	natsclient.Flags
	keysFlags
	Dir         string `arg:"" type:"existingdir" help:"What ledgerd backup wrote."`
	DatabaseURL string `placeholder:"URL" help:"Where the views are kept, when not in the data directory: a backup that lacks what they have seen is refused."`
	Replicas    int    `name:"nats-replicas" placeholder:"N" help:"Copies of each stream on --nats-url (default: as many as it had)."`
}

// Help is shown below the command's flags.
func (restoreCommand) Help() string {
	return `Verifies the backup with all evidence, brings both streams back with their sequences and times, and verifies them again. A --data-dir that does not exist becomes the ledger's, with the keys that were kept apart. In one that has lost its messages, or whose damaged ones were moved away, only the messages are brought back. With --nats-url, the provisioner's credentials and no daemon running the streams are made on that server. Nothing is ever replaced: a target that has the streams, or whose views or signed heads have seen more than the backup has, is refused. Views are made from the ledger when the daemon starts.

Example:
  ledgerd restore /backups/2026-10-01 --data-dir ./ledger-data
  mv ledger-data/nats ledger-data/nats.damaged && ledgerd restore /backups/2026-10-01`
}

func (c *restoreCommand) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) error {
	b, err := backup.Open(c.Dir)
	if err != nil {
		return err
	}
	cfg := backup.RestoreConfig{KeysDir: c.dir(c.Dir), Replicas: c.Replicas, Logger: log}
	if err := c.checkKeys(cfg.KeysDir); err != nil {
		return err
	}
	if cfg.Memories, cfg.Heads, err = c.remembered(ctx, b); err != nil {
		return err
	}
	bars := newBackupBars(streams)
	cfg.Checking = bars.stage("verified")
	restored := uint64(0)
	restoring := bars.stage("bytes restored")
	cfg.Restoring = func(bytes int64) { restored += uint64(bytes); restoring(restored, restored) }
	if c.NATSURL == "" {
		err = b.Restore(ctx, c.DataDir, cfg)
	} else {
		err = c.toServer(ctx, b, cfg, log)
	}
	bars.end()
	if err != nil {
		return err
	}
	fmt.Fprintf(streams.Err, "restored %d arrivals and %d decisions, and verified them; root %s\n", b.Arrivals, b.Decisions, b.Root)
	if c.NATSURL != "" && cfg.KeysDir != "" {
		fmt.Fprintf(streams.Err, "before its daemon starts, copy %s to the daemon's data directory: heads are then signed by the same key\n", filepath.Join(cfg.KeysDir, "keys"))
	}
	return nil
}

// checkKeys wants the keys where a new directory is made, or a word that new
// ones will do: without the old ones nobody's credentials work, and heads are
// signed by another key.
func (c *restoreCommand) checkKeys(dir string) error {
	if dir == "" || !c.makesDir() {
		return nil
	}
	if _, err := os.Stat(dir); err != nil {
		return errors.Mark(errors.WithHint(errors.Wrap(err, "find the keys"),
			"give --keys the directory that `ledgerd backup` wrote them to, or --no-keys for new ones: credentials that were handed out, and the signing key, are then others"), cli.ErrUsage)
	}
	return nil
}

// makesDir reports whether the data directory will be made anew.
func (c *restoreCommand) makesDir() bool {
	_, err := datadir.Describe(c.DataDir)
	return c.NATSURL == "" && errors.Is(err, datadir.ErrNoLedger)
}

// remembered collects what the target has seen of the ledger, and the head that
// came with the backup, when its signature can be checked.
func (c *restoreCommand) remembered(ctx context.Context, b *backup.Backup) ([]audit.Memory, []audit.Head, error) {
	var memories []audit.Memory
	var heads []audit.Head
	keysDir := c.dir(c.Dir)
	if position, err := viewsPosition(ctx, c.DataDir, c.DatabaseURL); err != nil {
		return nil, nil, err
	} else if c.NATSURL == "" && !c.makesDir() || c.NATSURL != "" && position.Stream == b.Ledger.LedgerID {
		if memories, heads, err = memoryOf(ctx, c.DataDir, c.DatabaseURL); err != nil {
			return nil, nil, err
		}
		keysDir = c.DataDir
	}
	head, err := backedUpHead(b, keysDir)
	return memories, append(heads, head...), err
}

// backedUpHead is the signed head that came with a backup, nothing when there
// are no keys to check it by.
func backedUpHead(b *backup.Backup, dir string) ([]audit.Head, error) {
	if b.TreeHead == "" || dir == "" {
		return nil, nil
	}
	keys, err := treestore.ReadKeys(dir)
	if errors.Is(err, treestore.ErrNoKeys) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	verifiers, err := keys.Verifiers()
	if err != nil {
		return nil, err
	}
	head, err := auditedHead("the head that came with the backup", b.TreeHead, verifiers)
	return []audit.Head{head}, err
}

// toServer restores onto a server of its own.
func (c *restoreCommand) toServer(ctx context.Context, b *backup.Backup, cfg backup.RestoreConfig, log *slog.Logger) error {
	conn, _, err := natsclient.Connect(ctx, c.Config(natsdeploy.Provisioner, "ledgerd restore", log))
	if err != nil {
		return err
	}
	defer conn.Close()
	return b.RestoreTo(ctx, conn, cfg)
}
