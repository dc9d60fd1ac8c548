package natsserver

import "github.com/cockroachdb/errors"

// Errors of Start. Each carries a hint for the person who starts the daemon.
var (
	// ErrListen: the listener address is malformed or not on loopback.
	ErrListen = errors.New("natsserver: unusable listen address")
	// ErrAddressInUse: another process has the port.
	ErrAddressInUse = errors.New("natsserver: listen address is in use")
	// ErrDiskFull: too little room is left to start at all.
	ErrDiskFull = errors.New("natsserver: not enough disk space")
	// ErrStoreDamaged: a stream is on disk and the server did not take it up.
	ErrStoreDamaged = errors.New("natsserver: the message store is damaged")
	// ErrStart: the server refused to start for another reason, which the
	// message gives.
	ErrStart = errors.New("natsserver: the server did not start")
)

// ErrStopped: the server, or JetStream in it, no longer runs. Given by
// Server.Health.
var ErrStopped = errors.New("natsserver: the server no longer runs")

// ErrRole: no connection in process exists for that role.
var ErrRole = errors.New("natsserver: the role has no key in this process")
