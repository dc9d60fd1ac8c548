package natsserver

import (
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats-server/v2/server"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
)

// Limits of the embedded server.
const (
	// MaxBodyBytes is the largest body that is carried whole. NATS advises
	// against more.
	MaxBodyBytes = 8 << 20
	// MaxHeaderBytes is room for headers on top of the largest body: JetStream
	// refuses more than 64 KiB of them.
	MaxHeaderBytes = 64 << 10

	maxPayload = MaxBodyBytes + MaxHeaderBytes

	// maxConnections is above the accounts' own limits together, so that no
	// account's flood keeps another account or the daemon out.
	maxConnections = 4096
	// maxSubscriptions of one connection: an inbox and the readers of a page.
	maxSubscriptions = 1024
	// maxPendingBytes is what a slow client may leave unread before it is cut
	// off; a batched read of full size must fit.
	maxPendingBytes = 64 << 20
	// writeDeadline is how long a client may block the server's write.
	writeDeadline = 10 * time.Second
	// maxMemoryStore bounds streams in memory. There are none; JetStream takes
	// three quarters of the machine's memory when nothing is said.
	maxMemoryStore = 64 << 20
)

// options are the server's, accounts included.
func (c Config) options(keys natsdeploy.Keys) (*server.Options, error) {
	opts := &server.Options{}
	accounts := natsdeploy.Accounts(keys, natsdeploy.InProcess)
	if err := opts.ProcessConfigString(accounts); err != nil {
		return nil, errors.Wrap(errors.Mark(err, ErrStart), "load accounts and permissions")
	}

	opts.ServerName = "ledgerd-" + c.LedgerID
	opts.NoSigs = true // the daemon handles its signals
	opts.DisableJetStreamBanner = true

	opts.JetStream = true
	opts.StoreDir = c.StoreDir
	opts.SyncAlways = !c.RelaxedSync
	opts.JetStreamMaxStore = c.MaxStoreBytes
	opts.JetStreamMaxMemory = maxMemoryStore

	opts.MaxPayload = maxPayload
	opts.MaxConn = maxConnections
	opts.MaxSubs = maxSubscriptions
	opts.MaxPending = maxPendingBytes
	opts.WriteDeadline = writeDeadline

	return opts, c.listenOptions(opts)
}

// listenOptions fills in the listener, or its absence.
func (c Config) listenOptions(opts *server.Options) error {
	if c.Listen == "" {
		opts.DontListen = true
		return nil
	}
	address, err := parseListen(c.Listen)
	if err != nil {
		return err
	}
	opts.Host, opts.Port = address.host, address.port
	if address.port == 0 {
		opts.Port = server.RANDOM_PORT
	}
	return nil
}
