package natsclient

import (
	"crypto/x509"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"
)

// Errors. Each carries a hint that says what to do.
var (
	// ErrConfig: the flags contradict each other.
	ErrConfig = errors.New("natsclient: unusable connection flags")
	// ErrCredentials: the credentials cannot be read, or there are none for
	// the role.
	ErrCredentials = errors.New("natsclient: no usable credentials")
	// ErrUnreachable: no server answered as one.
	ErrUnreachable = errors.New("natsclient: the NATS server cannot be reached")
	// ErrNotAuthorised: the server does not know the credentials.
	ErrNotAuthorised = errors.New("natsclient: the NATS server does not admit these credentials")
	// ErrDenied: the server knows the credentials, and they may not do that.
	ErrDenied = errors.New("natsclient: the credentials do not permit that")
)

// explain says what a failed attempt means.
func explain(err error, at place) error {
	mark, hint := ErrUnreachable, at.unreachableHint
	var unknownCA x509.UnknownAuthorityError
	var wrongName x509.HostnameError
	switch {
	case errors.IsAny(err, nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired):
		mark, hint = ErrNotAuthorised, at.unknownHint
	case errors.Is(err, nats.ErrNkeysNotSupported):
		mark, hint = ErrNotAuthorised, "That server asks nobody for a key, so it is not set up for a ledger: load deploy/nats/accounts.conf in it."
	case errors.IsAny(err, nats.ErrMaxConnectionsExceeded, nats.ErrMaxAccountConnectionsExceeded):
		hint = "The server is there and takes no more connections: close some, or raise its or the account's max_connections."
	case errors.As(err, &unknownCA):
		hint = "Nobody known here vouches for the server's certificate: give --nats-ca the file of its CA."
	case errors.As(err, &wrongName):
		hint = "The server's certificate is for another name: use a name in --nats-url that the certificate has."
	case errors.IsAny(err, nats.ErrSecureConnRequired, nats.ErrSecureConnWanted):
		hint = "Only one side wants TLS: use tls:// in --nats-url exactly for a server that speaks it."
	}
	return errors.WithHint(errors.Wrapf(errors.Mark(err, mark), "connect to %s", at.redacted()), hint)
}
