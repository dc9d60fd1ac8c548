// Package natsclient connects to the NATS server of a ledger as one of its
// roles.
//
// Model: a command says where the ledger is in one of two ways ([Flags]): a
// data directory, whose running daemon says where it listens and which seed is
// the role's, or the address of a server with a file of credentials. [Connect]
// gives a connection with the role's inbox prefix, which no request works
// without.
//
// Authority: none. What a role may do is deploy/nats/accounts.conf, and the
// server alone holds it up.
//
// Failure: each of not running, unreachable, not authorised and bad
// credentials is an error of its own with a hint. What the server does not
// permit is never answered: the server says so beside the answers, and
// [Denials] keeps it. A lost connection is made again for a bounded time.
package natsclient

import (
	"context"
	"log/slog"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
)

const (
	// connectTimeout bounds one attempt at one server, TLS included.
	connectTimeout = 5 * time.Second
	// reconnectWait is the pause before the same server is tried again.
	reconnectWait = 500 * time.Millisecond
	// maxReconnects of one server: about the two minutes for which a stream
	// remembers message ids. After that a publication is better begun anew.
	maxReconnects = 240
	// reconnectForever is the daemon's: it stays, is not ready meanwhile, and
	// whoever watches it decides.
	reconnectForever = -1
)

// Config says where the ledger is and who connects.
type Config struct {
	DataDir string // of a daemon on this machine; not looked at with a URL

	URL   string // nats://host:port or tls://…, several separated by commas; empty: by DataDir
	Creds string // file: a user's JWT with its key (.creds), or an nkey seed; only with a URL
	CA    string // PEM file: whose certificates the server may show; empty: the system's

	Role   natsdeploy.Role
	Name   string       // names the connection in the server's lists
	Logger *slog.Logger // nil: nothing is logged
}

// Connect connects as the role. The caller closes the connection. ctx bounds
// the attempt alone. Errors: [ErrConfig], [ErrCredentials], [ErrUnreachable],
// [ErrNotAuthorised], those of datadir.ReadConnection, the context's own.
func Connect(ctx context.Context, cfg Config) (*nats.Conn, *Denials, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, errors.Wrap(err, "connect to the ledger")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	place, err := cfg.resolve()
	if err != nil {
		return nil, nil, err
	}
	denials := newDenials(cfg.Role, cfg.Logger)
	dialer := newDialer(ctx)
	defer dialer.release()
	conn, err := nats.Connect(place.url, append(cfg.options(denials, dialer), place.options...)...)
	if ctx.Err() != nil {
		if conn != nil {
			conn.Close()
		}
		return nil, nil, errors.Wrap(ctx.Err(), "connect to the ledger")
	}
	if err != nil {
		return nil, nil, explain(err, place)
	}
	return conn, denials, nil
}

// options are the same wherever the ledger is.
func (c Config) options(denials *Denials, dialer *dialer) []nats.Option {
	reconnects := maxReconnects
	if c.Role == natsdeploy.Daemon {
		reconnects = reconnectForever
	}
	options := []nats.Option{
		nats.Name(c.Name),
		nats.CustomInboxPrefix(c.Role.InboxPrefix()),
		nats.Timeout(connectTimeout),
		nats.SetCustomDialer(dialer),
		nats.MaxReconnects(reconnects),
		nats.ReconnectWait(reconnectWait),
		nats.ErrorHandler(denials.hear),
	}
	return append(options, logChanges(c.Logger)...)
}

// logChanges tells what happens to the connection on its own.
func logChanges(log *slog.Logger) []nats.Option {
	return []nats.Option{
		nats.DisconnectErrHandler(func(conn *nats.Conn, err error) {
			if err != nil { // nil when the caller closed it
				log.Warn("connection to NATS lost, connecting again", "error", err)
			}
		}),
		nats.ReconnectHandler(func(conn *nats.Conn) {
			log.Info("connected to NATS again", "url", conn.ConnectedUrlRedacted())
		}),
		nats.ClosedHandler(func(conn *nats.Conn) {
			if err := conn.LastError(); err != nil {
				log.Debug("connection to NATS is closed", "last_error", err)
			}
		}),
	}
}
