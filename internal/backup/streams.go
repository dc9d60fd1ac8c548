package backup

import (
	"context"
	stdjson "encoding/json" // the server's own types are read as it does
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/jsm.go"
	"github.com/nats-io/jsm.go/api"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/audit"
)

const (
	// chunkBytes go to the server at a time; it answers when they are stored.
	chunkBytes = 64 << 10
	// chunkPatience is how long that may take: packed, a chunk holds hundreds
	// of messages, and each may be synced by itself.
	chunkPatience = time.Minute
)

// restoreStreams makes both streams on a server that has neither. replicas is
// how many copies each gets, 0 as many as it had.
func (b *Backup) restoreStreams(ctx context.Context, conn *nats.Conn, replicas int, progress func(bytes int64)) error {
	manager, err := jsm.New(conn, jsm.WithTimeout(chunkPatience))
	if err != nil {
		return errors.Wrap(err, "ask the server")
	}
	for _, name := range streams {
		if err := b.restoreStream(ctx, manager, name, replicas, progress); err != nil {
			return errors.WithHint(errors.Wrapf(err, "restore %s", name),
				"the server must be version 2.15 or later, have room for what the streams reserve, and the credentials must be the provisioner's")
		}
	}
	return nil
}

func (b *Backup) restoreStream(ctx context.Context, manager *jsm.Manager, name string, replicas int, progress func(int64)) error {
	config, err := b.streamConfig(name)
	if err != nil {
		return err
	}
	if replicas > 0 {
		config.Replicas = replicas
	}
	data, err := os.Open(filepath.Join(b.dir, name, archiveName))
	if err != nil {
		return errors.Wrap(err, "open the archive")
	}
	meta, err := os.Open(filepath.Join(b.dir, name, configName))
	if err != nil {
		return errors.CombineErrors(errors.Wrap(err, "open its description"), data.Close())
	}
	// The reader closes both files.
	state, err := manager.RestoreSnapshotFromBuffer(ctx, name, counted{data, progress}, meta, jsm.SnapshotChunkSize(chunkBytes), jsm.RestoreConfiguration(*config))
	if err != nil {
		return err
	}
	want := map[string]uint64{events.ArrivalsStream: b.Arrivals, events.LedgerStream: b.Decisions}[name]
	if state.Msgs != want || state.LastSeq != want {
		return errors.Wrapf(ErrDamaged, "the server holds %d messages up to sequence %d, and the backup %d", state.Msgs, state.LastSeq, want)
	}
	return nil
}

// streamConfig reads how a stream was made.
func (b *Backup) streamConfig(name string) (*api.StreamConfig, error) {
	raw, err := os.ReadFile(filepath.Join(b.dir, name, configName))
	if err != nil {
		return nil, errors.Wrap(err, "read how the stream was made")
	}
	var file struct {
		Config api.StreamConfig `json:"config"`
	}
	if err := stdjson.Unmarshal(raw, &file); err != nil {
		return nil, errors.Wrap(err, "read how the stream was made")
	}
	return &file.Config, nil
}

// counted tells how much was read.
type counted struct {
	io.ReadCloser
	progress func(int64)
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if c.progress != nil {
		c.progress(int64(n))
	}
	return n, err
}

// RestoreTo makes the streams on a server of its own, by a provisioner's
// connection, and reads them back. No daemon may run on it. What it made is
// removed again when something fails. Errors: ErrTaken, ErrMovedOn, ErrDamaged.
func (b *Backup) RestoreTo(ctx context.Context, conn *nats.Conn, cfg RestoreConfig) error {
	js, err := natsjs.New(conn)
	if err != nil {
		return errors.Wrap(err, "use JetStream")
	}
	if err := b.checkServer(ctx, js); err != nil {
		return err
	}
	if err := b.acceptable(ctx, &cfg); err != nil {
		return err
	}
	err = b.restoreStreams(ctx, conn, cfg.Replicas, cfg.Restoring)
	if err == nil {
		err = b.checkRestored(ctx, audit.Live(jetstream.OpenDirect(js, events.ArrivalsStream), jetstream.OpenDirect(js, events.LedgerStream)), &cfg)
	}
	if err == nil {
		return nil
	}
	for _, name := range streams { // neither was there before
		if failed := js.DeleteStream(context.WithoutCancel(ctx), name); failed != nil && !errors.Is(failed, natsjs.ErrStreamNotFound) {
			err = errors.WithHintf(err, "the server keeps a part of %s: remove that stream before the next try", name)
		}
	}
	return err
}

// checkServer refuses a server that has one of the streams.
func (b *Backup) checkServer(ctx context.Context, js natsjs.JetStream) error {
	for _, name := range []string{events.LedgerStream, events.ArrivalsStream} {
		found, err := js.Stream(ctx, name)
		switch {
		case errors.Is(err, natsjs.ErrStreamNotFound):
			continue
		case err != nil:
			return errors.WithHint(errors.Wrapf(err, "look for %s", name), "the server must run JetStream, and the credentials must be the provisioner's")
		}
		last := found.CachedInfo().State.LastSeq
		if name == events.LedgerStream && last > b.Decisions {
			return b.movedOn(last, "%s there ends at sequence %d", name, last)
		}
		return errors.WithHint(errors.Wrapf(ErrTaken, "the server has the stream %s, up to sequence %d", name, last),
			"streams are never replaced: restore to a server without them, or move those away as whoever runs the server")
	}
	return nil
}

// movedOn refuses a target that has more than the backup.
func (b *Backup) movedOn(last uint64, format string, args ...any) error {
	return errors.WithHintf(errors.Wrapf(ErrMovedOn, "%s, and the backup ends at %d", fmt.Sprintf(format, args...), b.Decisions),
		"the decisions from index %d to %d would be lost, and heads over them were perhaps signed and shown: take the latest backup, or restore into another place to look at it", b.Decisions, last-1)
}
