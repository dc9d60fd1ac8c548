package backup

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/audit/storefile"
	"github.com/ledgerd/ledgerd/internal/datadir"
	"github.com/ledgerd/ledgerd/internal/natsserver"
)

// RestoreConfig says how a backup is brought back.
type RestoreConfig struct {
	KeysDir  string // what WriteKeys wrote; "": new keys are made
	Replicas int    // copies of each stream on a server of its own; 0: as many as it had

	// What the target remembers of the ledger. A backup that lacks some of it
	// is refused.
	Heads    []audit.Head
	Memories []audit.Memory

	Checking  audit.Progress    // of the backup, and then of what was restored
	Restoring func(bytes int64) // told of each piece of the archives
	Logger    *slog.Logger
}

// Restore brings a backup back into a data directory that no process holds. A
// directory that does not exist or is empty becomes the ledger's, keys included.
// In one that is the ledger's and has lost its messages only those are brought
// back. Whatever fails, the directory is then as it was. Errors: ErrTaken,
// ErrMovedOn, ErrOtherLedger, ErrDamaged, those of datadir.
func (b *Backup) Restore(ctx context.Context, dataDir string, cfg RestoreConfig) error {
	dataDir, err := filepath.Abs(dataDir)
	if err != nil {
		return errors.Wrap(err, "find the data directory")
	}
	if _, err := datadir.Describe(dataDir); !errors.Is(err, datadir.ErrNoLedger) {
		return b.restoreMessages(ctx, dataDir, &cfg)
	}
	if err := CheckPlace(dataDir); err != nil {
		return err
	}
	if err := b.acceptable(ctx, &cfg); err != nil {
		return err
	}
	unfinished := dataDir + unfinishedSuffix
	if err := os.RemoveAll(unfinished); err != nil { // a crash left it
		return errors.Wrap(err, "remove an unfinished restore")
	}
	err = b.restoreDir(ctx, unfinished, &cfg)
	if err == nil {
		err = putInPlace(unfinished, dataDir)
	}
	if err != nil {
		return errors.CombineErrors(err, os.RemoveAll(unfinished))
	}
	return nil
}

// restoreDir makes a whole data directory.
func (b *Backup) restoreDir(ctx context.Context, path string, cfg *RestoreConfig) (err error) {
	if err := datadir.Recreate(path, b.Ledger); err != nil {
		return err
	}
	if cfg.KeysDir != "" {
		if err := restoreKeys(cfg.KeysDir, path); err != nil {
			return err
		}
	}
	dir, err := datadir.Open(path) // makes the keys that are missing
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, dir.Close()) }()
	return b.restoreStore(ctx, dir, dir.StoreDir(), cfg)
}

// restoreMessages brings the messages back into a directory that has everything
// else.
func (b *Backup) restoreMessages(ctx context.Context, dataDir string, cfg *RestoreConfig) (err error) {
	dir, err := datadir.OpenExisting(dataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, dir.Close()) }()
	if dir.LedgerID() != b.Ledger.LedgerID {
		return errors.WithHint(errors.Wrapf(ErrOtherLedger, "%s is ledger %s, the backup is of %s", dataDir, dir.LedgerID(), b.Ledger.LedgerID),
			"give --data-dir a directory that does not exist, or the one that the backup was made of")
	}
	if err := b.checkStore(ctx, dir); err != nil {
		return err
	}
	if err := b.acceptable(ctx, cfg); err != nil {
		return err
	}
	unfinished := dir.StoreDir() + restoringSuffix
	if err := os.RemoveAll(unfinished); err != nil { // a crash left it
		return errors.Wrap(err, "remove an unfinished restore")
	}
	err = b.restoreStore(ctx, dir, unfinished, cfg)
	if err == nil {
		err = putInPlace(unfinished, dir.StoreDir())
	}
	if err != nil {
		return errors.CombineErrors(err, os.RemoveAll(unfinished))
	}
	return nil
}

// checkStore refuses a directory that has messages, and says how many.
func (b *Backup) checkStore(ctx context.Context, dir *datadir.Dir) error {
	free := CheckPlace(dir.StoreDir())
	if !errors.Is(free, ErrTaken) {
		return free
	}
	there, err := audit.Verify(ctx, audit.VerifyConfig{Source: storefile.Ledger(dir.StoreDir())})
	if err == nil && there.Decisions > b.Decisions {
		return b.movedOn(there.Decisions, "%s there ends at sequence %d", events.LedgerStream, there.Decisions)
	}
	err = errors.Wrapf(ErrTaken, "%s holds messages", dir.StoreDir())
	if there != nil && !there.Sound() {
		err = errors.Wrapf(ErrTaken, "%s holds messages, and %d findings, the first: %s", dir.StoreDir(), there.Damage, there.Found[0])
	}
	return errors.WithHintf(err, "messages are never replaced. When they are damaged beyond use keep them under another name (mv %s %s.damaged) and restore again; or restore into another --data-dir",
		dir.StoreDir(), dir.StoreDir())
}

// acceptable makes sure that the backup is sound and lacks nothing that the
// target remembers.
func (b *Backup) acceptable(ctx context.Context, cfg *RestoreConfig) error {
	verified, err := b.Verify(ctx, nil, nil, cfg.Checking)
	switch {
	case err != nil:
		return err
	case !verified.Sound():
		return errors.WithHint(errors.Wrapf(ErrDamaged, "the first of %d findings: %s", verified.Damage, verified.Found[0]), "nothing was restored: take another backup")
	case len(cfg.Heads)+len(cfg.Memories) == 0:
		return nil
	}
	remembered, err := b.Verify(ctx, cfg.Heads, cfg.Memories, cfg.Checking)
	if err != nil || remembered.Sound() {
		return err
	}
	var most uint64
	for _, head := range cfg.Heads {
		most = max(most, head.Size)
	}
	for _, memory := range cfg.Memories {
		most = max(most, memory.Seq)
	}
	for _, found := range remembered.Found {
		if found.Problem != audit.ProblemLostEnd {
			return errors.WithHint(errors.Wrapf(ErrOtherLedger, "%s", found), "the backup is of another history than the directory remembers; restore it into another --data-dir to look at it")
		}
	}
	return b.movedOn(most, "%s", remembered.Found[0])
}

// restoreStore fills a store directory that does not count yet, and verifies the
// files. They are synced at the end, all at once.
func (b *Backup) restoreStore(ctx context.Context, dir *datadir.Dir, store string, cfg *RestoreConfig) error {
	if err := b.runServer(ctx, dir, store, cfg); err != nil {
		return err
	}
	if err := b.checkRestored(ctx, storefile.Ledger(store), cfg); err != nil {
		return err
	}
	return syncFiles(store)
}

func (b *Backup) runServer(ctx context.Context, dir *datadir.Dir, store string, cfg *RestoreConfig) error {
	keys := map[natsdeploy.Role]string{}
	for _, role := range natsdeploy.Outside() {
		key, err := dir.PublicKey(role)
		if err != nil {
			return err
		}
		keys[role] = key
	}
	server, err := natsserver.Start(ctx, natsserver.Config{
		StoreDir: store, LedgerID: dir.LedgerID(), MaxStoreBytes: dir.StoreLimit(), RelaxedSync: true, Logger: cfg.Logger,
		Operator: keys[natsdeploy.Operator], Coordinator: keys[natsdeploy.Coordinator], Reader: keys[natsdeploy.Reader],
	})
	if err != nil {
		return err
	}
	defer server.Stop()
	conn, err := server.InProcess(natsdeploy.Provisioner, nats.Name("ledgerd restore"))
	if err != nil {
		return err
	}
	defer conn.Close()
	return b.restoreStreams(ctx, conn, 1, cfg.Restoring)
}

// checkRestored verifies what was restored.
func (b *Backup) checkRestored(ctx context.Context, restored audit.Source, cfg *RestoreConfig) error {
	verified, err := audit.Verify(ctx, audit.VerifyConfig{Source: restored, Evidence: true, Heads: b.Heads(), Memories: b.Memories(), Progress: cfg.Checking})
	switch {
	case err != nil:
		return err
	case !verified.Sound():
		return errors.Wrapf(ErrDamaged, "what was restored is not what the backup has: %s", verified.Found[0])
	case verified.Arrivals != b.Arrivals || verified.Decisions != b.Decisions:
		return errors.Wrapf(ErrDamaged, "%d arrivals and %d decisions were restored, and the backup has %d and %d", verified.Arrivals, verified.Decisions, b.Arrivals, b.Decisions)
	}
	return nil
}

// syncFiles makes the files below a directory survive a power failure.
func syncFiles(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		return syncFile(path)
	})
}

func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return errors.Wrap(err, "sync a file")
	}
	err = file.Sync()
	return errors.Wrap(errors.CombineErrors(err, file.Close()), "sync a file")
}
