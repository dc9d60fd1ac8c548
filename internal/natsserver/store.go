package natsserver

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats-server/v2/server"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/internal/disk"
)

// minFreeBytes must be free before the server starts: a batch of the largest
// records, the index files of both streams, and the views' own writes. With
// less, the first append would fail instead of the start.
const minFreeBytes = 256 << 20

// reserveBytes is what arrivals leave free. It is for the answers to those that
// were taken, for the views, and for what comes between two looks at the disk.
// Far enough below minFreeBytes that intake does not flap.
const reserveBytes = 128 << 20

// prepareStore makes the store directory and checks that there is room in it.
func prepareStore(cfg Config) error {
	if err := os.MkdirAll(cfg.StoreDir, 0o700); err != nil {
		return errors.WithHint(
			errors.Wrap(errors.Mark(err, ErrStart), "make the message store's directory"),
			"The data directory must be a directory that this user may write to.")
	}
	free, err := cfg.free()
	if errors.Is(err, disk.ErrUnknown) {
		return nil
	}
	if err != nil {
		return errors.Mark(err, ErrStart)
	}
	return checkFree(cfg.StoreDir, free)
}

// free is the room in the store, in bytes. Error: disk.ErrUnknown where the
// system does not tell.
func (c Config) free() (int64, error) {
	if c.Free != nil {
		return c.Free(c.StoreDir)
	}
	return disk.Free(c.StoreDir)
}

func checkFree(dir string, free int64) error {
	if free >= minFreeBytes {
		return nil
	}
	return errors.WithHintf(
		errors.Wrapf(ErrDiskFull, "%d MiB free at %s, %d MiB needed to start", free>>20, dir, int64(minFreeBytes)>>20),
		"Free space on that file system or move the whole data directory to a larger one. Nothing was changed.")
}

// lostStreams names the streams whose messages are on disk but which the
// server did not take up. The server itself only logs that and goes on: a new,
// empty stream of the same name would follow.
func lostStreams(srv *server.Server, storeDir string) ([]string, error) {
	found, err := storedStreams(filepath.Join(storeDir, server.JetStreamStoreDir, natsdeploy.LedgerAccount, "streams"))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	detail, err := srv.JszAccount(&server.JSzOptions{Account: natsdeploy.LedgerAccount, Streams: true})
	if err != nil {
		return nil, errors.Wrap(errors.Mark(err, ErrStart), "ask the server for its streams")
	}
	running := map[string]bool{}
	for _, stream := range detail.Streams {
		running[stream.Name] = true
	}
	var lost []string
	for _, name := range found {
		if !running[name] {
			lost = append(lost, name)
		}
	}
	return lost, nil
}

// storedStreams lists the directories under dir that hold stored messages. A
// stream whose making was cut off by a crash has none yet, and is made again.
func storedStreams(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, errors.Wrap(errors.Mark(err, ErrStart), "read the message store")
	}
	var streams []string
	for _, entry := range entries {
		// A leading dot marks a deletion that the server is finishing.
		if !entry.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		holds, err := holdsMessages(filepath.Join(dir, entry.Name(), "msgs"))
		if err != nil {
			return nil, err
		}
		if holds {
			streams = append(streams, entry.Name())
		}
	}
	return streams, nil
}

// holdsMessages tells whether a message block in dir has a byte in it.
func holdsMessages(dir string) (bool, error) {
	blocks, err := filepath.Glob(filepath.Join(dir, "*.blk"))
	if err != nil {
		return false, errors.Wrap(errors.Mark(err, ErrStart), "read the message store")
	}
	for _, block := range blocks {
		info, err := os.Stat(block)
		if err != nil {
			return false, errors.Wrap(errors.Mark(err, ErrStart), "read the message store")
		}
		if info.Size() > 0 {
			return true, nil
		}
	}
	return false, nil
}
