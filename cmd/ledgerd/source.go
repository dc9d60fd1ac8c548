package main

import (
	"context"
	"log/slog"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/datadir"
	"github.com/ledgerd/ledgerd/internal/natsclient"
)

// source is a ledger's two streams, opened for reading by a command: through
// the daemon that runs, or from the data directory when none does.
type source struct {
	arrivals, ledger events.Log
	js               natsjs.JetStream
	dir              *datadir.Dir // held, when no daemon runs
	close            func() error
}

// openSource finds the streams. A running daemon is asked as a reader; without
// one the command holds the data directory for as long as it reads.
func openSource(ctx context.Context, flags natsclient.Flags, log *slog.Logger) (*source, error) {
	if flags.NATSURL == "" {
		_, err := datadir.ReadConnection(flags.DataDir)
		if errors.Is(err, datadir.ErrNotRunning) {
			return openStopped(ctx, flags.DataDir, log)
		}
		if err != nil {
			return nil, err
		}
	}
	conn, _, err := natsclient.Connect(ctx, flags.Config(natsdeploy.Reader, "ledgerd command", log))
	if err != nil {
		return nil, err
	}
	js, err := natsjs.NewWithAPIPrefix(conn, natsdeploy.ReaderAPI)
	if err != nil {
		conn.Close()
		return nil, errors.Wrap(err, "use JetStream")
	}
	return &source{
		arrivals: jetstream.OpenDirect(js, events.ArrivalsStream),
		ledger:   jetstream.OpenDirect(js, events.LedgerStream),
		js:       js,
		close:    func() error { conn.Close(); return nil },
	}, nil
}

// openStopped runs the embedded server on a directory that no daemon holds,
// without a listener: nobody else can reach it.
func openStopped(ctx context.Context, dataDir string, log *slog.Logger) (*source, error) {
	dir, err := datadir.OpenExisting(dataDir)
	if err != nil {
		return nil, err
	}
	server, err := startServer(ctx, dir, "", false, log)
	if err != nil {
		return nil, errors.CombineErrors(err, dir.Close())
	}
	conn, err := server.InProcess(natsdeploy.Daemon, nats.Name("ledgerd command"))
	if err != nil {
		server.Stop()
		return nil, errors.CombineErrors(err, dir.Close())
	}
	closing := func() error { conn.Close(); server.Stop(); return dir.Close() }
	js, err := natsjs.New(conn)
	if err != nil {
		return nil, errors.CombineErrors(errors.Wrap(err, "use JetStream"), closing())
	}
	return &source{
		arrivals: jetstream.Open(js, events.ArrivalsStream),
		ledger:   jetstream.Open(js, events.LedgerStream),
		js:       js,
		dir:      dir,
		close:    closing,
	}, nil
}
