package natsserver

import "github.com/cockroachdb/errors"

// Errors of Start. Each carries a hint for the person who starts the daemon.
var (
	// ErrListen: the listener address is malformed or not on loopback.
	ErrListen = errors.New("natsserver: unusable listen address")
	// ErrAddressInUse: another process has the port.
	ErrAddressInUse = errors.New("natsserver: listen address is in use")
	// ErrDiskFull: too little room is left, to start at all or, given by
	// Server.Health, to take more arrivals.
	ErrDiskFull = errors.New("natsserver: not enough disk space")
	// ErrStoreDamaged: a stream is on disk and the server did not take it up.
	ErrStoreDamaged = errors.New("natsserver: the message store is damaged")
	// ErrStart: the server refused to start for another reason, which the
	// message gives.
	ErrStart = errors.New("natsserver: the server did not start")
)

// Errors of Server.Health.
var (
	// ErrStopped: the server no longer runs.
	ErrStopped = errors.New("natsserver: the server no longer runs")
	// ErrNoWrites: a stream could not be written, and takes nothing until the
	// server has been run anew.
	ErrNoWrites = errors.New("natsserver: the streams take no more writes")
)

// ErrRole: no connection in process exists for that role.
var ErrRole = errors.New("natsserver: the role has no key in this process")
