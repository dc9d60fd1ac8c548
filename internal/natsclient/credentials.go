package natsclient

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"os"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// jwtMark is in every file of credentials that holds a user's JWT.
var jwtMark = []byte("BEGIN NATS USER JWT")

// readCredentials takes a .creds file or an nkey seed, whichever it is. A seed
// is read now; a .creds file is read again for every connection, since its JWT
// may be renewed.
func readCredentials(file string) (nats.Option, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, errors.WithHint(errors.Wrap(errors.Mark(err, ErrCredentials), "read the credentials"),
			"Check the path and that this user may read the file.")
	}
	defer wipe(content)
	pair, err := nkeys.ParseDecoratedUserNKey(content)
	if err != nil {
		// The reason is not repeated: it could hold a piece of the seed.
		return nil, errors.WithHint(errors.Wrapf(ErrCredentials, "%s holds no user's nkey seed", file),
			"It must be a .creds file, or a file with one user seed (SU…).")
	}
	if bytes.Contains(content, jwtMark) {
		pair.Wipe()
		return nats.UserCredentials(file), nil
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, errors.Wrapf(errors.Mark(err, ErrCredentials), "read %s", file)
	}
	return nats.Nkey(public, pair.Sign), nil
}

func wipe(content []byte) {
	for i := range content {
		content[i] = 'x'
	}
}

// readCA makes the server's certificate be checked against a file's.
func readCA(file string) (nats.Option, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, errors.WithHint(errors.Wrap(errors.Mark(err, ErrCredentials), "read the CA"),
			"Check the path of --nats-ca and that this user may read the file.")
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, errors.WithHint(errors.Wrapf(ErrCredentials, "%s holds no certificate", file),
			"--nats-ca takes certificates in PEM.")
	}
	return nats.Secure(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}), nil
}
