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
	"github.com/ledgerd/ledgerd/internal/natsserver"
)

// natsBackend is the NATS server that the daemon works on: its own or an
// external one. Everything above it is the same code.
type natsBackend struct {
	conn     *nats.Conn // as the daemon
	js       natsjs.JetStream
	url      string
	embedded bool
	health   func() error // nil while the server works
	close    func()
}

func openNATS(ctx context.Context, c *serveCommand, dir *datadir.Dir, log *slog.Logger) (*natsBackend, error) {
	if c.NATSURL == "" {
		return openEmbedded(ctx, c, dir, log)
	}
	return openExternal(ctx, c, dir, log)
}

func openEmbedded(ctx context.Context, c *serveCommand, dir *datadir.Dir, log *slog.Logger) (*natsBackend, error) {
	server, err := startServer(ctx, dir, c.NATSListen, c.RelaxedSync, log)
	if err != nil {
		return nil, err
	}
	b := &natsBackend{url: server.ClientURL(), embedded: true, health: server.Health, close: server.Stop}
	if err := b.provisionEmbedded(ctx, server, dir, log); err != nil {
		server.Stop()
		return nil, err
	}
	if b.conn, err = server.InProcess(natsdeploy.Daemon, nats.Name("ledgerd")); err != nil {
		server.Stop()
		return nil, err
	}
	b.close = func() { b.conn.Close(); server.Stop() }
	b.js, err = natsjs.New(b.conn)
	return b, errors.Wrap(err, "use JetStream")
}

// startServer runs the embedded server on a data directory. An empty listen
// address lets in nobody from outside.
func startServer(ctx context.Context, dir *datadir.Dir, listen string, relaxed bool, log *slog.Logger) (*natsserver.Server, error) {
	keys := map[natsdeploy.Role]string{}
	for _, role := range natsdeploy.Outside() {
		key, err := dir.PublicKey(role)
		if err != nil {
			return nil, err
		}
		keys[role] = key
	}
	return natsserver.Start(ctx, natsserver.Config{
		StoreDir: dir.StoreDir(), LedgerID: dir.LedgerID(), Listen: listen, MaxStoreBytes: dir.StoreLimit(),
		Operator: keys[natsdeploy.Operator], Coordinator: keys[natsdeploy.Coordinator], Reader: keys[natsdeploy.Reader],
		RelaxedSync: relaxed, Logger: log,
	})
}

// provisionEmbedded makes the streams, or gives them the room that the ledger's
// limit has by now, with a right that the daemon gives up before it serves.
func (b *natsBackend) provisionEmbedded(ctx context.Context, server *natsserver.Server, dir *datadir.Dir, log *slog.Logger) error {
	conn, err := server.InProcess(natsdeploy.Provisioner, nats.Name("ledgerd provisioning"))
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := natsjs.New(conn)
	if err != nil {
		return errors.Wrap(err, "use JetStream")
	}
	limits := jetstream.Limits{LedgerID: dir.LedgerID(), Replicas: 1, StoreBytes: dir.StoreLimit()}
	if err := jetstream.Provision(ctx, js, limits); err != nil {
		return err
	}
	grown, err := jetstream.Grow(ctx, js, limits)
	for _, g := range grown {
		log.Info("a stream may keep more", "stream", g.Stream, "bytes", g.ToBytes, "bytes_before", g.FromBytes, "messages", g.ToMessages, "messages_before", g.FromMessages)
	}
	if errors.Is(err, jetstream.ErrShrunk) {
		err = errors.WithHintf(err, "store_limit_bytes in %s/ledger.json was lowered: it can only be raised, and nothing was changed", dir.Path())
	}
	return err
}

func openExternal(ctx context.Context, c *serveCommand, dir *datadir.Dir, log *slog.Logger) (*natsBackend, error) {
	conn, _, err := natsclient.Connect(ctx, c.Config(natsdeploy.Daemon, "ledgerd", log))
	if err != nil {
		return nil, err
	}
	b := &natsBackend{conn: conn, url: c.NATSURL, close: conn.Close, health: func() error {
		if !conn.IsConnected() {
			return errors.Newf("the connection to %s is %s", c.NATSURL, conn.Status())
		}
		return nil
	}}
	if b.js, err = natsjs.New(conn); err != nil {
		b.close()
		return nil, errors.Wrap(err, "use JetStream")
	}
	if err := b.provisionExternal(ctx, c, dir); err != nil {
		b.close()
		return nil, err
	}
	if err := b.inspect(ctx, c.Strict, log); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// provisionExternal makes the streams that are missing. A ledger that is there
// already keeps its name: a second daemon works on the same one.
func (b *natsBackend) provisionExternal(ctx context.Context, c *serveCommand, dir *datadir.Dir) error {
	id, err := ledgerID(ctx, b.js)
	if err != nil {
		return err
	}
	if id == "" {
		id = dir.LedgerID()
	}
	replicas := c.Replicas
	if replicas == 0 {
		replicas = 1
		if b.conn.ConnectedClusterName() != "" {
			replicas = 3
		}
	}
	return jetstream.Provision(ctx, b.js, jetstream.Limits{LedgerID: id, Replicas: replicas, StoreBytes: c.StoreBytes})
}

// inspect warns of everything that could lose a message, or refuses to start.
func (b *natsBackend) inspect(ctx context.Context, strict bool, log *slog.Logger) error {
	weaknesses, err := jetstream.Inspect(ctx, b.js, jetstream.AskSync(ctx, b.conn))
	if err != nil {
		return err
	}
	var refused error
	for _, w := range weaknesses {
		log.Warn("THIS SERVER CAN LOSE WHAT THE LEDGER HOLDS", "stream", w.Stream, "weakness", w.Code, "detail", w.Detail)
		if strict {
			refused = errors.CombineErrors(refused, errors.Newf("%s: %s", w.Stream, w.Detail))
		}
	}
	if refused == nil {
		return nil
	}
	return errors.WithHint(errors.Wrapf(refused, "--strict: %s has %d weaknesses", b.url, len(weaknesses)),
		"each is logged above; deploy/nats/README.md shows a server that has none")
}

// logs are the two streams, for the writer and the runner.
func (b *natsBackend) logs() (arrivals, ledger events.Log) {
	return jetstream.Open(b.js, events.ArrivalsStream), jetstream.Open(b.js, events.LedgerStream)
}

// ledgerID is the name of the ledger that a server keeps, "" when it keeps none.
func ledgerID(ctx context.Context, js natsjs.JetStream) (string, error) {
	stream, err := js.Stream(ctx, events.LedgerStream)
	switch {
	case errors.Is(err, natsjs.ErrStreamNotFound):
		return "", nil
	case err != nil:
		return "", errors.WithHint(errors.Wrap(err, "look for the ledger's stream"), "the server must run JetStream, and the credentials must be the daemon's")
	}
	return stream.CachedInfo().Config.Metadata[jetstream.MetadataLedgerID], nil
}
