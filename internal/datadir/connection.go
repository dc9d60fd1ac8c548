package datadir

import (
	"os"
	"path/filepath"

	"github.com/cockroachdb/errors"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
)

const connectionName = "connection.json"

// Connection says where the daemon that holds a directory is reached. It holds
// no secrets, only the names of the files that do.
type Connection struct {
	NATSURL  string `json:"nats_url"` // nats://127.0.0.1:4222
	HTTPURL  string `json:"http_url"` // http://127.0.0.1:8080
	LedgerID string `json:"ledger_id"`
	PID      int    `json:"pid"`
	// Credentials are seed files by role, relative to the directory. Empty when
	// the daemon uses an external server, whose credentials it does not make.
	Credentials map[natsdeploy.Role]string `json:"credentials"`
}

// Announce tells clients on this machine where the daemon is. Call it when
// everything behind the addresses is ready. credentials is false with an
// external server.
func (d *Dir) Announce(natsURL, httpURL string, credentials bool) error {
	at := Connection{
		NATSURL: natsURL, HTTPURL: httpURL,
		LedgerID: d.LedgerID(), PID: os.Getpid(),
		Credentials: map[natsdeploy.Role]string{},
	}
	if credentials {
		for _, role := range natsdeploy.Outside() {
			at.Credentials[role] = credentialName(role)
		}
	}
	return writeJSON(filepath.Join(d.path, connectionName), at)
}

// ReadConnection finds the daemon that serves dir. Errors: ErrNoLedger,
// ErrNotRunning (also when the file was left behind by a dead daemon),
// ErrDamaged, ErrUnusable.
func ReadConnection(dir string) (Connection, error) {
	if _, err := os.Stat(filepath.Join(dir, ledgerName)); errors.Is(err, os.ErrNotExist) {
		return Connection{}, noLedger(dir)
	}
	held, err := isHeld(dir)
	if err != nil {
		return Connection{}, err
	}
	if !held {
		return Connection{}, errors.WithHintf(errors.Wrapf(ErrNotRunning, "%s", dir),
			"Start one with `ledgerd serve --data-dir %s`.", dir)
	}
	var at Connection
	err = readJSON(filepath.Join(dir, connectionName), &at)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Connection{}, errors.WithHint(errors.Wrapf(ErrNotRunning, "%s is held by %s, which serves nobody (yet)", dir, describeHolder(dir)),
			"It is starting, stopping, or a command that works on the directory itself. Try again in a moment.")
	case errors.Is(err, ErrDamaged):
		return Connection{}, errors.WithHint(err, "Restart the daemon: it writes the file anew.")
	case err != nil:
		return Connection{}, unusable(err, "find the daemon")
	}
	return at, nil
}
