package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/dustin/go-humanize"
	"golang.org/x/mod/sumdb/note"

	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/audit/export"
	"github.com/ledgerd/ledgerd/internal/audit/storefile"
	"github.com/ledgerd/ledgerd/internal/backup"
	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/datadir"
	"github.com/ledgerd/ledgerd/internal/natsclient"
	"github.com/ledgerd/ledgerd/internal/progress"
	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/internal/tree/treestore"
	"github.com/ledgerd/ledgerd/projections"
)

// auditFlags say which ledger is checked.
type auditFlags struct {
	natsclient.Flags
	Source string `arg:"" optional:"" help:"A backup's directory or an export's file (- for standard input), instead of the ledger of --data-dir or --nats-url."`
}

// open opens it.
func (f auditFlags) open(ctx context.Context, streams cli.Streams, log *slog.Logger) (*audited, error) {
	if f.Source != "" {
		return openCopy(f.Source, streams)
	}
	return openAudited(ctx, f.Flags, log)
}

// openCopy opens a backup or an export.
func openCopy(path string, streams cli.Streams) (*audited, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		b, err := backup.Open(path)
		if err != nil {
			return nil, err
		}
		return &audited{source: b.Source(), name: path + ", a backup", heads: b.Heads(), treeHead: b.TreeHead, close: func() error { return nil }}, nil
	}
	open := func() (io.ReadCloser, error) { return os.Open(path) }
	if path == "-" {
		open = func() (io.ReadCloser, error) { return io.NopCloser(streams.In), nil }
	}
	return &audited{source: export.Source(path, open), name: path, close: func() error { return nil }}, nil
}

// audited is a ledger that is read to be checked.
type audited struct {
	source audit.Source
	name   string       // for people
	heads  []audit.Head // that came with it

	treeHead string // a signed one that came with it, "" when none did

	live  *source      // beside a daemon; else nil
	dir   *datadir.Dir // held, when no daemon runs; else nil
	close func() error
}

// openAudited opens the ledger that the flags name: the daemon that runs, as a
// reader; the files of a data directory when none does. No server is started on
// those: it would cut damaged files back before anybody has seen the damage.
func openAudited(ctx context.Context, flags natsclient.Flags, log *slog.Logger) (*audited, error) {
	if flags.NATSURL == "" {
		if _, err := datadir.ReadConnection(flags.DataDir); errors.Is(err, datadir.ErrNotRunning) {
			return openFiles(flags.DataDir)
		}
	}
	live, err := openSource(ctx, flags, log)
	if err != nil {
		return nil, err
	}
	name := flags.DataDir + ", beside its daemon"
	if flags.NATSURL != "" {
		name = flags.NATSURL
	}
	return &audited{source: audit.Live(live.arrivals, live.ledger), name: name, live: live, close: live.close}, nil
}

// openFiles holds a data directory, so that no daemon starts meanwhile.
func openFiles(dataDir string) (*audited, error) {
	dir, err := datadir.OpenExisting(dataDir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir.StoreDir()); errors.Is(err, os.ErrNotExist) {
		return nil, errors.CombineErrors(errors.WithHint(errors.Newf("%s holds no messages", dataDir),
			"a daemon that uses an external NATS server keeps none there: use --nats-url; what was lost comes back by `ledgerd restore`"), dir.Close())
	}
	return &audited{source: storefile.Ledger(dir.StoreDir()), name: dataDir + ", no daemon runs", dir: dir, close: dir.Close}, nil
}

// ledgerName is the ledger's id, "" where the source itself names it.
func (a *audited) ledgerName(ctx context.Context) (string, error) {
	switch {
	case a.dir != nil:
		return a.dir.LedgerID(), nil
	case a.live != nil:
		return a.live.ledger.Identity(ctx)
	}
	return "", nil
}

// remembered collects what a data directory remembers of the ledger: the views'
// position and the signed heads. A stream that lost its end looks healthy by
// itself.
func (a *audited) remembered(ctx context.Context, flags natsclient.Flags, databaseURL string) ([]audit.Memory, []audit.Head, error) {
	if own, err := a.owns(ctx, flags, databaseURL); err != nil || !own {
		return nil, nil, err
	}
	return memoryOf(ctx, flags.DataDir, databaseURL)
}

// owns reports whether the data directory is the ledger's. One that stands
// beside an external server may be another ledger's.
func (a *audited) owns(ctx context.Context, flags natsclient.Flags, databaseURL string) (bool, error) {
	if flags.NATSURL == "" {
		return true, nil
	}
	position, err := viewsPosition(ctx, flags.DataDir, databaseURL)
	if err != nil {
		return false, err
	}
	identity, err := a.live.ledger.Identity(ctx)
	return identity == position.Stream, err
}

// memoryOf is what a data directory remembers of its ledger.
func memoryOf(ctx context.Context, dataDir, databaseURL string) ([]audit.Memory, []audit.Head, error) {
	position, err := viewsPosition(ctx, dataDir, databaseURL)
	if err != nil {
		return nil, nil, err
	}
	heads, _, err := signedHeads(ctx, dataDir)
	return []audit.Memory{{Name: "whoever folds the views", Seq: position.Seq, Hash: position.Hash}}, heads, err
}

// viewsPosition is what the views have seen, nothing where there are none.
func viewsPosition(ctx context.Context, dataDir, databaseURL string) (at projections.Position, err error) {
	if databaseURL == "" {
		if _, err := os.Stat(filepath.Join(dataDir, viewsName)); errors.Is(err, os.ErrNotExist) {
			return at, nil
		}
	}
	store, err := openViews(ctx, dataDir, databaseURL)
	if err != nil {
		return at, err
	}
	defer func() { err = errors.CombineErrors(err, store.Close()) }()
	return store.Position(ctx)
}

// signedHeads are all heads that were signed, smallest first, each with a
// signature that holds, and their notes.
func signedHeads(ctx context.Context, dataDir string) (heads []audit.Head, notes []string, err error) {
	if _, err := os.Stat(treestore.File(dataDir)); errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	keys, err := treestore.ReadKeys(dataDir)
	if err != nil {
		return nil, nil, err
	}
	verifiers, err := keys.Verifiers()
	if err != nil {
		return nil, nil, err
	}
	store, err := treestore.Open(ctx, treestore.File(dataDir))
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.CombineErrors(err, store.Close()) }()
	for after := int64(-1); ; {
		some, err := store.Heads(ctx, after, headsPage)
		if err != nil || len(some) == 0 {
			return heads, notes, err
		}
		for _, kept := range some {
			head, err := auditedHead("the head signed "+kept.SignedAt.Format(time.RFC3339), kept.Note, verifiers)
			if err != nil {
				return nil, nil, err
			}
			heads, notes = append(heads, head), append(notes, kept.Note)
		}
		after = some[len(some)-1].Size
	}
}

// headsPage is how many heads are read at a time.
const headsPage = 1000

func auditedHead(name, text string, keys []note.Verifier) (audit.Head, error) {
	head, err := tree.OpenHead(text, keys...)
	if err != nil {
		return audit.Head{}, errors.Wrapf(err, "%s", name)
	}
	return audit.Head{Name: name, Size: uint64(head.Size), Root: head.Root}, nil
}

// walkBar shows how far a walk is, and how fast it was.
type walkBar struct {
	out   io.Writer
	what  string
	begun time.Time
	bar   *progress.Progress
	done  uint64
}

func newWalkBar(streams cli.Streams, what string) *walkBar {
	return &walkBar{out: streams.Err, what: what, begun: time.Now()}
}

// show is an audit.Progress.
func (b *walkBar) show(done, total uint64) {
	if b.bar == nil {
		b.bar = progress.Start(b.out, b.what, int64(total))
	}
	b.done = done
	b.bar.Set(int64(done))
}

// end clears the bar and gives the seconds that it was there.
func (b *walkBar) end() float64 {
	if b.bar != nil {
		b.bar.Done()
	}
	return time.Since(b.begun).Seconds()
}

// rate is so many of something a second, in words.
func rate(n uint64, seconds float64) string {
	return fmt.Sprintf("%s in %s (%s/s)", humanize.Comma(int64(n)), time.Duration(seconds*float64(time.Second)).Round(time.Millisecond),
		humanize.Comma(int64(perSecond(n, seconds))))
}

func perSecond(n uint64, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(n) / seconds
}
