package natsserver

import (
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/cockroachdb/errors"
)

// Config says how to run the embedded server. The caller owns every path and
// key in it.
type Config struct {
	// StoreDir is JetStream's directory; it is made when missing. Nobody else
	// may use it while the server runs: the caller holds the data directory's
	// lock.
	StoreDir string

	// LedgerID names the server, so that its logs and answers tell which
	// ledger they are about. It never changes for one StoreDir.
	LedgerID string

	// Listen is the loopback address for clients, host:port. Port 0 takes a
	// free one. Empty: no listener at all, only connections in process.
	Listen string

	// Operator, Coordinator and Reader are the public user nkeys (U…) that the
	// listener admits.
	Operator, Coordinator, Reader string

	// MaxStoreBytes bounds what all streams together may keep on disk. It must
	// not shrink from one start to the next below what the streams reserve.
	MaxStoreBytes int64

	// RelaxedSync lets acknowledged messages wait up to two minutes for their
	// fsync. A power failure then loses them, even a whole new stream. For
	// measurements only.
	RelaxedSync bool

	// Logger takes the server's own lines. Its notices are debug level.
	Logger *slog.Logger

	// For tests; zero is the default.
	Free          func(dir string) (int64, error) // bytes that may still be written there: disk.Free
	WatchInterval time.Duration                   // how often the room is looked at
}

// address is where a listener goes.
type address struct {
	host string
	port int
}

// parseListen checks that listen is a loopback address.
func parseListen(listen string) (address, error) {
	host, portText, err := net.SplitHostPort(listen)
	if err != nil {
		return address{}, badListen(listen, "not host:port")
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return address{}, badListen(listen, "port is not 0 to 65535")
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return address{}, badListen(listen, "host is not this machine's loopback")
	}
	return address{host: host, port: int(port)}, nil
}

func badListen(listen, why string) error {
	return errors.WithHint(
		errors.Wrapf(ErrListen, "%q: %s", listen, why),
		"The embedded NATS server speaks without TLS, so it listens on loopback only, for instance 127.0.0.1:4222. "+
			"For other machines run a NATS server of its own (deploy/nats/README.md) and use --nats-url.")
}
