package backup_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
	natsjs "github.com/nats-io/nats.go/jetstream"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/audit/audittest"
	"github.com/ledgerd/ledgerd/internal/audit/storefile"
	"github.com/ledgerd/ledgerd/internal/backup"
	"github.com/ledgerd/ledgerd/internal/simci"
)

// TestThereAndBack backs up a stopped directory, restores it elsewhere, and has
// the restored ledger go on.
func TestThereAndBack(t *testing.T) {
	from := dataDir(t, simci.Demo(2))
	before := verify(t, storefile.Ledger(storeOf(from)))
	b, dir := backUp(t, config(t, from))
	if b.Decisions != before.Decisions || b.Arrivals != before.Arrivals || b.Root != *before.Root || b.Last != before.Last || b.Ledger != description || !b.Created.Equal(now) {
		t.Errorf("%+v, want %+v", b.Manifest, before)
	}
	want := []string{"ARRIVALS/backup.json", "ARRIVALS/stream.arc.s2", "LEDGER/backup.json", "LEDGER/stream.arc.s2", "SHA256SUMS", "manifest.json"}
	if got := names(t, dir); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if sha256sum, err := exec.LookPath("sha256sum"); err == nil {
		cmd := exec.Command(sha256sum, "-c", "SHA256SUMS")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v", out, err)
		}
	}
	replayed, err := audit.Replay(audittest.WithPatience(t), audit.ReplayConfig{Source: b.Source()})
	if err != nil || !replayed.Same() || *replayed.Root != *before.Root {
		t.Errorf("%+v, %v", replayed, err)
	}

	to := filepath.Join(t.TempDir(), "restored")
	must(t, b.Restore(audittest.WithPatience(t), to, quiet()))
	for _, name := range []string{events.ArrivalsStream, events.LedgerStream} {
		sameMessages(t, storefile.Stream(storeOf(from), name), storefile.Stream(storeOf(to), name))
		sameConfig(t, storeOf(from), storeOf(to), name)
	}
	s := audittest.Start(t, storeOf(to)) // the streams fit what a daemon wants
	ci, err := simci.New(simci.Config{Seed: 9, Prefix: "later"})
	must(t, err)
	s.Publish(audittest.Arrivals(t, ci))
	s.Decide()
	if after := verify(t, s.Source()); !after.Sound() || after.Decisions <= before.Decisions {
		t.Errorf("%+v", after)
	}
}

func sameMessages(t *testing.T, a, b audit.Stream) {
	t.Helper()
	var all [2][]events.Message
	for i, stream := range []audit.Stream{a, b} {
		reader, err := stream.Open(audittest.WithPatience(t), "")
		must(t, err)
		for {
			messages, found, err := reader.Next(audittest.WithPatience(t))
			if len(found) > 0 {
				t.Fatal(found)
			}
			if err != nil {
				break
			}
			all[i] = append(all[i], messages...)
		}
	}
	if len(all[0]) == 0 || !reflect.DeepEqual(all[0], all[1]) {
		t.Errorf("%d messages, and %d others", len(all[0]), len(all[1]))
	}
}

func sameConfig(t *testing.T, from, to, name string) {
	t.Helper()
	a, err := storefile.Config(from, name)
	must(t, err)
	b, err := storefile.Config(to, name)
	must(t, err)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%s was made as %+v, and now as %+v", name, a, b)
	}
}

// TestBesideADaemon backs up as a reader may, with arrivals that are not decided
// yet, and decides them after the restore.
func TestBesideADaemon(t *testing.T) {
	ci, err := simci.New(simci.Demo(2))
	must(t, err)
	batch := audittest.Arrivals(t, ci)
	s := audittest.Start(t, t.TempDir())
	s.Publish(batch[:100])
	s.Decide()
	s.Publish(batch[100:])
	cfg := backup.Config{Source: s.Source(), Ledger: description, Streams: map[string]*natsjs.StreamConfig{}, Now: now}
	js, err := natsjs.NewWithAPIPrefix(s.As(natsdeploy.Reader), natsdeploy.ReaderAPI)
	must(t, err)
	for _, name := range []string{events.ArrivalsStream, events.LedgerStream} {
		stream, err := js.Stream(audittest.WithPatience(t), name)
		must(t, err)
		cfg.Streams[name] = &stream.CachedInfo().Config
	}
	b, _ := backUp(t, cfg)
	if b.Decisions != 100 || b.Arrivals != uint64(len(batch)) {
		t.Errorf("%+v", b.Manifest)
	}
	to := filepath.Join(t.TempDir(), "restored")
	must(t, b.Restore(audittest.WithPatience(t), to, quiet()))
	restored := audittest.Start(t, storeOf(to))
	restored.Decide()
	s.Decide()
	if one, other := verify(t, s.Source()), verify(t, restored.Source()); *one.Root != *other.Root || !other.Sound() {
		t.Errorf("decided later the roots are %s and %s", one.Root, other.Root)
	}
}

// TestOfNothing: an empty ledger is one.
func TestOfNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	audittest.Start(t, storeOf(path)).Stop()
	b, _ := backUp(t, config(t, path))
	to := filepath.Join(t.TempDir(), "restored")
	must(t, b.Restore(audittest.WithPatience(t), to, quiet()))
	s := audittest.Start(t, storeOf(to))
	ci, err := simci.New(small())
	must(t, err)
	s.Publish(audittest.Arrivals(t, ci))
	s.Decide()
	if after := verify(t, s.Source()); !after.Sound() || after.Decisions == 0 {
		t.Errorf("%+v", after)
	}
}

// TestToAServer restores by the provisioner's connection onto a server of its
// own, once.
func TestToAServer(t *testing.T) {
	b, _ := backUp(t, config(t, dataDir(t, simci.Demo(2))))
	s := audittest.Bare(t, t.TempDir())
	conn := s.InProcessAs(natsdeploy.Provisioner)
	must(t, b.RestoreTo(audittest.WithPatience(t), conn, quiet()))
	if after := verify(t, s.Source()); !after.Sound() || *after.Root != b.Root {
		t.Errorf("%+v", after)
	}
	if err := b.RestoreTo(audittest.WithPatience(t), conn, quiet()); !errors.Is(err, backup.ErrTaken) {
		t.Error(err)
	}
	ci, err := simci.New(small())
	must(t, err)
	s.Publish(audittest.Arrivals(t, ci))
	s.Decide()
	if err := b.RestoreTo(audittest.WithPatience(t), conn, quiet()); !errors.Is(err, backup.ErrMovedOn) {
		t.Error(err)
	}
}

func TestKeys(t *testing.T) {
	from := dataDir(t, small())
	b, _ := backUp(t, config(t, from))
	keys := filepath.Join(t.TempDir(), "keys")
	files := []string{"credentials/operator.nk", "credentials/coordinator.nk", "credentials/reader.nk"}
	must(t, backup.WriteKeys(keys, from, files))
	if err := backup.WriteKeys(keys, from, files); !errors.Is(err, backup.ErrTaken) {
		t.Error(err)
	}
	to := filepath.Join(t.TempDir(), "restored")
	cfg := quiet()
	cfg.KeysDir = keys
	must(t, b.Restore(audittest.WithPatience(t), to, cfg))
	for _, name := range files {
		one, err := os.ReadFile(filepath.Join(from, name))
		must(t, err)
		other, err := os.ReadFile(filepath.Join(to, name))
		must(t, err)
		if string(one) != string(other) {
			t.Errorf("%s is another one", name)
		}
		for _, dir := range []string{to, keys} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
		}
	}
	for _, name := range names(t, keys) {
		path := filepath.Join(keys, name)
		content, err := os.ReadFile(path)
		must(t, err)
		content[len(content)/2] ^= 1
		must(t, os.WriteFile(path, content, 0o600))
		elsewhere := filepath.Join(t.TempDir(), "x")
		if err := b.Restore(audittest.WithPatience(t), elsewhere, cfg); !errors.Is(err, backup.ErrDamaged) {
			t.Errorf("%s changed: %v", name, err)
		}
		if left, _ := filepath.Glob(elsewhere + "*"); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		content[len(content)/2] ^= 1
		must(t, os.WriteFile(path, content, 0o600))
	}
}

// TestNewKeys: without the old ones a restored directory gets its own.
func TestNewKeys(t *testing.T) {
	from := dataDir(t, small())
	b, _ := backUp(t, config(t, from))
	to := filepath.Join(t.TempDir(), "restored")
	must(t, b.Restore(audittest.WithPatience(t), to, quiet()))
	one, err := os.ReadFile(filepath.Join(from, "credentials/operator.nk"))
	must(t, err)
	other, err := os.ReadFile(filepath.Join(to, "credentials/operator.nk"))
	must(t, err)
	if string(one) == string(other) {
		t.Error("the keys are the old ones")
	}
}

// TestWhatIsRefused: each with its reason, and nothing is changed.
func TestWhatIsRefused(t *testing.T) {
	from := dataDir(t, small())
	b, dir := backUp(t, config(t, from))
	before := verify(t, storefile.Ledger(storeOf(from)))
	ctx := audittest.WithPatience(t)

	if _, err := backup.Write(ctx, dir, config(t, from)); !errors.Is(err, backup.ErrTaken) {
		t.Errorf("over another backup: %v", err)
	}
	if err := b.Restore(ctx, dir, quiet()); !errors.Is(err, backup.ErrTaken) {
		t.Errorf("into a directory with other things: %v", err)
	}
	if err := b.Restore(ctx, from, quiet()); !errors.Is(err, backup.ErrTaken) {
		t.Errorf("over the same messages: %v", err)
	}

	ci, err := simci.New(simci.Config{Seed: 9, Prefix: "later", Scenarios: 1})
	must(t, err)
	s := audittest.Start(t, storeOf(from))
	s.Publish(audittest.Arrivals(t, ci))
	s.Decide()
	s.Stop()
	moved := verify(t, storefile.Ledger(storeOf(from)))
	err = b.Restore(ctx, from, quiet())
	if !errors.Is(err, backup.ErrMovedOn) || !strings.Contains(errors.FlattenHints(err), "would be lost") {
		t.Errorf("over more messages: %v", err)
	}

	must(t, os.Rename(storeOf(from), storeOf(from)+".damaged"))
	cfg := quiet()
	cfg.Memories = []audit.Memory{{Name: "the views", Seq: moved.Decisions, Hash: moved.Last}}
	if err := b.Restore(ctx, from, cfg); !errors.Is(err, backup.ErrMovedOn) || !strings.Contains(err.Error(), "the views") {
		t.Errorf("the views have seen more: %v", err)
	}
	cfg.Memories = nil
	cfg.Heads = []audit.Head{{Name: "a signed head", Size: moved.Decisions, Root: *moved.Root}}
	if err := b.Restore(ctx, from, cfg); !errors.Is(err, backup.ErrMovedOn) || !strings.Contains(err.Error(), "a signed head") {
		t.Errorf("more was signed: %v", err)
	}
	cfg.Heads = []audit.Head{{Name: "a signed head", Size: 2, Root: *moved.Root}}
	if err := b.Restore(ctx, from, cfg); !errors.Is(err, backup.ErrOtherLedger) {
		t.Errorf("another history was signed: %v", err)
	}

	other := filepath.Join(t.TempDir(), "other")
	b.Ledger.LedgerID = strings.Repeat("f", 32)
	must(t, os.Rename(from, other))
	if err := b.Restore(ctx, other, quiet()); !errors.Is(err, backup.ErrOtherLedger) {
		t.Errorf("into another ledger: %v", err)
	}
	b.Ledger.LedgerID = audittest.LedgerID
	cfg.Heads = nil
	cfg.Memories = []audit.Memory{{Name: "the views", Seq: before.Decisions, Hash: before.Last}}
	must(t, b.Restore(ctx, other, cfg)) // only the messages were lost
	if after := verify(t, storefile.Ledger(storeOf(other))); !after.Sound() || *after.Root != *before.Root {
		t.Errorf("%+v", after)
	}
}

// TestWhatACrashLeaves is in nobody's way.
func TestWhatACrashLeaves(t *testing.T) {
	from := dataDir(t, small())
	dir := filepath.Join(t.TempDir(), "backup")
	must(t, os.MkdirAll(filepath.Join(dir+".unfinished", events.LedgerStream), 0o700))
	if _, err := backup.Open(dir + ".unfinished"); !errors.Is(err, backup.ErrNoBackup) {
		t.Error(err)
	}
	_, err := backup.Write(audittest.WithPatience(t), dir, config(t, from))
	must(t, err)
	b, err := backup.Open(dir)
	must(t, err)
	to := filepath.Join(t.TempDir(), "restored")
	must(t, os.MkdirAll(filepath.Join(to+".unfinished", "nats"), 0o700))
	must(t, b.Restore(audittest.WithPatience(t), to, quiet()))
	must(t, os.RemoveAll(storeOf(to)))
	must(t, os.MkdirAll(filepath.Join(storeOf(to)+".restoring", "jetstream"), 0o700))
	must(t, b.Restore(audittest.WithPatience(t), to, quiet()))
	for _, dir := range []string{filepath.Dir(dir), filepath.Dir(to), to} {
		if left, _ := filepath.Glob(filepath.Join(dir, "*.unfinished")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	if after := verify(t, storefile.Ledger(storeOf(to))); !after.Sound() || after.Decisions != b.Decisions {
		t.Errorf("%+v", after)
	}
}

// TestOfADamagedLedger: what is not sound is no backup.
func TestOfADamagedLedger(t *testing.T) {
	from := dataDir(t, small())
	cfg := config(t, from)
	block := filepath.Join(storefile.Dir(storeOf(from), events.ArrivalsStream), "msgs", "1.blk")
	content, err := os.ReadFile(block)
	must(t, err)
	content[len(content)/2] ^= 4
	must(t, os.WriteFile(block, content, 0o600))
	dir := filepath.Join(t.TempDir(), "backup")
	if _, err := backup.Write(audittest.WithPatience(t), dir, cfg); !errors.Is(err, backup.ErrDamaged) || !strings.Contains(err.Error(), block) {
		t.Error(err)
	}
	if left := names(t, filepath.Dir(dir)); slices.ContainsFunc(left, func(name string) bool { return strings.HasPrefix(name, "backup") }) {
		t.Errorf("left behind: %v", left)
	}
}
